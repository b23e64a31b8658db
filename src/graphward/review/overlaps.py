"""Which edits are in each other's way, found without looking at all of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from ..rules.finding import Finding
from ..source.edits import Edit
from ..source.fixes import Fix


class Taken:
    """The edits of accepted fixes, each with its owner; they do not overlap one another."""

    def __init__(self, owned: Iterable[tuple[str, Fix]]):
        self._all = sorted(((edit, key) for key, fix in owned for edit in fix.edits), key=lambda pair: pair[0])
        self._starts = [edit.start for edit, _ in self._all]

    def in_the_way(self, fix: Fix) -> str | None:
        """The owner of an edit that `fix` cannot be applied together with. Equal edits count too: what is accepted
        already does what `fix` would do."""
        return next((owner for edit in fix.edits for other, owner in self._near(edit)
                     if edit == other or edit.overlaps(other)), None)  # fmt: skip

    def within(self, finding: Finding) -> str | None:
        """The owner of an edit that changes the place of `finding`."""
        place = Edit(finding.span.start, finding.span.end, "\0")
        return next((owner for other, owner in self._near(place) if place.overlaps(other)), None)

    def _near(self, edit: Edit) -> Iterable[tuple[Edit, str]]:
        """The edits that touch `edit`, and a few more."""
        first = bisect_left(self._starts, edit.start)
        if first:  # the one before may reach in; edits at one place are neighbours
            first = bisect_left(self._starts, self._starts[first - 1])
        for i in range(first, len(self._all)):
            if self._starts[i] > edit.end:
                return
            yield self._all[i]
