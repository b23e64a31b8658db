"""A notebook on disk as one module: the code of its cells behind marks from which they are found again.

A cell begins with the line `# %% cell 3`. A line that is no Python, such as `%matplotlib inline`, stands in a comment,
with what Python needs in its place before that. What edits make of the text goes back into the sources of the cells;
outputs, metadata and all other bytes of the file stay.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from .notebook_json import CellSource, code_sources, with_sources
from .notebooks import cell_magic, python_lines
from .text import BOM, NotText, Place, SourceText

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_LINE_END = re.compile(r"(?:\r\n|\r|\n)\Z")
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Cell:
    """A code cell: its first line in the text is `marker`, each of its lines ends in `newline` where the cell does not
    say otherwise. `stand_ins` are the lines of the text for what is no Python, in order, with the lines of the cell.
    `magic` tells of the cell's own magic: `first` when nothing but blank lines may come before it, `whole` when all of
    the cell is its."""

    source: CellSource
    marker: str
    newline: str
    stand_ins: tuple[tuple[str, str], ...]
    magic: str = ""


@dataclass(frozen=True)
class Notebook:
    """What the file holds: its JSON text, and what was made of the code cells."""

    raw: str
    cells: tuple[Cell, ...] = field(compare=False)
    joined: bytes = field(compare=False)


@dataclass(frozen=True)
class NotebookText(SourceText):
    """The code of a notebook."""

    notebook: Notebook = Notebook("", (), b"")

    def with_utf8(self, utf8: bytes) -> NotebookText:
        """The same notebook with other code."""
        return replace(self, utf8=utf8)

    def to_bytes(self) -> bytes:
        """What stands on disk. Raises NotText when the cells cannot be told apart any more."""
        book = self.notebook
        raw = book.raw
        if self.utf8 != book.joined:
            try:
                sources = self._sources()
            except SyntaxError as error:
                raise NotText(error.msg) from None
            raw = with_sources(raw, [c.source for c in book.cells], self._changed(sources))
        return (BOM if self.bom else b"") + raw.encode()

    def require_whole(self) -> None:
        """Raise SyntaxError when a mark is gone, moved or doubled, or a line that is no Python was touched."""
        if self.utf8 != self.notebook.joined:
            self._sources()

    def place(self, offset: int) -> Place:
        """The cell, and the line in it. What is added in front of a cell is added at the end of the one before."""
        line, column = self.position(offset)
        if column == 1 and line in self._marker_lines[1:]:
            number, last = self._within(line - 1)
            return Place(number, last + 1, 1)
        return Place(*self._within(line), column)

    def line_named(self, line: int) -> str:
        """The line in its cell."""
        number, within = self._within(line)
        return f"line {within} of cell {number}"

    def line_in_cell(self, line: int) -> tuple[int | None, int]:
        number, within = self._within(line)
        return number, 0 if line in self._marker_lines else within

    def line_on_disk(self, line: int) -> int:
        """The line of the JSON in which a line of the text stood when the notebook was read."""
        number, within = self._within(line)
        source = next((c.source for c in self.notebook.cells if c.source.number == number), None)
        if source is None:
            return 1
        passed, at = 0, source.start
        for piece in source.pieces:
            if passed >= within:
                break
            at = piece.start
            passed += max(1, len(_LINE.findall(piece.text)))
        return self.notebook.raw.count("\n", 0, at) + 1

    def cells_on_disk(self, line: int) -> frozenset[int]:
        """The numbers of the cells whose source stands in a line of the JSON: several where that has few lines."""
        found = set()
        for cell in self.notebook.cells:
            first = self.notebook.raw.count("\n", 0, cell.source.start) + 1
            if first <= line <= first + self.notebook.raw.count("\n", cell.source.start, cell.source.end):
                found.add(cell.source.number)
        return frozenset(found)

    def changed_cells(self) -> frozenset[int]:
        """The numbers of the cells whose code is not that on disk."""
        return frozenset(self._changed(self._sources()))

    def _changed(self, sources: list[str]) -> dict[int, str]:
        cells = [cell.source for cell in self.notebook.cells]
        return {c.number: source for c, source in zip(cells, sources, strict=True) if source != c.text}

    @property
    def top(self) -> int:
        """Behind the first mark, and the magic of that cell, of the first cell that is Python."""
        for cell, line in zip(self.notebook.cells, self._marker_lines, strict=False):
            if cell.magic == "whole":
                continue
            while cell.magic and self._line(line) != cell.stand_ins[0][0]:
                line += 1
            return self.line_starts[line] if line < len(self.line_starts) else len(self.utf8)
        return len(self.utf8)

    @property
    def words_beyond(self) -> frozenset[str]:
        """The words in magics, shell commands and cells of other languages."""
        lines = (line for cell in self.notebook.cells for _, line in cell.stand_ins)
        return frozenset(word for line in lines for word in _WORD.findall(line))

    @cached_property
    def _marker_lines(self) -> list[int]:
        """The lines, from 1, of the marks."""
        markers = {cell.marker for cell in self.notebook.cells}
        lines = (line.rstrip("\r\n") for line in _LINE.findall(self.text))
        return [number for number, line in enumerate(lines, 1) if line in markers]

    def _line(self, line: int) -> str:
        return self.line_bytes(line).decode().rstrip("\r\n")

    def _within(self, line: int) -> tuple[int, int]:
        """The number of the cell and the line in it."""
        index = max(0, bisect_right(self._marker_lines, line) - 1)
        if index >= len(self._marker_lines):
            return 1, line
        return self.notebook.cells[index].source.number, max(1, line - self._marker_lines[index])

    def _sources(self) -> list[str]:
        """What the text makes of the sources of the cells. Raises SyntaxError."""
        cells = self.notebook.cells
        originals = {stand_in: n for n, cell in enumerate(cells) for stand_in, _ in cell.stand_ins}
        markers = {cell.marker: n for n, cell in enumerate(cells)}
        bodies: list[list[str]] = []
        met = 0
        for line in _LINE.findall(self.text):
            bare = line.rstrip("\r\n")
            if bare in markers:
                _require(markers[bare] == len(bodies), "it would move or repeat cells of the notebook")
                if bodies:
                    _require(met == len(cells[len(bodies) - 1].stand_ins), _touched(cells[len(bodies) - 1], met))
                bodies.append([])
                met = 0
                continue
            _require(bool(bodies), "it would put code in front of the first cell")
            cell = cells[len(bodies) - 1]
            if bare in originals:
                known = met < len(cell.stand_ins) and cell.stand_ins[met][0] == bare
                _require(known, "it would move or repeat a line that is no Python")
                blank = met > 0 or not "".join(bodies[-1]).strip()
                _require(blank or not cell.magic, "it would put code in front of the magic of a cell")
                bodies[-1].append(cell.stand_ins[met][1] + line[len(bare) :])
                met += 1
                continue
            _require(cell.magic != "whole", "it would put code into a cell of another language")
            bodies[-1].append(line)
        _require(len(bodies) == len(cells), "it would remove the mark of a cell")
        if cells:
            _require(met == len(cells[-1].stand_ins), _touched(cells[-1], met))
        return [_without_end("".join(body), cell) for body, cell in zip(bodies, cells, strict=True)]


def read_notebook(path: Path, data: bytes) -> NotebookText:
    """The code of a notebook in Python. Raises NotText."""
    bom = data.startswith(BOM)
    body = data[len(BOM) :] if bom else data
    try:
        raw = body.decode()
    except UnicodeDecodeError as error:
        raise NotText("the notebook is not valid UTF-8", body[: error.start].count(b"\n") + 1) from None
    _require_python(raw)
    book = _joined(raw)
    return NotebookText(path, book.joined, bom=bom, notebook=book)


def _require_python(raw: str) -> None:
    """Raise NotText unless this is a notebook, in a format that can be written back, whose code is Python."""
    try:
        from nbformat import NBFormatError, ValidationError, reader
    except ImportError:
        raise NotText("notebooks need nbformat: pip install 'graphward[notebook]'", 0) from None
    try:
        book = reader.reads(raw)
    except reader.NotJSONError as error:
        cause = error.__cause__
        raise NotText("this is no notebook: it is not JSON", getattr(cause, "lineno", 1)) from None
    except (NBFormatError, ValidationError, AttributeError, KeyError, TypeError, RecursionError):
        raise NotText("this is no notebook: its JSON lacks what makes one") from None
    version = book.get("nbformat")
    if isinstance(version, int) and version < 4:
        raise NotText(f"the notebook has format {version}: open and save it in Jupyter, which writes format 4")
    cells = book.get("cells")
    sound = isinstance(cells, list) and all(
        isinstance(c, dict) and isinstance(c.get("cell_type"), str) and isinstance(c.get("source", ""), str)
        for c in cells
    )
    if not sound:
        raise NotText("this is no notebook: its JSON lacks what makes one")
    language = _language(book.get("metadata"))
    if language.lower() not in ("python", "ipython", "python3"):
        raise NotText(f"the code of this notebook is {language}, not Python")


def _language(metadata: object) -> str:
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(part, dict) and isinstance(part.get(name), str):
            return part[name]
    return "python"


def _joined(raw: str) -> Notebook:
    sources = code_sources(raw)
    mark = "%%"
    while any(f"# {mark} " in source.text for source in sources):
        mark += "%"
    texts, cells = [], []
    kept = 0
    for source in sources:
        lines = _LINE.findall(source.text)
        ends = [_LINE_END.search(line) for line in lines]
        newline = next((end[0] for end in ends if end), "\n")
        bare = [line[: end.start()] if end else line for line, end in zip(lines, ends, strict=True)]
        magic = cell_magic(bare)
        whole = magic is not None and not magic[1]
        stand_ins = []
        text = []
        for line, python, end in zip(bare, python_lines(bare), ends, strict=True):
            if line != python or whole:
                kept += 1
                stand_in = f"{python}{'  ' if python else ''}# {mark} magic {kept}: {line}"
                stand_ins.append((stand_in, line))
                python = stand_in
            text.append(python + (end[0] if end else ""))
        marker = f"# {mark} cell {source.number}"
        texts.append(f"{marker}{newline}{''.join(text)}{newline}")
        cells.append(Cell(source, marker, newline, tuple(stand_ins), "whole" if whole else "first" if magic else ""))
    try:
        joined = "".join(texts).encode()
    except UnicodeEncodeError:
        raise NotText("the notebook holds half of a character") from None
    return Notebook(raw, tuple(cells), joined)


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise SyntaxError(problem)


def _touched(cell: Cell, met: int) -> str:
    line = cell.stand_ins[met][1].strip() if met < len(cell.stand_ins) else ""
    return f"it would change a line that is no Python: {line}"


def _without_end(body: str, cell: Cell) -> str:
    """A cell without the line end that the text has behind it, or that was there before its last line went."""
    if cell.source.text.endswith("\r"):
        return body.removesuffix(cell.newline)
    return _LINE_END.sub("", body)
