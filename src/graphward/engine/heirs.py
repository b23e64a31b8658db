"""Files without a `construct` of their own whose classes inherit one. Nothing is parsed to find them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ..analysis.module import ClassInfo, Module
from ..analysis.names import dotted
from ..source.text import SourceText

# Patterns that begin with a literal are searched for at the speed of memory; anything else costs ten times as much.
_CLASS = re.compile(rb"class\s+(\w+)\s*\(([^)]*)\)")
_RENAMED = re.compile(rb" as +(\w+)")
_LAST_WORD = re.compile(rb"(\w+) *\Z")
_DOTTED = re.compile(rb"[\w.]+")


def heirs(parsed: Sequence[Module], others: Mapping[Path, SourceText]) -> list[Path]:
    """Those of `others` with a class that inherits, over any number of classes, the `construct` of a class of `parsed`.
    Classes are told by their names alone: a file too many costs time, a file too few would hide a graph region."""
    # What builds on a name: another name, and the file that this stands in.
    built: dict[str, list[tuple[str, Path | None]]] = {}
    for module in parsed:
        for info in module.classes:
            for base in _bases(info):
                built.setdefault(base, []).append((info.name, None))
    for path, source in others.items():
        for base, name in _classes(source.utf8) if b"class " in source.utf8 else ():
            built.setdefault(base, []).append((name, path))
        for name, alias in _renamings(source.utf8):
            built.setdefault(name, []).append((alias, None))
    queue = [info.name for module in parsed for info in module.classes if "construct" in info.methods]
    known = set(queue)
    found: dict[Path, None] = {}
    while queue:
        for name, file in built.get(queue.pop(), ()):
            if file is not None:
                found[file] = None
            if name not in known:
                known.add(name)
                queue.append(name)
    return list(found)


def _bases(info: ClassInfo) -> Iterator[str]:
    """The last parts of the names of the base classes, as written and as imported."""
    for base in info.node.bases:
        name = dotted(base.value if isinstance(base, ast.Subscript) else base)
        if name is not None:
            yield name.rpartition(".")[2]
            yield (info.names.qualify(name) or name).rpartition(".")[2]


def _classes(data: bytes) -> Iterator[tuple[str, str]]:
    """`(last part of the name of a base, class)` of each class written in a file."""
    for name, bases in _CLASS.findall(data):
        for word in _DOTTED.findall(bases):
            yield word.rpartition(b".")[2].decode(), name.decode()


def _renamings(data: bytes) -> Iterable[tuple[str, str]]:
    """`(name, alias)` of all that looks like `name as alias` in a file."""
    for match in _RENAMED.finditer(data):
        word = _LAST_WORD.search(data, max(0, match.start() - 80), match.start())
        if word is not None:
            yield word[1].decode(), match[1].decode()
