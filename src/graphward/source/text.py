"""One snapshot of a source file: bytes, encoding, line index, and the way back to bytes."""

from __future__ import annotations

import io
import tokenize
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

NOTEBOOK = ".ipynb"
BOM = b"\xef\xbb\xbf"


class NotText(Exception):
    """The bytes are not Python source text; `line` (1-based) is where, `str()` says why."""

    def __init__(self, reason: str, line: int = 1):
        super().__init__(reason)
        self.line = line


class Place(NamedTuple):
    """Where something stands for a reader: line and column from 1, the column in characters; of a notebook the number
    of the cell among all cells from 1, and the line in that cell."""

    cell: int | None
    line: int
    column: int


@dataclass(frozen=True)
class SourceText:
    """A decoded file. `utf8` is what spans count in: the text re-encoded as UTF-8, without a BOM, with the
    line endings that it has on disk."""

    path: Path
    utf8: bytes
    encoding: str = "utf-8"
    bom: bool = False

    @classmethod
    def from_bytes(cls, path: Path, data: bytes) -> SourceText:
        """Decode as Python does (BOM, coding cookie, else UTF-8); a notebook gives the code of its cells. Raises
        NotText."""
        if path.suffix == NOTEBOOK:
            # Few runs meet one.
            from .notebook_text import read_notebook

            return read_notebook(path, data)
        if b"\x00" in data:
            raise NotText("the file holds null bytes", data[: data.index(b"\x00")].count(b"\n") + 1)
        bom = data.startswith(BOM)
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        except SyntaxError as error:
            raise NotText(str(error)) from None
        body = data[len(BOM) :] if bom else data
        if encoding in ("utf-8", "utf-8-sig"):
            try:
                body.decode()
            except UnicodeDecodeError as error:
                raise NotText("the file is not valid UTF-8", body[: error.start].count(b"\n") + 1) from None
            return cls(path, body, "utf-8", bom)
        try:
            return cls(path, body.decode(encoding).encode(), encoding, bom)
        except UnicodeDecodeError as error:
            raise NotText(f"the file is not valid {encoding}", body[: error.start].count(b"\n") + 1) from None

    @classmethod
    def from_str(cls, path: Path, text: str) -> SourceText:
        """Text that an editor holds."""
        return cls(path, text.encode())

    def with_utf8(self, utf8: bytes) -> SourceText:
        """The same file with other contents."""
        return SourceText(self.path, utf8, self.encoding, self.bom)

    def to_bytes(self) -> bytes:
        """What stands on disk. Raises UnicodeEncodeError when the file's encoding has no such character."""
        body = self.utf8 if self.encoding == "utf-8" else self.utf8.decode().encode(self.encoding)
        return BOM + body if self.bom else body

    def require_whole(self) -> None:
        """Raise SyntaxError when edits have damaged what a notebook needs to find its cells in the text again."""

    def place(self, offset: int) -> Place:
        """Where a reader finds a byte."""
        return Place(None, *self.position(offset))

    def line_named(self, line: int) -> str:
        """How a line (1-based) of the text is called: `line 5`, or `line 2 of cell 3`."""
        return f"line {line}"

    def line_in_cell(self, line: int) -> tuple[int | None, int]:
        """The cell of a line (1-based) of the text, None where there are none, and the line in it, 0 for its mark."""
        return None, line

    def line_on_disk(self, line: int) -> int:
        """The line of the file in which a line (1-based) of the text stands."""
        return line

    @property
    def top(self) -> int:
        """The offset from which on lines can be added."""
        return 0

    @property
    def words_beyond(self) -> frozenset[str]:
        """Words that stand where Python does not look, and may be names all the same."""
        return frozenset()

    @cached_property
    def text(self) -> str:
        return self.utf8.decode()

    @cached_property
    def newline(self) -> str:
        """The line ending that new lines get: the first one of the file."""
        for i, byte in enumerate(self.utf8):
            if byte == 0x0A:
                return "\n"
            if byte == 0x0D:
                return "\r\n" if self.utf8[i + 1 : i + 2] == b"\n" else "\r"
        return "\n"

    @cached_property
    def line_starts(self) -> list[int]:
        """Byte offset of each line, by the line ends that Python's tokenizer knows (LF, CRLF, CR)."""
        data = self.utf8
        starts = list(accumulate(map(len, data.splitlines(keepends=True)), initial=0))
        if data and data[-1] not in b"\r\n":
            starts.pop()
        return starts

    def offset(self, line: int, column: int) -> int:
        """Byte offset of `ast`'s position: line 1-based, column in UTF-8 bytes from 0."""
        return self.line_starts[line - 1] + column

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both 1-based, the column in characters."""
        line = bisect_right(self.line_starts, offset)
        start = self.line_starts[line - 1]
        return line, len(self.utf8[start:offset].decode(errors="replace")) + 1

    def line_bytes(self, line: int) -> bytes:
        """The line (1-based) with its ending."""
        starts = self.line_starts
        return self.utf8[starts[line - 1] : starts[line] if line < len(starts) else len(self.utf8)]

    def indent(self, line: int) -> str:
        """The white space at the start of a line (1-based)."""
        raw = self.line_bytes(line).decode()
        return raw[: len(raw) - len(raw.lstrip(" \t\x0c"))]
