"""What a fix changes, as lines to show: in context, with the changed part of each line marked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from ..report.rows import complete_edits
from ..source.edits import Edit, apply_edits, conflict
from ..source.fixes import Fix
from ..source.text import SourceText
from .items import Item, shown_line
from .state import FileReview

CONTEXT = 3
# An import that is added needs less.
_OF_IMPORTS = 1
_WORDS = re.compile(r"\w+|\s+|.")


@dataclass(frozen=True)
class Line:
    """One line of a side. `mark` is `-`, `+` or a blank; `changed` are the parts, in characters, that differ from the
    line that it is shown against, or that a finding is about; `shown` is what its number is called, that in its cell in
    a notebook."""

    mark: str
    number: int
    text: str
    changed: tuple[tuple[int, int], ...] = ()
    shown: str = ""


Pair = tuple[Line | None, Line | None]


@dataclass(frozen=True)
class Hunk:
    """Lines of the old and the new side next to each other; None where a side has none."""

    pairs: tuple[Pair, ...]

    def unified(self) -> Iterator[tuple[Line, int | None]]:
        """The lines one below the other, with the number of the new side where the line is in both."""
        removed: list[Line] = []
        added: list[Line] = []
        for old, new in self.pairs:
            if old is not None and new is not None and old.mark == " ":
                yield from self._flush(removed, added)
                yield old, new.number
                continue
            removed += [old] if old is not None else []
            added += [new] if new is not None else []
        yield from self._flush(removed, added)

    @staticmethod
    def _flush(removed: list[Line], added: list[Line]) -> Iterator[tuple[Line, int | None]]:
        yield from ((line, None) for line in removed)
        yield from ((line, line.number) for line in added)
        removed.clear()
        added.clear()


def hunks(file: FileReview, item: Item, fix: Fix | None, context: int = CONTEXT) -> list[Hunk]:
    """What `fix` changes, on top of what is accepted in the same lines; without a fix, the lines of the finding."""
    source = item.source
    if fix is None:
        return [Hunk(tuple(_numbered(source, _place(source, item, context).pairs, Counter())))]
    edits = complete_edits(source, fix)
    others = [e for e in _accepted(file, item) if not conflict([e], edits)]
    found = []
    shift = 0
    grown: Counter[int | None] = Counter()
    around = [(edit, context if edit in fix.edits else min(context, _OF_IMPORTS)) for edit in edits]
    for first, last, group in _groups(source, around):
        start, end = _bounds(source, first, last)
        beside = [e for e in others if start <= e.start and e.end <= end and e not in group]
        old = _applied(source, start, end, beside)
        new = _applied(source, start, end, [*beside, *group])
        pairs = tuple(_pairs(old, new, first, first + shift))
        shift += len(new) - len(old)
        found.append(Hunk(tuple(_numbered(source, pairs, grown))))
    return found


def _numbered(source: SourceText, pairs: Iterable[Pair], grown: Counter[int | None]) -> Iterator[Pair]:
    """The lines with the numbers that a reader knows them by. `grown` are the lines that hunks before have added, by
    cell."""
    cell, old_line, new_line = None, 0, 0
    begun = False
    for old, new in pairs:
        if old is not None:
            before = cell
            cell, old_line = source.line_in_cell(old.number)
            if not begun or cell != before:
                begun, new_line = True, old_line - 1 + grown[cell]
            old = replace(old, shown=shown_line(cell, old_line))
        if new is not None:
            new_line += 1
            new = replace(new, shown=shown_line(cell, new_line) if begun else str(new.number))
        grown[cell] += (new is not None) - (old is not None)
        yield old, new


def _accepted(file: FileReview, item: Item) -> Iterator[Edit]:
    for layer in file.layers:
        if layer.source is item.source:
            for key, decision in layer.decisions.items():
                if key != item.key:
                    yield from decision.fix.edits


def _groups(source: SourceText, edits: Iterable[tuple[Edit, int]]) -> Iterator[tuple[int, int, list[Edit]]]:
    """Edits whose surroundings, that many lines, touch, with the first and last line of these."""
    total = len(source.line_starts)
    group: list[Edit] = []
    first = last = 0
    for edit, context in sorted(edits):
        start = source.position(edit.start)[0]
        end = source.position(max(edit.start, edit.end - 1))[0]
        if group and start - context <= last + 1:
            group.append(edit)
            last = max(last, min(total, end + context))
            continue
        if group:
            yield first, last, group
        group, first, last = [edit], max(1, start - context), min(total, end + context)
    if group:
        yield first, last, group


def _bounds(source: SourceText, first: int, last: int) -> tuple[int, int]:
    end = source.line_starts[last] if last < len(source.line_starts) else len(source.utf8)
    return source.line_starts[first - 1], end


def _applied(source: SourceText, start: int, end: int, edits: Iterable[Edit]) -> list[str]:
    shifted = [Edit(e.start - start, e.end - start, e.text, e.order) for e in edits]
    text = apply_edits(source.utf8[start:end], shifted).decode(errors="replace")
    lines = re.split(r"\r\n|\n|\r", text)
    return lines[:-1] if lines and not lines[-1] else lines


def _pairs(
    old: Sequence[str], new: Sequence[str], first_old: int, first_new: int
) -> Iterator[Pair]:
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                yield Line(" ", first_old + i, old[i]), Line(" ", first_new + j, new[j])
            continue
        for n in range(max(i2 - i1, j2 - j1)):
            i, j = i1 + n, j1 + n
            before = old[i] if i < i2 else None
            after = new[j] if j < j2 else None
            left, right = _changed(before, after) if before is not None and after is not None else ((), ())
            yield (
                None if before is None else Line("-", first_old + i, before, left),
                None if after is None else Line("+", first_new + j, after, right),
            )


def _changed(old: str, new: str) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """The parts of two lines that differ; nothing for lines that have little in common, since all of them does."""
    left, right = _WORDS.findall(old), _WORDS.findall(new)
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    if matcher.ratio() < 0.3:
        return (), ()
    starts = [_offsets(words) for words in (left, right)]
    removed, added = [], []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            if i1 < i2:
                removed.append((starts[0][i1], starts[0][i2]))
            if j1 < j2:
                added.append((starts[1][j1], starts[1][j2]))
    return tuple(removed), tuple(added)


def _offsets(words: Sequence[str]) -> list[int]:
    offsets = [0]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    return offsets


def _place(source: SourceText, item: Item, context: int) -> Hunk:
    """The lines of a finding, its own part marked."""
    line, column = source.position(item.finding.span.start)
    last, end = source.position(item.finding.span.end)
    pairs = []
    for number in range(max(1, line - context), min(len(source.line_starts), last + context) + 1):
        text = source.line_bytes(number).decode(errors="replace").rstrip("\r\n")
        marked: tuple[tuple[int, int], ...] = ()
        if line <= number <= last:
            start = column - 1 if number == line else len(text) - len(text.lstrip())
            stop = end - 1 if number == last else len(text)
            marked = ((start, stop),) if start < stop else ()
        shown = Line(" ", number, text, marked)
        pairs.append((shown, shown))
    return Hunk(tuple(pairs))
