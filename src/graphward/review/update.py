"""The state machine: a state and an action give the next state. Nothing is read, written, run or drawn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..engine import silencing
from ..source.fixes import Fix
from . import actions as act
from .again import rebased
from .filters import BadFilter, parse_filter
from .overlaps import Taken
from .state import (
    BY_HAND,
    SUPPRESSION,
    Decision,
    Entry,
    FileReview,
    Layer,
    Place,
    Snapshot,
    State,
    Step,
    decision_on,
    first_place,
)
from .status import Status


def update(state: State, action: act.Action) -> State:
    """The state after `action`; what the user should know of it is its message."""
    message = state.message if isinstance(action, act.Checked) else ""
    return _HANDLERS[type(action)](replace(state, message=message), action)


# Decisions


def _accept(state: State, action: act.Accept) -> State:
    entry = state.entry
    if entry is None:
        return replace(state, message="Select a finding; F accepts all of this file.")
    fix = state.shown(entry)
    if fix is None:
        return replace(state, message="No fix can be applied here: e edits the text, s silences the rule, n rejects.")
    if entry.decision is not None and entry.decision.fix is fix:
        return _next_open(replace(state, message="It is accepted already."))
    number = BY_HAND if fix not in entry.item.fixes else entry.item.fixes.index(fix)
    return _taken(state, entry, fix, number)


def _take_text(state: State, action: act.TakeText) -> State:
    path, key = action.place
    entry = state.files[path].entries.get(key) if path in state.files else None
    if entry is None:
        return replace(state, message="The finding is gone; nothing was kept of the edited text.")
    if action.source not in (None, entry.item.source):
        return replace(state, message="The file has changed under this text; nothing was kept of it. e edits it anew.")
    number = entry.item.fixes.index(action.fix) if action.fix in entry.item.fixes else BY_HAND
    return _taken(state, entry, action.fix, number)


def _suppress(state: State, action: act.Suppress) -> State:
    entry = state.entry
    if entry is None:
        return replace(state, message="Select a finding to silence its rule there.")
    fix = silencing.on_line(entry.item.source, entry.item.finding)
    if fix is None:
        return replace(state, message="No line of this finding can hold a comment.")
    return _taken(state, entry, fix, SUPPRESSION)


def _taken(state: State, entry: Entry, fix: Fix, choice: int) -> State:
    before = state.files[entry.item.path]
    file = decide(before, entry, fix, choice)
    if isinstance(file, str):
        return replace(state, message=file)
    state = _changed(state, {file.path: file}, f"{entry.item.finding.code} on {entry.item.line_named}")
    said = "Silenced" if choice == SUPPRESSION else "Accepted"
    state = replace(state, message=f"{said}: {fix.title}.{_effects(before, file)}{_lost(before, file, entry.key)}")
    return _next_open(state)


def decide(file: FileReview, entry: Entry, fix: Fix, choice: int) -> FileReview | str:
    """The file with one more decision, or why that cannot be."""
    if entry.status is Status.WAITING:
        return f"This {entry.note}." if entry.note.startswith("overlaps") else entry.note
    if entry.status is Status.UNNECESSARY:
        return f"There is nothing to accept: {entry.note}."
    item, key = entry.item, entry.key
    decision = decision_on(item, choice) if choice >= 0 else Decision(item, fix, choice)
    file = _without(file, key)
    rejected, refused = file.rejected - {key}, {k: v for k, v in file.refused.items() if k != key}
    if item.source is file.top.source:
        apart = file.apart
        owner = file.top.taken.in_the_way(fix)
        if owner is not None:
            return f"This overlaps the fix accepted for {_named(file, owner)}: another alternative, or c there, may do."
        top = replace(file.top, decisions={**file.top.decisions, key: decision})
        layers = (*file.layers[:-1], top)
    elif file.fresh is not None and item.source is file.fresh.source:
        layers, apart = (*file.layers, Layer(file.fresh, {key: decision})), frozenset()
    else:
        return "The file has changed under this finding; it is being checked again."
    return replace(file, layers=layers, rejected=rejected, refused=refused, fresh=None, apart=apart)


def _without(file: FileReview, key: str) -> FileReview:
    """The file without the decision on `key`, and without the later ones that were taken on top of it."""
    if key not in file.decisions:
        return file
    number, _ = file.decisions[key]
    layer = file.layers[number]
    left = {k: d for k, d in layer.decisions.items() if k != key}
    layers = file.layers[:number] if number and not left else (*file.layers[:number], replace(layer, decisions=left))
    return replace(file, layers=layers, fresh=None, apart=frozenset())


def _reject(state: State, action: act.Reject) -> State:
    if state.entry is None:
        return _reject_file(state)
    entry = state.entry
    before = state.files[entry.item.path]
    file = _without(before, entry.key)
    refused = {k: v for k, v in file.refused.items() if k != entry.key}
    file = replace(file, rejected=file.rejected | {entry.key}, refused=refused)
    state = _changed(state, {file.path: file}, f"{entry.item.finding.code} on {entry.item.line_named}")
    return _next_open(replace(state, message=f"Rejected.{_lost(before, file, entry.key)}"))


def _reject_file(state: State) -> State:
    file = state.file
    if file is None:
        return state
    keys = {k for k in file.visible(state.filter) if file.entries[k].status is Status.OPEN}
    state = _changed(state, {file.path: replace(file, rejected=file.rejected | keys)}, "a file")
    return _next_open(replace(state, message=f"Rejected {_count(len(keys))} of this file."))


def _reopen(state: State, action: act.Reopen) -> State:
    entry = state.entry
    if entry is None or entry.status not in (Status.ACCEPTED, Status.SUPPRESSED, Status.REJECTED):
        return replace(state, message="There is no decision here to take back.")
    before = state.files[entry.item.path]
    file = _without(before, entry.key)
    file = replace(file, rejected=file.rejected - {entry.key})
    state = _changed(state, {file.path: file}, f"{entry.item.finding.code} on {entry.item.line_named}")
    return _kept(replace(state, message=f"Open again.{_lost(before, file, entry.key)}"))


def _accept_all(state: State, action: act.AcceptAll) -> State:
    entry, here = state.entry, state.file
    if action.scope is act.Scope.RULE and entry is None:
        return replace(state, message="Select a finding of the rule.")
    if here is None:
        return replace(state, message="There is nothing to accept.")
    code = entry.item.finding.code if entry is not None else ""
    changed: dict[Any, FileReview] = {}
    count = 0
    for file in [here] if action.scope is act.Scope.FILE or action.here else state.files.values():
        shown: Collection[str] | None = file.visible(state.filter) if state.filter or action.here else None
        if action.here and shown is not None and entry is not None and entry.key in shown:
            keys = list(shown)
            shown = frozenset(keys[keys.index(entry.key) :])
        after, done = _accept_in(file, action.scope, code, shown)
        if done:
            changed[file.path] = after
            count += done
    if not count:
        return replace(state, message="Nothing there can be accepted.")
    before = {path: state.files[path] for path in changed}
    state = _changed(state, changed, _count(count))
    effects = "".join(_effects(before[path], changed[path]) for path in changed) if len(changed) == 1 else ""
    where = "" if len(changed) == 1 else f" in {len(changed)} files"
    return _next_open(replace(state, message=f"Accepted {_count(count)}{where}.{effects}"))


def _accept_in(
    file: FileReview, scope: act.Scope, code: str, shown: Collection[str] | None
) -> tuple[FileReview, int]:
    """As many of the open findings that are `shown` as go together, in order: over the text that decisions are taken on
    now, or, where nothing is left to accept there, over the one that they make."""
    top, fresh = file.top, file.fresh
    layer, below = top, file.layers[:-1]
    decisions = _together(top, _open_on_top(file, _wanted(top.snapshot, scope, code, shown)))
    if not decisions and fresh is not None:
        wanted, entries = _wanted(fresh, scope, code, shown), file.entries
        left = {k: d for k, d in wanted.items() if k not in file.refused and k in entries
                and entries[k].status is Status.OPEN and entries[k].item.source is fresh.source}  # fmt: skip
        layer, below = Layer(fresh), file.layers
        decisions = _together(layer, left)
    if not decisions:
        return file, 0
    all_of_it = {**layer.decisions, **decisions} if layer.decisions else decisions
    layers = (*below, Layer(layer.snapshot, all_of_it))
    apart = file.apart if layer is top else frozenset()
    after = FileReview(file.path, layers, file.rejected, None, file.refused, apart)
    if fresh is None:
        after.list_as(file)
    return after, len(decisions)


def _wanted(
    snapshot: Snapshot, scope: act.Scope, code: str, shown: Collection[str] | None
) -> Mapping[str, Decision]:
    """What accepting all of the scope would take of what is shown, if nothing were decided."""
    if scope is act.Scope.RULE:
        wanted = snapshot.by_rule.get(code, {})
    else:
        wanted = snapshot.safe if scope is act.Scope.SAFE else snapshot.preferred
    return wanted if shown is None else {key: decision for key, decision in wanted.items() if key in shown}


def _open_on_top(file: FileReview, wanted: Mapping[str, Decision]) -> Mapping[str, Decision]:
    """Those of `wanted` whose findings are open over the text that decisions are taken on."""
    for decided in (file.decisions, file.rejected, file.refused, file.waiting):
        if decided:
            wanted = {key: decision for key, decision in wanted.items() if key not in decided}
    if file.fresh is not None:
        found = file.fresh.by_key
        wanted = {key: decision for key, decision in wanted.items() if key in found}
    return wanted


def _together(layer: Layer, wanted: Mapping[str, Decision]) -> Mapping[str, Decision]:
    """Those of `wanted` that go with each other and with what the layer holds; the first ones win."""
    crowded, before = layer.snapshot.crowded, layer.decisions
    beside = any(decision.choice < 0 for decision in before.values())
    if not beside and crowded.isdisjoint(wanted):
        return wanted  # as most do: nothing is near anything
    taken = Taken((key, d.fix) for key, d in before.items() if d.choice < 0 or key in crowded)
    return {
        key: decision for key, decision in wanted.items()
        if not (beside or key in crowded) or taken.claim(key, decision.fix)
    }  # fmt: skip


# What a decision does to others


def _effects(before: FileReview, after: FileReview) -> str:
    """What an accepted fix has done to other findings, as far as the edits tell."""
    blocked = {k: same for k, (_, same) in after.top.blocked.items() if _status(before, k) is Status.OPEN}
    mended, waiting = sum(blocked.values()), len(blocked) - sum(blocked.values())
    told = ""
    if mended:
        told += f" It mends {_others(mended)} too."
    if waiting:
        told += f" It overlaps {_others(waiting)}: checked again on the new text."
    return told


def _lost(before: FileReview, after: FileReview, key: str) -> str:
    lost = [k for k in before.decisions if k not in after.decisions and k != key]
    return f" {_count(len(lost)).capitalize()} accepted on top of it went with it." if lost else ""


def _status(file: FileReview, key: str) -> Status | None:
    entry = file.entries.get(key)
    return None if entry is None else entry.status


def _named(file: FileReview, key: str) -> str:
    item = file.decisions[key][1].item
    return f"{item.finding.code} on {item.line_named}"


def _others(count: int) -> str:
    return "another finding" if count == 1 else f"{count} other findings"


def _count(count: int) -> str:
    return "1 finding" if count == 1 else f"{count} findings"


# Moving about


def _move(state: State, action: act.Move) -> State:
    if not state.rows:
        return state
    at = state.row_of(state.selected) or 0
    return replace(state, selected=state.rows[max(0, min(len(state.rows) - 1, at + action.by))])


def _select(state: State, action: act.Select) -> State:
    return replace(state, selected=action.place) if state.row_of(action.place) is not None else state


def _go_open(state: State, action: act.GoOpen) -> State:
    found = _open_from(state, state.selected, action.step)
    if found is None:
        return replace(state, message="Nothing is left to decide here.")
    return replace(state, selected=found, collapsed=state.collapsed - {found[0]})


def _next_open(state: State) -> State:
    """On to what is still open, with the message kept."""
    found = _open_from(state, state.selected, 1)
    if found is None:
        return _kept(state)
    return replace(state, selected=found)


def _open_from(state: State, place: Place | None, step: int) -> Place | None:
    """The nearest open finding that is shown, after `place` or before, then from the other end."""
    paths = list(state.files)
    if not paths:
        return None
    path = place[0] if place and place[0] in state.files else paths[0]
    at = paths.index(path)
    here = state.files[path]
    order = list(here.entries)
    index = order.index(place[1]) if place and place[1] in here.entries else (-1 if step > 0 else len(order))
    later = order[index + 1 :] if step > 0 else order[: max(0, index)][::-1]
    earlier = order[: index + 1] if step > 0 else order[max(0, index) :]
    rounds: list[tuple[Path, list[str] | None]] = [(path, later)]
    rounds += [(p, None) for p in ((paths[at + 1 :] + paths[:at]) if step > 0 else (paths[:at][::-1] + paths[:at:-1]))]
    rounds.append((path, earlier if step > 0 else earlier[::-1]))
    for name, keys in rounds:
        file = state.files[name]
        if not file.counts[Status.OPEN]:
            continue
        shown = file.visible(state.filter)
        candidates = keys if keys is not None else (list(file.entries) if step > 0 else list(file.entries)[::-1])
        for key in candidates:
            if key in shown and file.entries[key].status is Status.OPEN and (name, key) != place:
                return name, key
    return None


def _kept(state: State) -> State:
    """The state with a selection that the list shows."""
    if state.row_of(state.selected) is not None:
        return state
    if state.selected is not None and state.row_of((state.selected[0], "")) is not None:
        return replace(state, selected=(state.selected[0], ""))
    return replace(state, selected=first_place(state))


def _set_filter(state: State, action: act.SetFilter) -> State:
    try:
        chosen = parse_filter(action.text)
    except BadFilter as error:
        return replace(state, message=str(error))
    state = replace(state, filter=chosen)
    if state.row_of(state.selected) is None:
        state = replace(state, selected=first_place(state))
    count = sum(1 for _, key in state.rows if key)
    return replace(state, message=f"The filter shows {_count(count)}." if chosen else "")


def _fold(state: State, action: act.Fold) -> State:
    if state.selected is None:
        return state
    path = state.selected[0]
    return replace(state, collapsed=state.collapsed ^ {path}, selected=(path, ""))


def _show_next(state: State, action: act.ShowNext) -> State:
    entry = state.entry
    alternatives = state.alternatives(entry) if entry is not None else ()
    if entry is None or len(alternatives) < 2:
        return replace(state, message="There is no other fix.")
    shown = state.shown(entry)
    at = alternatives.index(shown) if shown in alternatives else -1
    number = (at + action.step) % len(alternatives)
    return replace(state, choices={**state.choices, (entry.item.path, entry.key): number})


# History


def _changed(state: State, files: Mapping[Any, FileReview], what: str) -> State:
    before = {path: state.files[path] for path in files}
    past = Step(before, state.selected, what, state.past)
    return replace(state, files={**state.files, **files}, past=past, future=None)


def _undo(state: State, action: act.Undo) -> State:
    return _back(state, state.past, "past", "future", "undo")


def _redo(state: State, action: act.Redo) -> State:
    return _back(state, state.future, "future", "past", "redo")


def _back(state: State, step: Step | None, source: str, target: str, verb: str) -> State:
    if step is None:
        return replace(state, message=f"There is nothing to {verb}.")
    files = {path: _as_it_was(file, state.files[path]) for path, file in step.files.items() if path in state.files}
    changes: dict[str, Any] = {source: step.earlier}
    if all(_decided(file) == _decided(state.files[path]) for path, file in files.items()):
        what = f"{step.what[0].upper()}{step.what[1:]} cannot be {'undone' if verb == 'undo' else 'done again'}"
        return replace(state, message=f"{what}: it has changed on disk since.", **changes)
    other = Step({p: state.files[p] for p in files}, state.selected, step.what, getattr(state, target))
    changes[target] = other
    place = step.selected if verb == "undo" else state.selected
    done = "Undone" if verb == "undo" else "Done again"
    state = replace(state, files={**state.files, **files}, selected=place, message=f"{done}: {step.what}.", **changes)
    return _kept(state) if verb == "undo" else _next_open(state)


def _as_it_was(file: FileReview, now: FileReview) -> FileReview:
    """An earlier state of a file, also of one that was read again since and has other findings."""
    return file if file.original == now.original else rebased(file, now)


def _decided(file: FileReview) -> tuple[dict[str, Fix], frozenset[str]]:
    return {key: decision.fix for key, (_, decision) in file.decisions.items()}, file.rejected


# What the background reports


def _checked(state: State, action: act.Checked) -> State:
    file = state.files.get(action.file.path)
    if file is None or file.layers is not action.file.layers:
        return state  # decided on since
    after = replace(file, fresh=action.fresh)
    told = " ".join(text for text in (state.message, _news(file, after)) if text)
    nothing_was_open = not state.counts[Status.OPEN]
    state = replace(state.with_file(after), message=told)
    return _next_open(state) if nothing_was_open else _kept(state)


def _news(before: FileReview, after: FileReview) -> str:
    """What a check of the new text has changed for findings that are not decided."""
    gone = sum(
        1 for key, entry in after.entries.items()
        if entry.status is Status.UNNECESSARY and _status(before, key) in (Status.OPEN, Status.WAITING)
    )  # fmt: skip
    back = sum(
        1 for key, entry in after.entries.items()
        if entry.status is Status.OPEN and _status(before, key) is Status.WAITING
    )  # fmt: skip
    new = sum(1 for key in after.entries if key not in before.entries)
    parts = []
    if gone:
        parts.append(f"{_count(gone)} {'is' if gone == 1 else 'are'} no longer needed")
    if back:
        parts.append(f"{_count(back)} that overlapped can be decided now")
    if new:
        parts.append(f"{_count(new)} came up on the new text")
    return f"{after.path.name}: {', '.join(parts)}." if parts else ""


def _refused(state: State, action: act.Refused) -> State:
    file = state.files.get(action.file.path)
    if file is None or file.layers is not action.file.layers:
        return state
    before, file = file, _without(file, action.key)
    if not action.alone and file.top.decisions:
        file = replace(file, apart=before.apart | {action.key})
        told = f"The fix for {_named(before, action.key)} does not go together with the others"
        return _kept(replace(state.with_file(file), message=f"{told}: checked again on the new text."))
    file = replace(file, refused={**file.refused, action.key: f"it cannot be accepted: {action.reason}"})
    place = file.path, action.key
    state = replace(state.with_file(file), message=f"This fix cannot be accepted: {action.reason}")
    return replace(state, selected=place) if state.row_of(place) is not None else _kept(state)


def _reloaded(state: State, action: act.Reloaded) -> State:
    path = action.place[0]
    if action.file is None:
        files = {p: f for p, f in state.files.items() if p != path}
    else:
        files = {**state.files, path: action.file}
        if path not in state.files:
            files = {p: files[p] for p in sorted(files)}
    return _kept(replace(state, files=files, message=action.message))


def _proven(state: State, action: act.Proven) -> State:
    return replace(state, proofs={**state.proofs, **action.verdicts}, message=action.message)


def _say(state: State, action: act.Say) -> State:
    return replace(state, message=action.message)


_HANDLERS: dict[type, Callable[[State, Any], State]] = {
    act.Accept: _accept, act.AcceptAll: _accept_all, act.Reject: _reject, act.Reopen: _reopen,
    act.Suppress: _suppress, act.TakeText: _take_text, act.ShowNext: _show_next, act.Move: _move, act.Select: _select,
    act.GoOpen: _go_open, act.SetFilter: _set_filter, act.Fold: _fold, act.Undo: _undo, act.Redo: _redo,
    act.Checked: _checked, act.Refused: _refused, act.Reloaded: _reloaded, act.Proven: _proven, act.Say: _say,
}  # fmt: skip
