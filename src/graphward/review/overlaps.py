"""Which edits are in each other's way, found without looking at all of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence

from ..rules.finding import Finding
from ..source.edits import Edit
from ..source.fixes import Fix
from .items import Item


def crowds(items: Sequence[Item]) -> list[list[Item]]:
    """The items of one snapshot that may be in each other's way, whichever of their fixes are taken: those whose edits,
    or places where there is no fix, touch, directly or through others. Most items are alone, and in none of them."""
    reach: list[tuple[int, int, int]] = []
    for number, item in enumerate(items):
        span = item.finding.span
        reach += [(e.start, e.end, number) for fix in item.fixes for e in fix.edits] or [(span.start, span.end, number)]
    reach.sort()
    head = list(range(len(items)))  # of the crowd that an item belongs to

    def find(number: int) -> int:
        while head[number] != number:
            head[number] = number = head[head[number]]
        return number

    far, last = -1, 0
    for start, end, number in reach:
        if start <= far:
            head[find(number)] = find(last)
        far, last = max(far, end), number
    found: defaultdict[int, list[Item]] = defaultdict(list)
    for number, item in enumerate(items):
        found[find(number)].append(item)
    return [crowd for crowd in found.values() if crowd[1:]]


class Taken:
    """The edits of accepted fixes, each with its owner; they do not overlap one another."""

    def __init__(self, owned: Iterable[tuple[str, Fix]]):
        self._all = sorted(
            ((edit, key) for key, fix in owned for edit in fix.edits), key=lambda pair: (pair[0].start, pair[0].end)
        )
        self._starts = [edit.start for edit, _ in self._all]
        self._ends = [edit.end for edit, _ in self._all]  # as ordered as the starts, since nothing overlaps

    def claim(self, key: str, fix: Fix) -> bool:
        """Add a fix unless something is in the way of it; whether it was added."""
        edits = fix.edits
        if len(edits) == 1 and self._ends and edits[0].start > self._ends[-1]:
            edit = edits[0]  # as most do: a file is gone through in order
            self._starts.append(edit.start)
            self._ends.append(edit.end)
            self._all.append((edit, key))
            return True
        if self.in_the_way(fix) is not None:
            return False
        self._add(key, fix)
        return True

    def _add(self, key: str, fix: Fix) -> None:
        """One more fix, which nothing is in the way of."""
        for edit in fix.edits:
            at = bisect_right(self._starts, edit.start)
            while at and self._starts[at - 1] == edit.start and self._ends[at - 1] > edit.end:
                at -= 1  # what is inserted there comes first
            self._starts.insert(at, edit.start)
            self._ends.insert(at, edit.end)
            self._all.insert(at, (edit, key))

    def in_the_way(self, fix: Fix) -> str | None:
        """The owner of an edit that `fix` cannot be applied together with. Equal edits count too: what is accepted
        already does what `fix` would do."""
        starts, ends = self._starts, self._ends
        for edit in fix.edits:
            start, end = edit.start, edit.end
            before = bisect_right(starts, end)
            if not before or ends[before - 1] < start:
                continue  # as most do: all findings of a file ask for it after each decision
            for other, owner in self._near(start, end):
                if edit.overlaps(other) or edit == other:
                    return owner
        return None

    def within(self, finding: Finding) -> str | None:
        """The owner of an edit that changes the place of `finding`."""
        place = Edit(finding.span.start, finding.span.end, "\0")
        near = self._near(place.start, place.end)
        return next((owner for other, owner in near if place.overlaps(other)), None)

    def _near(self, start: int, end: int) -> list[tuple[Edit, str]]:
        """The edits that touch these bytes, and a few more."""
        starts = self._starts
        first = bisect_left(starts, start)
        if first:  # the one before may reach in; edits at one place are neighbours
            first = bisect_left(starts, starts[first - 1])
        last = first
        while last < len(starts) and starts[last] <= end:
            last += 1
        return self._all[first:last]
