"""Where the sources of the code cells stand in the JSON of a notebook, and how others are written in their place: all
that is not touched keeps its bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_SPACE = re.compile(r"[ \t\r\n]*")
_ESCAPED = re.compile(r"\\u[0-9a-fA-F]{4}")
_UP_TO_LINE_FEED = re.compile(r"[^\n]*\n|[^\n]+")
_decode = json.JSONDecoder(strict=False).raw_decode


@dataclass(frozen=True)
class Piece:
    """A string of a source and the span of its JSON."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class CellSource:
    """The source of a code cell: the `number` of the cell among all from 1, the span of the JSON value, and the strings
    in it: one, or with `listed` an array of them."""

    number: int
    start: int
    end: int
    pieces: tuple[Piece, ...]
    listed: bool

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


def code_sources(text: str) -> list[CellSource]:
    """The sources of the code cells in the JSON text of a notebook, which must be valid."""
    found = []
    book = _members(text, _skip(text, 0))
    for number, (start, _) in enumerate(_elements(text, book["cells"][0]), 1):
        cell = _members(text, start)
        if "source" in cell and _decode(text, cell["cell_type"][0])[0] == "code":
            begin, end = cell["source"]
            listed = text[begin] == "["
            spans = _elements(text, begin) if listed else [(begin, end)]
            pieces = tuple(Piece(_decode(text, s)[0], s, e) for s, e in spans)
            found.append(CellSource(number, begin, end, pieces, listed))
    return found


def with_sources(text: str, cells: Sequence[CellSource], sources: Mapping[int, str]) -> str:
    """The JSON text with other `sources`, by the numbers of their cells, in the manner of those that are there."""
    ascii_only = text.isascii() and _ESCAPED.search(text) is not None
    example = next((c for c in cells if c.listed and c.pieces), None)
    parts = []
    position = 0
    for cell in cells:
        if cell.number in sources:
            parts += [text[position : cell.start], _value(text, cell, example, sources[cell.number], ascii_only)]
            position = cell.end
    return "".join((*parts, text[position:]))


def _value(text: str, cell: CellSource, example: CellSource | None, source: str, ascii_only: bool) -> str:
    if not cell.listed:
        return json.dumps(source, ensure_ascii=ascii_only)
    before = [piece.text for piece in cell.pieces]
    lines = source.splitlines(keepends=True)
    if before != cell.text.splitlines(keepends=True):
        lines = _UP_TO_LINE_FEED.findall(source)
    if not lines:
        return "[]"
    known = {piece.text: text[piece.start : piece.end] for piece in cell.pieces}
    literals = [known.get(line) or json.dumps(line, ensure_ascii=ascii_only) for line in lines]
    head, separator, tail = _layout(text, cell if cell.pieces else example)
    return f"[{head}{separator.join(literals)}{tail}]"


def _layout(text: str, cell: CellSource | None) -> tuple[str, str, str]:
    """What stands before, between and behind the strings of an array."""
    if cell is None:
        return "", ", ", ""
    first, last = cell.pieces[0], cell.pieces[-1]
    head, tail = text[cell.start + 1 : first.start], text[last.end : cell.end - 1]
    between = text[first.end : cell.pieces[1].start] if len(cell.pieces) > 1 else f",{head or ' '}"
    return head, between, tail


def _members(text: str, at: int) -> dict[str, tuple[int, int]]:
    """The spans of the values of the object that begins there; of equal keys the last one counts, as in JSON."""
    found = {}
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        _, end = _decode(text, at)
        found[key] = at, end
        at = _next(text, end)
    return found


def _elements(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The spans of the elements of the array that begins there."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        _, end = _decode(text, at)
        yield at, end
        at = _next(text, end)


def _next(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
