"""Parts of a run that know nothing of each other: packages, joined where one imports another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..analysis.module import module_name
from ..source.text import NOTEBOOK
from .workspace import import_root

_IMPORTED = re.compile(rb"\s*(from|import)\s+(\w+)([^\n]*)")
_FURTHER = re.compile(rb",\s*(\w+)")


@dataclass
class Shard:
    """Files that must be checked together; `size` is their bytes."""

    files: list[Path] = field(default_factory=list)
    size: int = 0


def shards(files: Sequence[Path]) -> list[Shard]:
    """Files grouped by the outermost package, or folder, that they stand in. Groups whose files name each other in an
    import are one: a region in one may reach a function in the other."""
    groups: dict[tuple[Path, str], list[Path]] = {}
    packages: dict[Path, str] = {}
    for path in files:
        groups.setdefault(_home(path, packages), []).append(path)
    if len(groups) == 1:
        return [_shard(list(files))]
    leader = {key: key for key in groups}

    def find(key: tuple[Path, str]) -> tuple[Path, str]:
        while leader[key] != key:
            key = leader[key]
        return key

    names: dict[bytes, list[tuple[Path, str]]] = {}
    for key, members in groups.items():
        for top in [key[1]] if key[1] else [p.stem for p in members]:
            names.setdefault(top.encode(), []).append(key)
    for key, members in groups.items():
        imported: set[bytes] = set()
        for path in members:
            imported.update(_imported(_lines(path)))
        for name in imported & names.keys():
            for other in names[name]:
                leader[find(other)] = find(key)
    merged: dict[tuple[Path, str], list[Path]] = {}
    for key, members in groups.items():
        merged.setdefault(find(key), []).extend(members)
    return [_shard(members) for members in merged.values()]


def _imported(data: bytes) -> Iterator[bytes]:
    """The top-level names that the import statements of a file begin with."""
    found = data.find(b"import ")
    while found >= 0:
        match = _IMPORTED.match(data, data.rfind(b"\n", 0, found) + 1)
        if match:
            yield match[2]
            if match[1] == b"import" and b"," in match[3]:
                yield from _FURTHER.findall(match[3])
        found = data.find(b"import ", found + 7)


def _home(path: Path, packages: dict[Path, str]) -> tuple[Path, str]:
    """The folder on `sys.path` and the top-level package of a file; the package is empty for a loose module."""
    name = module_name(path, packages)
    head, dot, _ = name.partition(".")
    return import_root(path, name), head if dot or path.name == "__init__.py" else ""


def _shard(files: list[Path]) -> Shard:
    return Shard(files, sum(path.stat().st_size for path in files))


def _lines(path: Path) -> bytes:
    """The text of a file. In the JSON of a notebook lines begin behind quotes and escaped line feeds."""
    try:
        data = path.read_bytes()
    except OSError:
        return b""  # the workspace reports it
    return data.replace(b"\\n", b"\n").replace(b'"', b"\n") if path.suffix == NOTEBOOK else data
