"""Edits as byte spans over one snapshot of a file, and how they are applied."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace bytes `start:end` of the UTF-8 snapshot by `text`; `start == end` inserts.

    `order` says how insertions at one place follow each other, whoever makes them; 0 is no order.
    """

    start: int
    end: int
    text: str
    order: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"an edit cannot span {self.start}:{self.end}")

    def __lt__(self, other: Edit) -> bool:
        return (self.start, self.end, self.order, self.text) < (other.start, other.end, other.order, other.text)

    def overlaps(self, other: Edit) -> bool:
        """Whether both cannot be applied to one snapshot; two different insertions at one place overlap too,
        unless both say in which order they follow: it would be a guess."""
        if self.start == other.start and self.end == other.end:
            if self.start == self.end and self.order and other.order and self.order != other.order:
                return False
            return self != other
        if self.start == self.end or other.start == other.end:
            point, span = (self, other) if self.start == self.end else (other, self)
            return span.start < point.start < span.end
        return self.start < other.end and other.start < self.end


def conflict(edits: Iterable[Edit], others: Sequence[Edit]) -> bool:
    """Whether any of `edits` overlaps any of `others`."""
    return any(edit.overlaps(other) for edit in edits for other in others)


def apply_edits(snapshot: bytes, edits: Iterable[Edit]) -> bytes:
    """Apply edits that do not overlap to `snapshot`; equal edits count once.

    Raises ValueError when two edits overlap or one lies outside the snapshot.
    """
    ordered = sorted(set(edits))
    pieces: list[bytes] = []
    position = 0
    for edit in ordered:
        if edit.start < position or edit.end > len(snapshot):
            raise ValueError(f"edit {edit} overlaps another or lies outside the file")
        pieces += (snapshot[position : edit.start], edit.text.encode())
        position = edit.end
    return b"".join((*pieces, snapshot[position:]))


def minimal_edits(before: bytes, after: bytes, offset: int = 0) -> list[Edit]:
    """The edits that turn `before` into `after`, line by line and trimmed to what differs within them.

    `offset` is where `before` starts in the file.
    """
    from difflib import SequenceMatcher

    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [offset]
    for line in old:
        starts.append(starts[-1] + len(line))
    edits = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            edits.append(_trim(b"".join(old[i1:i2]), b"".join(new[j1:j2]), starts[i1]))
    return edits


def _trim(old: bytes, new: bytes, start: int) -> Edit:
    limit = min(len(old), len(new))
    head = 0
    while head < limit and old[head] == new[head]:
        head += 1
    while head and (_continues(old, head) or _continues(new, head)):
        head -= 1
    tail = 0
    while tail < limit - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    while tail and (_continues(old, len(old) - tail) or _continues(new, len(new) - tail)):
        tail -= 1
    return Edit(start + head, start + len(old) - tail, new[head : len(new) - tail].decode())


def _continues(data: bytes, position: int) -> bool:
    """Whether `position` lies inside a UTF-8 sequence."""
    return position < len(data) and data[position] & 0xC0 == 0x80
