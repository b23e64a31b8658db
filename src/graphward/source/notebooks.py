"""The code cells of a notebook as one module: the lines of all of them in order, those that are no Python blanked.

Lines and columns of what is Python stay what they are, so that a place in the joined text is one in a cell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_LINE_END = re.compile(r"\r\n|\r|\n")
# Cell magics whose cell is Python all the same.
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "python", "python3"})
_CELL_MAGIC = re.compile(r"%%(\w+)")
_LINE_MAGIC = re.compile(r"(\s*)[%!?]")
_ASSIGNED = re.compile(r"(\s*)([\w.,\s\[\]]+=\s*)[%!]")
_HELP = re.compile(r"\s*[\w.*]+\?{1,2}\s*$")


@dataclass(frozen=True)
class Joined:
    """`starts` are the lines, from 0, at which the cells begin in `text`."""

    text: str
    starts: tuple[int, ...]


def join_cells(cells: Sequence[str]) -> Joined:
    """The cells as one module; each begins on a line of its own."""
    lines: list[str] = []
    starts = []
    for cell in cells:
        starts.append(len(lines))
        lines += python_lines(_LINE_END.split(cell))
    return Joined("".join(f"{line}\n" for line in lines), tuple(starts))


def python_lines(lines: list[str]) -> list[str]:
    """The lines of a cell, without their ends, as Python: what is none is blanked, or says what stands in for it."""
    magic = cell_magic(lines)
    if magic is None:
        return _without_magics(lines)
    first, python = magic
    return _without_magics([*lines[:first], "", *lines[first + 1 :]]) if python else ["" for _ in lines]


def cell_magic(lines: list[str]) -> tuple[int, bool] | None:
    """The index of the line with the magic of a whole cell, and whether the cell is Python all the same."""
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    magic = _CELL_MAGIC.match(lines[first]) if lines else None
    return (first, magic[1] in _PYTHON_CELLS) if magic else None


def _without_magics(lines: list[str]) -> list[str]:
    """A magic, a shell command or a question stands where a statement does, with the lines that it goes on to."""
    found, going_on, depth = [], False, 0
    for line in lines:
        if going_on:
            found.append("")
            going_on = line.rstrip().endswith("\\")
            continue
        # Inside brackets `%` and `!` are Python's.
        magic = (_LINE_MAGIC.match(line) or _ASSIGNED.match(line) or _HELP.match(line)) if depth == 0 else None
        if magic is None:
            found.append(line)
            depth = max(0, depth + _opened(line))
            continue
        indent = line[: len(line) - len(line.lstrip())]
        assigned = _ASSIGNED.match(line)
        # At the top of a module nothing needs to stand there, and imports may.
        found.append(f"{indent}{assigned[2]}None" if assigned else f"{indent}pass" if indent else "")
        going_on = line.rstrip().endswith("\\")
    return found


def _opened(line: str) -> int:
    """How many brackets a line opens more than it closes, strings and comments left out as far as one line tells."""
    bare = re.sub(r"(\"[^\"\\]*(?:\\.[^\"\\]*)*\"|'[^'\\]*(?:\\.[^'\\]*)*')|#.*", "", line)
    return sum(bare.count(c) for c in "([{") - sum(bare.count(c) for c in ")]}")
