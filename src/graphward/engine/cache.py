"""Results kept between runs, keyed by everything that they depend on."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cached_property
from hashlib import blake2b
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from platformdirs import user_cache_path

from .. import __version__
from ..config import Config
from ..errors import GraphwardError
from ..recordings import Recordings
from ..rules.finding import Consequence, Finding, Span
from ..rules.registry import GROUP
from ..source.edits import Edit
from ..source.fixes import Applicability, Fix, ImportRequest
from ..source.text import SourceText
from ..source.writing import write_atomic
from .check import CheckResult, FileFindings
from .shards import Shard
from .workspace import Problem


class Cache:
    """One file for each shard, in the user's cache folder. A file that cannot be read, or was written by another
    version, is as good as none."""

    def __init__(self, config: Config):
        self._folder = user_cache_path("graphward", appauthor=False) / "check"
        self._config = config
        self._recordings = Recordings()

    def load(self, shard: Shard) -> CheckResult | None:
        """The stored result, when nothing that it depends on has changed."""
        try:
            data = json.loads((self._folder / self._key(shard)).read_text(encoding="utf-8"))
            if any(_digest(Path(p)) != d for p, d in data["reads"]):
                return None
            return _result(data, {str(path.absolute()): path for path in shard.files})
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def store(self, shard: Shard, result: CheckResult, reads: Iterable[Path]) -> None:
        """Keep a result; `reads` are files beyond the shard that it depends on. A full disk is no error."""
        data = {"reads": [(str(p.absolute()), _digest(p)) for p in reads], **_plain(result)}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomic(self._folder / self._key(shard), json.dumps(data).encode())
        except (OSError, GraphwardError):
            return

    def _key(self, shard: Shard) -> str:
        total = blake2b(self._settings + self._recordings.digest(shard.files), digest_size=16)
        for path in shard.files:
            total.update(os.fsencode(path.absolute()) + f"\0{_digest(path)}\n".encode())
        return total.hexdigest() + ".json"

    @cached_property
    def _settings(self) -> bytes:
        """Version, settings, Python, and the text of every installed codemod."""
        total = blake2b(f"{__version__} {sys.version_info[:2]} {self._config!r}".encode())
        for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name):
            spec = find_spec(entry.value)
            for folder in spec.submodule_search_locations or () if spec else ():
                for path in sorted(Path(folder).rglob("*.py")):
                    total.update(path.read_bytes())
        for path in sorted(Path(__file__).parents[1].rglob("*")):
            if path.suffix in (".py", ".toml", ".json"):
                total.update(path.read_bytes())
        return total.digest()


def _digest(path: Path) -> str:
    try:
        return blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return ""


def _plain(result: CheckResult) -> dict:
    """Paths are absolute: the next run may start in another folder."""
    files = [(str(path.absolute()), [_plain_finding(f) for f in e.findings]) for path, e in result.files.items()]
    return {"files": files, "problems": [(str(p.path.absolute()), p.line, p.message) for p in result.problems]}


def _plain_finding(finding: Finding) -> dict:
    data = asdict(finding)
    data["consequence"] = finding.consequence.value
    for fix, plain in zip(finding.fixes, data["fixes"], strict=True):
        plain["applicability"] = fix.applicability.value
    return data


def _result(data: dict, paths: Mapping[str, Path]) -> CheckResult:
    """The stored result, its files by the `paths` that this run calls them."""
    files = {}
    for name, findings in data["files"]:
        path = paths[name]
        source = SourceText.from_bytes(path, path.read_bytes())
        files[path] = FileFindings(source, [_finding(f) for f in findings])
    return CheckResult(files, [Problem(paths.get(p, Path(p)), line, message) for p, line, message in data["problems"]])


def _finding(data: dict) -> Finding:
    return Finding(**{
        **data, "consequence": Consequence(data["consequence"]), "span": Span(**data["span"]),
        "call_path": tuple(data["call_path"]), "evidence": tuple(data["evidence"]),
        "fixes": tuple(_fix(f) for f in data["fixes"]),
    })  # fmt: skip


def _fix(data: dict) -> Fix:
    return Fix(**{
        **data, "edits": tuple(Edit(**e) for e in data["edits"]),
        "imports": tuple(ImportRequest(**i) for i in data["imports"]),
        "applicability": Applicability(data["applicability"]),
    })  # fmt: skip
