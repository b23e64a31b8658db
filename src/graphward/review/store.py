"""Decisions on disk: each is appended to a log as it is taken, so that a killed terminal loses none.

A line holds all that is decided on one file; the last line on a file counts. The log of a project stands in the user's
state folder. When it is read it is written anew without what later lines replace; half a line at its end is ignored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from platformdirs import user_state_path

from ..errors import GraphwardError
from ..source.writing import write_atomic
from .state import BY_HAND, Decision, FileReview, Place

_FORMAT = 1


@dataclass(frozen=True)
class SavedFix:
    """A decision: the finding's key, the number and the title of the alternative (BY_HAND and SUPPRESSION included),
    and, of a text by hand, what it replaced and what it put there."""

    key: str
    choice: int
    title: str
    before: str = ""
    after: str = ""
    imports: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Saved:
    """What is known of one file: the digests of what was reviewed and of what was written, the keys of all findings
    that were met, those that were rejected, and the accepted ones, layer by layer."""

    base: str
    written: str
    seen: frozenset[str]
    rejected: frozenset[str]
    layers: tuple[tuple[SavedFix, ...], ...]


def folder_of(root: Path) -> Path:
    """Where the reviews of a project are kept."""
    name = blake2b(os.fsencode(root.resolve()), digest_size=8).hexdigest()
    return user_state_path("graphward", appauthor=False) / "review" / f"{root.resolve().name or 'root'}-{name}"


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


@dataclass
class Memory:
    """What an earlier review left: files by absolute path, and where it stood."""

    files: dict[str, Saved] = field(default_factory=dict)
    at: tuple[str, str] | None = None
    filter: str = ""


class Store:
    """The log of one project. A full disk is no reason to stop: `problem` then says what went wrong."""

    def __init__(self, root: Path):
        self._path = folder_of(root) / "decisions.jsonl"
        self.problem = ""

    @property
    def exists(self) -> bool:
        return self._path.is_file()

    def load(self) -> Memory:
        """What was kept, as far as it can be read."""
        memory = Memory()
        kept: dict[str, dict[str, Any]] = {}
        for line in self._lines():
            try:
                data = json.loads(line)
                if data.get("format") != _FORMAT:
                    continue
                if "file" in data:
                    memory.files[data["file"]] = _saved(data)
                    kept[data["file"]] = data
                else:
                    memory.at = tuple(data["at"]) if data["at"] else None
                    memory.filter = str(data["filter"])
                    kept[""] = data
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
        if kept:
            self._rewrite(kept.values())
        return memory

    def forget(self) -> None:
        """Begin anew."""
        self._path.unlink(missing_ok=True)

    def save(self, files: Iterable[tuple[FileReview, str]]) -> None:
        """Keep all that is decided on files, each with the digest of what was written of it, empty for nothing."""
        lines = []
        for file, written in files:
            saved = saved_of(file, written)
            lines.append({
                "file": str(file.path.absolute()), "base": saved.base, "written": written, "seen": sorted(saved.seen),
                "rejected": sorted(saved.rejected), "layers": [[vars(fix) for fix in layer] for layer in saved.layers],
            })  # fmt: skip
        self._append(lines)

    def save_place(self, at: Place | None, chosen: str) -> None:
        """Keep where the review stands."""
        self._append([{"at": [str(at[0].absolute()), at[1]] if at else None, "filter": chosen}])

    def _append(self, lines: Iterable[dict[str, Any]]) -> None:
        text = "".join(json.dumps({"format": _FORMAT, **data}, ensure_ascii=False) + "\n" for data in lines)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with open(self._path, "ab") as log:
                log.write(text.encode(errors="surrogateescape"))
        except OSError as error:
            self.problem = f"decisions cannot be kept in {self._path}: {error.strerror}"

    def _rewrite(self, lines: Any) -> None:
        text = "".join(json.dumps(data, ensure_ascii=False) + "\n" for data in lines)
        try:
            write_atomic(self._path, text.encode(errors="surrogateescape"))
        except GraphwardError as error:
            self.problem = str(error)

    def _lines(self) -> Iterator[str]:
        try:
            data = self._path.read_bytes()
        except OSError:
            return
        for line in data.split(b"\n"):
            if line:
                yield line.decode(errors="surrogateescape")


def saved_of(file: FileReview, written: str = "") -> Saved:
    """What is kept of a file."""
    layers = tuple(tuple(_fix(decision) for decision in layer.decisions.values()) for layer in file.layers)
    base = digest(file.original.to_bytes())
    met = {item.key for layer in file.layers for item in layer.items}
    if file.fresh is not None:
        met.update(file.fresh.by_key)
    return Saved(base, written, frozenset(met), file.rejected, layers)


def _fix(decision: Decision) -> SavedFix:
    fix, key, choice = decision.fix, decision.item.key, decision.choice
    if choice != BY_HAND:
        return SavedFix(key, choice, fix.title)
    edit = fix.edits[0]
    before = decision.item.source.utf8[edit.start : edit.end].decode()
    imports = tuple((i.module, i.name, i.alias) for i in fix.imports)
    return SavedFix(key, choice, fix.title, before, edit.text, imports)


def _saved(data: dict[str, Any]) -> Saved:
    layers = tuple(
        tuple(SavedFix(**{**fix, "imports": tuple(tuple(i) for i in fix["imports"])}) for fix in layer)
        for layer in data["layers"]
    )
    return Saved(data["base"], data["written"], frozenset(data["seen"]), frozenset(data["rejected"]), layers)
