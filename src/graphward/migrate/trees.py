"""Copies of a source tree with some files changed: links to everything else, so that a copy costs nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..source.text import SourceText


class Trees:
    """Makes and removes the trees of a run. Use it as a context manager."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="graphward-trees-"))
        self._count = 0
        self._made: dict[tuple[Path, frozenset[tuple[Path, SourceText]]], Path] = {}

    def __enter__(self) -> Trees:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def overlay(self, tree: Path, texts: Mapping[Path, SourceText]) -> Path:
        """A folder that reads like `tree` with `texts` in place of the files of those (resolved) paths; the same folder
        for the same texts."""
        key = tree, frozenset(texts.items())
        if key in self._made:
            return self._made[key]
        self._count += 1
        copy = self._folder / str(self._count)
        changed = {path.relative_to(tree): text for path, text in texts.items() if path.is_relative_to(tree)}
        _mirror(tree, copy, {p.parts: text for p, text in changed.items()})
        self._made[key] = copy
        return copy


def _mirror(original: Path, copy: Path, changed: Mapping[tuple[str, ...], SourceText]) -> None:
    copy.mkdir()
    inner: dict[str, dict[tuple[str, ...], SourceText]] = {}
    for parts, text in changed.items():
        if len(parts) == 1:
            (copy / parts[0]).write_bytes(text.to_bytes())
        else:
            inner.setdefault(parts[0], {})[parts[1:]] = text
    for entry in os.scandir(original):
        if entry.name in inner:
            _mirror(Path(entry.path), copy / entry.name, inner[entry.name])
        elif (entry.name,) not in changed and entry.name != "__pycache__":
            (copy / entry.name).symlink_to(Path(entry.path).resolve())
