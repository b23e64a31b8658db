"""Decisions found again on another text than the one that they were taken on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..engine import silencing
from ..source.edits import Edit
from ..source.fixes import Applicability, Fix, ImportRequest
from .items import Item
from .overlaps import Taken
from .state import BY_HAND, SUPPRESSION, Decision, FileReview, Layer, Snapshot


@dataclass(frozen=True)
class SavedFix:
    """A decision: the finding's key, the number and the title of the alternative (BY_HAND and SUPPRESSION included),
    and, of a text by hand, what it replaced and what it put there."""

    key: str
    choice: int
    title: str
    before: str = ""
    after: str = ""
    imports: tuple[tuple[str, str, str], ...] = ()


def saved_fix(decision: Decision) -> SavedFix:
    """What is kept of a decision."""
    fix, key, choice = decision.fix, decision.item.key, decision.choice
    if choice != BY_HAND:
        return SavedFix(key, choice, fix.title)
    edit = fix.edits[0]
    before = decision.item.source.utf8[edit.start : edit.end].decode()
    imports = tuple((i.module, i.name, i.alias) for i in fix.imports)
    return SavedFix(key, choice, fix.title, before, edit.text, imports)


def rebased(file: FileReview, now: FileReview) -> FileReview:
    """An earlier state of the review of a file that was read again since, on the text of `now`: without the decisions
    that do not fit it, or of which only a check could tell."""
    layers: list[Layer] = []
    snapshot: Snapshot | None = now.layers[0].snapshot
    for number, layer in enumerate(file.layers):
        if snapshot is None:
            break
        layers.append(Layer(snapshot))
        decisions = refound(layers[-1], [saved_fix(decision) for decision in layer.decisions.values()])
        layers[-1] = replace(layers[-1], decisions=decisions)
        snapshot = _above(now, number, decisions)
    if len(layers) > 1 and not layers[-1].decisions:
        layers.pop()
    return FileReview(file.path, tuple(layers), file.rejected)


def _above(file: FileReview, number: int, decisions: dict[str, Decision]) -> Snapshot | None:
    """What was found in the text that these decisions of a layer make, if that is known."""
    if number >= len(file.layers) or dict(file.layers[number].decisions) != decisions:
        return None
    return file.layers[number + 1].snapshot if number + 1 < len(file.layers) else file.fresh


def refound(layer: Layer, fixes: Sequence[SavedFix]) -> dict[str, Decision]:
    """The saved decisions that still fit what was found, and each other."""
    items = layer.snapshot.by_key
    decisions: dict[str, Decision] = {}
    taken = Taken(())
    for saved in fixes:
        item = items.get(saved.key)
        fix = None if item is None else _again(item, saved)
        if item is not None and fix is not None and taken.claim(item.key, fix):
            decisions[item.key] = Decision(item, fix, saved.choice)
    return decisions


def _again(item: Item, saved: SavedFix) -> Fix | None:
    if saved.choice == SUPPRESSION:
        return silencing.on_line(item.source, item.finding)
    if saved.choice == BY_HAND:
        edit = _edit_again(item, saved)
        imports = tuple(ImportRequest(*names) for names in saved.imports)
        if edit is None:
            return None
        return Fix(saved.title, (edit,), Applicability.UNSAFE, "written by hand", imports)
    return next((fix for fix in item.fixes if fix.title == saved.title), None)


def _edit_again(item: Item, saved: SavedFix) -> Edit | None:
    """The lines that a text by hand replaced, if they still stand around the finding, or stand in one place only."""
    data, before = item.source.utf8, saved.before.encode()
    starts = [start for start in item.source.line_starts if before and data.startswith(before, start)]
    here = item.finding.span.start
    around = [start for start in starts if start <= here < start + len(before)]
    chosen = around[:1] or (starts if len(starts) == 1 else [])
    return Edit(chosen[0], chosen[0] + len(before), saved.after) if chosen else None
