"""A text of the user's in place of a proposed one: what is handed to the editor, and the fix that comes back."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..engine.apply import DoesNotParse, apply_fixes
from ..source.edits import Edit, apply_edits
from ..source.fixes import Applicability, Fix
from ..source.text import SourceText
from .items import Item

_HEAD = "#| "
# Those of Python: a form feed, say, is a part of a line.
_LINES = re.compile(r"\r\n|\n|\r")


class BadEdit(Exception):
    """What came back cannot be used; `str()` says why."""


@dataclass(frozen=True)
class Draft:
    """Lines `first` to `last` (1-based) of the snapshot, and the `text` that is proposed for them."""

    item: Item
    fix: Fix | None
    first: int
    last: int
    text: str

    @property
    def _lines(self) -> str:
        cell, first, _ = self.item.source.place(self.item.source.line_starts[self.first - 1])
        return f"lines {first} to {first + self.last - self.first}" + (f" of cell {cell}" if cell else "")

    @property
    def document(self) -> str:
        """What the editor shows."""
        finding = self.item.finding
        what = f"{self.item.path.name}, {self._lines}: {finding.code} {finding.message}"
        note = "This text replaces them. Lines that begin with #| are dropped; an empty file keeps things as they are."
        return f"{_HEAD}{what}\n{_HEAD}{note}\n{self.text}"


def draft(item: Item, fix: Fix | None) -> Draft:
    """The lines that a fix changes, or, without one, those of the finding."""
    source = item.source
    edits = fix.edits if fix is not None else ()
    spans = [(e.start, e.end) for e in edits] or [(item.finding.span.start, item.finding.span.end)]
    first = source.position(min(start for start, _ in spans))[0]
    last = source.position(max(max(start, end - 1) for start, end in spans))[0]
    start, end = _bounds(source, first, last)
    shifted = [Edit(e.start - start, e.end - start, e.text, e.order) for e in edits]
    return Draft(item, fix, first, last, apply_edits(source.utf8[start:end], shifted).decode())


def edited(draft: Draft, document: str) -> Fix | None:
    """The fix that the user's document makes; None when nothing is left in it, or nothing was changed by hand and
    there was no fix. Raises BadEdit when the file would not parse."""
    source = draft.item.source
    lines = [line for line in _LINES.split(document) if not line.startswith(_HEAD.rstrip())]
    if lines and not lines[-1]:
        lines.pop()
    if not any(line.strip() for line in lines):
        return None
    start, end = _bounds(source, draft.first, draft.last)
    old = source.utf8[start:end].decode()
    text = source.newline.join(lines)
    if old.endswith(("\n", "\r")):
        text += source.newline
    if text == old:
        return None
    if text == draft.text and draft.fix is not None:
        return draft.fix
    imports = draft.fix.imports if draft.fix is not None else ()
    fix = Fix("Your own text", (Edit(start, end, text),), Applicability.UNSAFE, "written by hand", imports)
    try:
        apply_fixes(source, [fix]).to_bytes()
    except DoesNotParse as error:
        raise BadEdit(str(error)) from None
    except UnicodeEncodeError as error:
        raise BadEdit(f"the file is written in {source.encoding}, which has no {error.object[error.start]!r}") from None
    return fix


def _bounds(source: SourceText, first: int, last: int) -> tuple[int, int]:
    start = source.line_starts[first - 1]
    return start, source.line_starts[last] if last < len(source.line_starts) else len(source.utf8)
