"""The hunks of a fix as lines of text, one below the other or side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from ..diffing import Hunk, Line
from .highlight import highlighted, tidy

SIDE_BY_SIDE = 120
"""Panes of at least that many columns show both sides next to each other."""

_MARKS = {"-": "bold red", "+": "bold green", " ": ""}
_CHANGED = {"-": "reverse red", "+": "reverse green", " ": "underline bold"}


def diff_lines(hunks: Sequence[Hunk], width: int, height: int, line: int) -> tuple[list[Text], int]:
    """All hunks, in a pane of that size, and the number of the row that it begins with: where the hunk of `line` does,
    or as much further down as it takes to have in sight what is changed there."""
    lines: list[Text] = []
    top = 0
    for hunk in hunks:
        if lines:
            lines.append(Text("⋯", "dim"))
        one_sided = all(old is not None and old.mark == " " for old, _ in hunk.pairs)
        rows = list(_beside(hunk, width) if width >= SIDE_BY_SIDE and not one_sided else _unified(hunk))
        place = _place_of(line, [shown for shown, _ in rows])
        if place is not None:
            first, last = (len(lines) + number for number in place)
            top = max(len(lines), min(first, last + 1 - height))
        lines += [row for _, row in rows]
    return lines, top


def _place_of(line: int, rows: Sequence[Line]) -> tuple[int, int] | None:
    """The first and the last row of what a hunk changes at a line of the old side, else of what it changes at all, else
    of the line; None when the line is not in it."""
    at = next((n for n, row in enumerate(rows) if row.number == line and row.mark != "+"), None)
    if at is None:
        return None
    if rows[at].mark == " ":
        at = next((n for n, row in enumerate(rows) if row.mark != " "), at)
    last = at
    while last + 1 < len(rows) and (rows[last + 1].mark != " " or rows[last + 1] is rows[at]):
        last += 1
    return at, last


def _unified(hunk: Hunk) -> Iterator[tuple[Line, Text]]:
    codes = _codes(hunk)
    digits = _digits(hunk)
    for line, _ in hunk.unified():
        yield line, _gutter(line, f"{line.shown:>{digits}} ").append_text(codes[id(line)])


def _beside(hunk: Hunk, width: int) -> Iterator[tuple[Line, Text]]:
    codes = _codes(hunk)
    digits = _digits(hunk)
    half = (width - 3) // 2
    for old, new in hunk.pairs:
        line = old or new
        assert line is not None
        left, right = _folded(old, codes, digits, half), _folded(new, codes, digits, half)
        for n in range(max(len(left), len(right))):
            text = left[n] if n < len(left) else Text()
            text = text.copy()
            text.append(" " * max(0, half - text.cell_len))
            text.append(" │ ", "dim")
            yield line, text.append_text(right[n]) if n < len(right) else text


def _folded(line: Line | None, codes: dict[int, Text], digits: int, width: int) -> list[Text]:
    """A line of one side, over as many lines as it needs."""
    if line is None:
        return [Text()]
    room = max(10, width - digits - 3)
    found = []
    for n, part in enumerate(_cut(codes[id(line)], room)):
        number = f"{line.shown:>{digits}} " if not n else " " * (digits + 1)
        found.append(_gutter(line, number).append_text(part))
    return found


def _gutter(line: Line, number: str) -> Text:
    text = Text()
    text.append(number, "dim")
    return text.append(f"{line.mark} ", _MARKS[line.mark])


def _cut(text: Text, room: int) -> list[Text]:
    """A text in pieces of at most `room` columns; a wide character is never cut in two."""
    if text.cell_len <= room:
        return [text]
    pieces, start, used = [], 0, 0
    for n, character in enumerate(text.plain):
        size = cell_len(character)
        if used + size > room:
            pieces.append(text[start:n])
            start, used = n, 0
        used += size
    return [*pieces, text[start:]]


def _codes(hunk: Hunk) -> dict[int, Text]:
    """The code of each line, colored side by side, so that a string that spans lines is one on its side."""
    codes: dict[int, Text] = {}
    for side in (0, 1):
        lines = [pair[side] for pair in hunk.pairs]
        present = [line for line in lines if line is not None]
        for line, text in zip(present, highlighted(tuple(line.text for line in present)), strict=True):
            codes[id(line)] = tidy(text, line.changed, _CHANGED[line.mark])
    return codes


def _digits(hunk: Hunk) -> int:
    return max(len(line.shown) for pair in hunk.pairs for line in pair if line is not None)
