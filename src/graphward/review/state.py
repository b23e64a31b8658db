"""Where a review stands: immutable, and nothing of it is drawn.

The decisions on a file are taken in layers. The first layer is the file as it was read; what is accepted over it are
fixes that can be applied together. What overlaps them has to wait until the file has been checked again with them
applied (`fresh`); accepting one of those begins the next layer, whose source is that text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path

from ..source.fixes import Applicability, Fix
from ..source.paths import display
from ..source.text import SourceText
from ..verify.verdicts import Verdict
from .filters import Filter
from .items import Item
from .overlaps import Taken, crowds
from .status import Status

BY_HAND, SUPPRESSION = -1, -2


@dataclass(frozen=True)
class Decision:
    """A fix that was accepted: the number of the alternative, BY_HAND for a text of the user's, SUPPRESSION for a
    comment that silences the rule."""

    item: Item
    fix: Fix
    choice: int

    @property
    def status(self) -> Status:
        return Status.SUPPRESSED if self.choice == SUPPRESSION else Status.ACCEPTED

    @property
    def entry(self) -> Entry:
        """Its line of the list; remembered."""
        known: Entry | None = self.__dict__.get("_entry")
        if known is None:
            known = self.__dict__["_entry"] = Entry(self.item, self.status, self)
        return known


def decision_on(item: Item, number: int) -> Decision:
    """An alternative of a finding as a decision; remembered, since one key press takes thousands, again and again."""
    known: dict[int, Decision] = item.__dict__.setdefault("_decisions", {})
    if number not in known:
        known[number] = Decision(item, item.fixes[number], number)
    return known[number]


@dataclass(frozen=True)
class Snapshot:
    """A text, and all that was found in it."""

    source: SourceText
    items: tuple[Item, ...]

    @cached_property
    def name(self) -> str:
        """The path as people see it, in small letters: what a word of a filter is looked for in."""
        return display(self.source.path).lower()

    @cached_property
    def by_key(self) -> dict[str, Item]:
        return {item.key: item for item in self.items}

    @cached_property
    def ordered(self) -> list[Item]:
        """In the order of the lines."""
        return sorted(self.items, key=_place_in_file)

    @cached_property
    def preferred(self) -> dict[str, Decision]:
        """What accepting all would take, in the order of the lines."""
        return {item.key: decision_on(item, 0) for item in self.ordered if item.fixes}

    @cached_property
    def safe(self) -> dict[str, Decision]:
        """What accepting all safe ones would take: the preferred fix that is safe."""
        found = {}
        for item in self.ordered:
            for number, fix in enumerate(item.fixes):
                if fix.applicability is Applicability.SAFE:
                    found[item.key] = decision_on(item, number)
                    break
        return found

    @cached_property
    def by_rule(self) -> dict[str, dict[str, Decision]]:
        """What accepting all of a rule would take, by its code."""
        found: dict[str, dict[str, Decision]] = {}
        for key, decision in self.preferred.items():
            found.setdefault(decision.item.finding.code, {})[key] = decision
        return found

    @cached_property
    def crowds(self) -> list[list[Item]]:
        """Items that may be in each other's way."""
        return crowds(self.items)

    @cached_property
    def crowded(self) -> frozenset[str]:
        """The keys of all that belong to one of `crowds`."""
        return frozenset(item.key for crowd in self.crowds for item in crowd)

    def prepare(self) -> None:
        """Find out now what a key press would have to find out of thousands."""
        for known in (self.name, self.by_key, self.safe, self.by_rule, self.crowded):
            assert known is not None


@dataclass(frozen=True)
class Layer:
    """Decisions, by key, over one snapshot."""

    snapshot: Snapshot
    decisions: Mapping[str, Decision] = field(default_factory=dict)

    @property
    def source(self) -> SourceText:
        return self.snapshot.source

    @property
    def items(self) -> tuple[Item, ...]:
        return self.snapshot.items

    @cached_property
    def taken(self) -> Taken:
        return Taken((key, d.fix) for key, d in self.decisions.items())

    @cached_property
    def blocked(self) -> dict[str, tuple[str, bool]]:
        """Undecided items that an accepted fix is in the way of: its key, and whether it makes the same edits."""
        found: dict[str, tuple[str, bool]] = {}
        decisions = self.decisions
        if not decisions:
            return found
        # Alternatives are in the way of their crowd alone, other texts of anything.
        beside = [(key, d.fix) for key, d in decisions.items() if d.choice < 0]
        if not beside and decisions.keys().isdisjoint(self.snapshot.crowded):
            return found
        for crowd in self.snapshot.crowds:
            keys = [item.key for item in crowd if item.key in decisions]
            if (keys or beside) and len(keys) < len(crowd):
                known = {key: decisions[key].fix for key in keys} | dict(beside)
                self._find_blocked(crowd, Taken(known.items()), found)
        if beside:
            crowded = self.snapshot.crowded
            alone = [item for item in self.snapshot.items if item.key not in crowded]
            self._find_blocked(alone, Taken(beside), found)
        return found

    def _find_blocked(self, items: Iterable[Item], taken: Taken, found: dict[str, tuple[str, bool]]) -> None:
        for item in items:
            key, fixes = item.key, item.fixes
            if key in self.decisions:
                continue
            owner = taken.in_the_way(fixes[0]) if fixes else taken.within(item.finding)
            if owner is not None:
                found[key] = owner, bool(fixes) and fixes[0].edits == self.decisions[owner].fix.edits


@dataclass(frozen=True)
class Entry:
    """One line of the list. `note` says why the finding is in that state. `decided_by` is the key of the finding whose
    accepted fix is in the way, or has mended this one too."""

    item: Item
    status: Status
    decision: Decision | None = None
    note: str = ""
    decided_by: str = ""

    @property
    def key(self) -> str:
        return self.item.key


@dataclass(frozen=True)
class FileReview:
    """The review of one file. `fresh` is None as long as nobody knows what the accepted fixes have changed; `refused`
    says of findings why their fix could not be taken; `apart` are those whose fix does not go together with what is
    accepted, though no edit of it is in the way."""

    path: Path
    layers: tuple[Layer, ...]
    rejected: frozenset[str] = frozenset()
    fresh: Snapshot | None = None
    refused: Mapping[str, str] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()

    @property
    def original(self) -> SourceText:
        """The file as it was read."""
        return self.layers[0].source

    @property
    def top(self) -> Layer:
        """Where decisions are taken now."""
        return self.layers[-1]

    @cached_property
    def decisions(self) -> dict[str, tuple[int, Decision]]:
        """All that are accepted, with the number of their layer."""
        return {key: (n, d) for n, layer in enumerate(self.layers) for key, d in layer.decisions.items()}

    @cached_property
    def waiting(self) -> Collection[str]:
        """Findings that cannot be decided over the text that decisions are taken on now."""
        return self.top.blocked.keys() | self.apart if self.apart else self.top.blocked

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """The list of this file, by key, in the order of the lines."""
        if len(self.layers) == 1 and self.fresh is None:
            return self._entries_of_first()
        items: dict[str, Item] = {}
        for layer in self.layers:
            items.update((item.key, item) for item in layer.items)
        items.update((key, decision.item) for key, (_, decision) in self.decisions.items())
        if self.fresh is not None:
            for item in self.fresh.items:
                known = items.get(item.key)
                if known is None or known.source is not self.top.source or item.key in self.waiting:
                    items[item.key] = item
        ordered = sorted(items.values(), key=_place_in_file)
        return {item.key: self._entry(item) for item in ordered}

    def _entries_of_first(self) -> dict[str, Entry]:
        """The same as long as there is one layer and nothing is known of what it changes: then most are open or
        accepted, and a decision on thousands has to be listed within one key press."""
        layer = self.top
        special = self.rejected.union(self.refused, self.waiting)
        known = {key: decision.entry for key, decision in layer.decisions.items()}
        return {
            item.key: known.get(item.key) or (self._entry(item) if item.key in special else _open(item))
            for item in layer.snapshot.ordered
        }

    def _entry(self, item: Item) -> Entry:
        key = item.key
        if key in self.decisions:
            return self.decisions[key][1].entry
        if key in self.rejected:
            return Entry(item, Status.REJECTED, note=self.refused.get(key, ""))
        owner, same = self.top.blocked.get(key, ("", False))
        gone = item.source is not self.top.source if self.fresh is None else key not in self.fresh.by_key
        if gone:
            return Entry(item, Status.UNNECESSARY, note="no longer needed: an accepted fix has mended it",
                         decided_by=owner)  # fmt: skip
        if self.fresh is None and same:
            return Entry(item, Status.UNNECESSARY, note="the same accepted fix mends it", decided_by=owner)
        if self.fresh is None and key in self.waiting:
            note = "overlaps an accepted fix; it is being checked again"
            return Entry(item, Status.WAITING, note=note, decided_by=owner)
        note = self.refused.get(key, "")
        if not note and self.fresh is not None and item.source is self.fresh.source:
            note = "on the text as the accepted fixes leave it"
        return Entry(item, Status.OPEN, note=note) if note else _open(item)

    @cached_property
    def counts(self) -> Counter[Status]:
        if "entries" in self.__dict__ or len(self.layers) > 1 or self.fresh is not None:
            return Counter(map(_status_of, self.entries.values()))
        # A decision on thousands is counted within one key press, in files most of which nobody sees.
        decisions, items = self.top.decisions, self.top.snapshot.by_key
        special = self.rejected.union(self.refused, self.waiting)
        special = (special & items.keys()) - decisions.keys() if special else special
        silenced = sum(decision.choice == SUPPRESSION for decision in decisions.values())
        found = Counter(self._entry(items[key]).status for key in special)
        found[Status.ACCEPTED] = len(decisions) - silenced
        found[Status.SUPPRESSED] = silenced
        found[Status.OPEN] += len(items) - len(decisions) - len(special)
        return found

    def visible(self, chosen: Filter) -> dict[str, Place]:
        """The places that the filter lets pass, by key, remembered for the last filter asked for."""
        known: tuple[Filter, dict[str, Place]] | None = self.__dict__.get("_visible")
        if known is None or (known[0] is not chosen and known[0] != chosen):
            path = self.path
            passing = chosen.passing(self.layers[0].snapshot.name, self.entries) if chosen else self.entries
            shown = {key: (path, key) for key in passing}
            known = self.__dict__["_visible"] = (chosen, shown)
        return known[1]

    def list_as(self, before: FileReview) -> None:
        """Take over the places of a file with the same findings, unless their states make a difference."""
        known = before.__dict__.get("_visible")
        if known is not None and not known[0].state:
            self.__dict__["_visible"] = known


_status_of = attrgetter("status")


def _place_in_file(item: Item) -> tuple[int, int]:
    return item.line, item.finding.span.start


def _open(item: Item) -> Entry:
    """The line of a finding of which there is nothing to say; remembered, since most of them stay so."""
    known: Entry | None = item.__dict__.get("_open")
    if known is None:
        known = item.__dict__["_open"] = Entry(item, Status.OPEN)
    return known


Place = tuple[Path, str]
"""A file and the key of a finding, empty for the file itself."""

Fixes = frozenset[tuple[str, Fix]]
"""What a proof is made with: the accepted fixes of a file, and what is shown for the finding in question."""


@dataclass(frozen=True)
class Step:
    """What undoing one action brings back: the files as they were, and the place."""

    files: Mapping[Path, FileReview]
    selected: Place | None
    what: str
    earlier: Step | None


@dataclass(frozen=True)
class Proof:
    """What a proof said of a target that runs through a finding, and the fixes of the file that it was made with."""

    verdict: Verdict
    fixes: Fixes


@dataclass(frozen=True)
class State:
    """The whole review. `choices` are the alternatives that are shown, by place; `message` is what the last action has
    to say."""

    files: Mapping[Path, FileReview]
    selected: Place | None = None
    choices: Mapping[Place, int] = field(default_factory=dict)
    filter: Filter = field(default_factory=Filter)
    collapsed: frozenset[Path] = frozenset()
    past: Step | None = None
    future: Step | None = None
    proofs: Mapping[Place, Proof] = field(default_factory=dict)
    message: str = ""

    @property
    def rows(self) -> list[Place]:
        """What the list shows: each file, and its findings below it."""
        return _LISTING.of(self)[0]

    def row_of(self, place: Place | None) -> int | None:
        """The number of the row of a place; None when the list does not show it."""
        start = _LISTING.of(self)[1].get(place[0]) if place is not None else None
        if place is None or start is None or not place[1]:
            return start
        if place[0] in self.collapsed:
            return None
        shown = list(self.files[place[0]].visible(self.filter))
        return start + 1 + shown.index(place[1]) if place[1] in shown else None

    @property
    def entry(self) -> Entry | None:
        """The finding that is selected."""
        if self.selected is None or not self.selected[1]:
            return None
        file = self.files.get(self.selected[0])
        return None if file is None else file.entries.get(self.selected[1])

    @property
    def file(self) -> FileReview | None:
        """The file that is selected, or that holds the selected finding."""
        return None if self.selected is None else self.files.get(self.selected[0])

    @cached_property
    def counts(self) -> Counter[Status]:
        total: dict[Status, int] = dict.fromkeys(Status, 0)
        for file in self.files.values():
            for status, count in file.counts.items():
                total[status] += count
        return Counter(total)

    def all_entries(self) -> Iterator[Entry]:
        """Whatever the filter says."""
        return (entry for file in self.files.values() for entry in file.entries.values())

    def alternatives(self, entry: Entry) -> tuple[Fix, ...]:
        """The fixes of a finding that can be accepted as things stand, in order of preference."""
        file = self.files[entry.item.path]
        if entry.item.source is not file.top.source or not file.top.decisions:
            return entry.item.fixes
        others = file.top.taken
        if entry.key in file.top.decisions:
            others = Taken((k, d.fix) for k, d in file.top.decisions.items() if k != entry.key)
        return tuple(f for f in entry.item.fixes if others.in_the_way(f) is None)

    def shown(self, entry: Entry) -> Fix | None:
        """The alternative that is shown; None when the finding has no fix that can be applied."""
        place = entry.item.path, entry.key
        if place not in self.choices and entry.decision is not None:
            return entry.decision.fix
        alternatives = self.alternatives(entry) or entry.item.fixes
        return alternatives[self.choices.get(place, 0) % len(alternatives)] if alternatives else None

    def fixes_of(self, entry: Entry) -> Fixes:
        """The fixes with which the region of a finding would be proven now."""
        fixes = {(key, decision.fix) for key, (_, decision) in self.files[entry.item.path].decisions.items()}
        shown = self.shown(entry)
        if shown is not None and entry.status is Status.OPEN:
            fixes.add((entry.key, shown))
        return frozenset(fixes)

    def with_file(self, file: FileReview) -> State:
        return replace(self, files={**self.files, file.path: file})


class _Listing:
    """The rows of the last state that was asked for, and where each file begins: most actions leave them as they are,
    and to list thousands anew for each would be felt."""

    def __init__(self) -> None:
        self._state: State | None = None
        self._shown: list[dict[str, Place]] = []
        self._rows: list[Place] = []
        self._starts: dict[Path, int] = {}

    def of(self, state: State) -> tuple[list[Place], dict[Path, int]]:
        last = self._state
        if last is None or last.files is not state.files or last.filter != state.filter \
                or last.collapsed != state.collapsed:  # fmt: skip
            shown = [file.visible(state.filter) for file in state.files.values()]
            same = last is not None and last.collapsed == state.collapsed and last.files.keys() == state.files.keys()
            if not same or list(map(id, shown)) != list(map(id, self._shown)):
                self._list(state, shown)
            self._state, self._shown = state, shown
        return self._rows, self._starts

    def _list(self, state: State, shown: list[dict[str, Place]]) -> None:
        rows: list[Place] = []
        starts: dict[Path, int] = {}
        for path, places in zip(state.files, shown, strict=True):
            if places:
                starts[path] = len(rows)
                rows.append((path, ""))
                if path not in state.collapsed:
                    rows += places.values()
        self._rows, self._starts = rows, starts


_LISTING = _Listing()


def first_place(state: State) -> Place | None:
    """Where a review begins: the first open finding that is shown."""
    for path, key in state.rows:
        if key and state.files[path].entries[key].status is Status.OPEN:
            return path, key
    return state.rows[0] if state.rows else None
