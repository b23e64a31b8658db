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
from ..source.paths import display
from ..source.text import Place, SourceText


@dataclass(frozen=True)
class Row:
    """One finding of one file."""

    path: Path
    source: SourceText
    finding: Finding

    @property
    def start(self) -> Place:
        return self.source.place(self.finding.span.start)

    @property
    def end(self) -> Place:
        return self.source.place(self.finding.span.end)

    @property
    def start_on_disk(self) -> int:
        """The line of the file, also where that is JSON."""
        return self.source.line_on_disk(self.source.position(self.finding.span.start)[0])

    @property
    def end_on_disk(self) -> int:
        return self.source.line_on_disk(self.source.position(self.finding.span.end)[0])

    @property
    def message(self) -> str:
        """What is told where only lines of the file can be pointed at."""
        cell, line, _ = self.start
        return self.finding.message if cell is None else f"cell {cell}, line {line}: {self.finding.message}"


def place_of(path: Path, source: SourceText, offset: int) -> str:
    """`net.py:5:9`, or `book.ipynb:cell 3:5:9`."""
    cell, line, column = source.place(offset)
    return f"{display(path)}:{'' if cell is None else f'cell {cell}:'}{line}:{column}"


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
