"""The diff of a notebook's JSON with the cells named where `git diff` names functions: the patch stays one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..source.notebook_text import NotebookText

_HUNK = re.compile(r"@@ -(\d+)")


def with_cells(lines: Iterable[str], before: NotebookText, after: NotebookText) -> Iterator[str]:
    """The lines of a unified diff, the cells that change behind the second `@@` of each hunk."""
    changed = after.changed_cells()
    hunk: list[str] = []
    for line in lines:
        if line.startswith("@@"):
            yield from _named(hunk, before, changed)
            hunk = []
        hunk.append(line)
    yield from _named(hunk, before, changed)


def _named(hunk: list[str], before: NotebookText, changed: frozenset[int]) -> Iterator[str]:
    start = _HUNK.match(hunk[0]) if hunk else None
    if start is None:
        yield from hunk
        return
    line = int(start[1])
    cells: set[int] = set()
    for text in hunk[1:]:
        if text[:1] in "+-":
            # What is added follows the line before it.
            cells |= before.cells_on_disk(line if text[0] == "-" else line - 1) & changed
        line += text[:1] in " -"
    said = f" {'cell' if len(cells) == 1 else 'cells'} {', '.join(map(str, sorted(cells)))}" if cells else ""
    yield hunk[0].rstrip("\n") + said + "\n"
    yield from hunk[1:]
