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
        self._made: dict[tuple[Path, frozenset[tuple[Path, SourceText | None]]], Path] = {}

    def __enter__(self) -> Trees:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def overlay(self, tree: Path, texts: Mapping[Path, SourceText | None]) -> Path:
        """A folder that reads like `tree` with `texts` in place of the files of those (resolved) paths, which need not
        exist; a file with None is left out. The same folder for the same texts."""
        key = tree, frozenset(texts.items())
        if key in self._made:
            return self._made[key]
        self._count += 1
        copy = self._folder / str(self._count)
        changed = {path.relative_to(tree): text for path, text in texts.items() if path.is_relative_to(tree)}
        _mirror(tree, copy, {p.parts: text for p, text in changed.items()})
        self._made[key] = copy
        return copy


def _mirror(original: Path, copy: Path, changed: Mapping[tuple[str, ...], SourceText | None]) -> None:
    copy.mkdir()
    inner: dict[str, dict[tuple[str, ...], SourceText | None]] = {}
    for parts, text in changed.items():
        if len(parts) > 1:
            inner.setdefault(parts[0], {})[parts[1:]] = text
        elif text is not None:
            (copy / parts[0]).write_bytes(text.to_bytes())
    for name, others in inner.items():
        _mirror(original / name, copy / name, others)
    for entry in os.scandir(original) if original.is_dir() else ():
        if entry.name in inner:
            continue
        if (entry.name,) not in changed and entry.name != "__pycache__":
            (copy / entry.name).symlink_to(Path(entry.path).resolve())
