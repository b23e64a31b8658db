"""Findings with an identity that outlives edits of their file, so that a decision can be kept for the next time."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from ..rules.finding import Finding
from ..source.fixes import Applicability, Fix
from ..source.text import SourceText

# What a message says of other lines, which move when something is written above them.
_LINE = re.compile(r"\b(lines?) \d+(?: (?:to|and) \d+)?")


@dataclass(frozen=True, eq=False)
class Item:
    """One finding over the snapshot `source`. `key` is made of what the finding says and of the text that it is about,
    not of its place. `new` marks what an earlier review of the file had not met."""

    key: str
    path: Path
    source: SourceText
    finding: Finding
    new: bool = False
    fixes: tuple[Fix, ...] = field(init=False, repr=False)
    """Those that can be applied, in order of preference."""
    said: str = field(init=False, repr=False)
    """What a word of a filter is looked for in, besides the path: in small letters. Made with the item, since the first
    filter would have to wait for that of thousands."""

    def __post_init__(self) -> None:
        finding = self.finding
        fixes = tuple(f for f in finding.fixes if f.applicability is not Applicability.MANUAL)
        code = self.source.utf8[finding.span.start : finding.span.end].decode(errors="replace")
        said = "\n".join((finding.code, finding.name, finding.message, finding.region, code)).lower()
        object.__setattr__(self, "fixes", fixes)
        object.__setattr__(self, "said", said)

    @cached_property
    def line(self) -> int:
        """1-based."""
        return self.source.position(self.finding.span.start)[0]

    @cached_property
    def line_shown(self) -> str:
        """The line as lists show it: `5`, or `3:2` for line 2 of cell 3."""
        return shown_line(*self.source.line_in_cell(self.line))

    @property
    def line_named(self) -> str:
        """What the line is called: `line 5`, or `line 2 of cell 3`."""
        return self.source.line_named(self.line)

    @cached_property
    def by_hand(self) -> tuple[Fix, ...]:
        """The advice that only a person can follow."""
        return tuple(f for f in self.finding.fixes if f.applicability is Applicability.MANUAL)

    @property
    def applicability(self) -> Applicability:
        """That of the preferred fix; manual where there is none."""
        return self.fixes[0].applicability if self.fixes else Applicability.MANUAL


def itemize(
    path: Path, source: SourceText, findings: Sequence[Finding], *, known: Iterable[str] = (),
    taken: Iterable[str] = (), seen: frozenset[str] | None = None,
) -> tuple[Item, ...]:  # fmt: skip
    """The findings as items. Equal ones are numbered in their order: they get the keys of `known` that fit, in order,
    then keys that neither `known` nor `taken` has. With `seen`, what is not in it is new."""
    waiting: defaultdict[str, deque[str]] = defaultdict(deque)
    used: Counter[str] = Counter()
    for key in known:
        waiting[_bare(key)].append(key)
    for key in (*taken, *(key for keys in waiting.values() for key in keys)):
        used[_bare(key)] = max(used[_bare(key)], int(key.rpartition("-")[2]) + 1)
    items = []
    for bare, finding in zip(_fingerprints(source, findings), findings, strict=True):
        if waiting[bare]:
            key = waiting[bare].popleft()
        else:
            key = f"{bare}-{used[bare]}"
            used[bare] += 1
        items.append(Item(key, path, source, finding, seen is not None and key not in seen))
    return tuple(items)


def followed(items: Sequence[Item], before: Iterable[Item]) -> tuple[Item, ...]:
    """The items, those of which stand for one of `before` that says something else now, of the same code in the same
    function, under its key."""
    keys = {item.key for item in items}
    gone: defaultdict[tuple[str, str, bytes], deque[str]] = defaultdict(deque)
    known = set()
    for item in before:
        known.add(item.key)
        if item.key not in keys:
            gone[_about(item)].append(item.key)
    if not gone:
        return tuple(items)
    found = []
    for item in items:
        waiting = gone.get(_about(item)) if item.key not in known else None
        found.append(replace(item, key=waiting.popleft(), new=False) if waiting else item)
    return tuple(found)


def _about(item: Item) -> tuple[str, str, bytes]:
    span = item.finding.span
    return item.finding.code, item.finding.region, b" ".join(item.source.utf8[span.start : span.end].split())


def _fingerprints(source: SourceText, findings: Iterable[Finding]) -> Iterator[str]:
    for finding in findings:
        text = b" ".join(source.utf8[finding.span.start : finding.span.end].split())
        message = _LINE.sub(r"\1", finding.message)
        said = "\0".join((finding.code, finding.region, message, "")).encode()
        yield f"{finding.code}-{blake2b(said + text, digest_size=8).hexdigest()}"


def shown_line(cell: int | None, line: int) -> str:
    """`5`, or `3:2` in a cell; the mark of a cell has no number."""
    return str(line) if cell is None else f"{cell}:{line}" if line else ""


def numbered(key: str) -> tuple[str, int]:
    """What keys are sorted by to come in the order of their findings, among equal ones."""
    bare, _, number = key.rpartition("-")
    return bare, int(number)


def _bare(key: str) -> str:
    return key.rpartition("-")[0]
