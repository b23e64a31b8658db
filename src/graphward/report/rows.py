"""A finding with its file: the positions and complete edits that every printer needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..rules.finding import Finding
from ..source.edits import Edit
from ..source.fixes import Fix
from ..source.imports import additions
from ..source.parsing import parse_tree
from ..source.text import SourceText


@dataclass(frozen=True)
class Row:
    """One finding of one file."""

    path: Path
    source: SourceText
    finding: Finding

    @property
    def start(self) -> tuple[int, int]:
        """Line and column, 1-based, the column in characters."""
        return self.source.position(self.finding.span.start)

    @property
    def end(self) -> tuple[int, int]:
        return self.source.position(self.finding.span.end)


def complete_edits(source: SourceText, fix: Fix) -> list[Edit]:
    """The edits of a fix together with those of the imports that it needs."""
    if not fix.imports:
        return list(fix.edits)
    return sorted([*fix.edits, *additions(source, _tree(source), fix.imports)])


def rows_of(files: dict) -> Iterator[Row]:
    """Rows of `{path: entry}` where an entry has `source` and `findings`."""
    for path, entry in files.items():
        for finding in entry.findings:
            yield Row(path, entry.source, finding)


@lru_cache(maxsize=8)
def _tree(source: SourceText) -> ast.Module:
    return parse_tree(source)
