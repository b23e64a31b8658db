"""The decisions on one snapshot of one file: a state, and the actions that turn it into the next; nothing is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..engine.apply import DoesNotParse, apply_fixes, drop_unused_imports
from ..rules.finding import Finding
from ..source.edits import Edit, conflict
from ..source.fixes import Applicability, Fix
from ..source.text import SourceText


class Refused(Exception):
    """A fix cannot be accepted; `str()` says why."""


@dataclass(frozen=True)
class Decision:
    """A finding and the fix that was accepted for it."""

    finding: Finding
    fix: Fix


@dataclass(frozen=True)
class State:
    """Where the review of one file stands.

    `position` is the finding in question, `choice` the alternative of its fix that is shown. `preview` is the file
    with what is accepted so far. `deferred` are findings whose fixes overlap an accepted one: whether they still
    exist shows when the file is checked again. `take_safe` accepts safe fixes without asking.
    """

    source: SourceText
    findings: tuple[Finding, ...]
    preview: SourceText
    position: int = 0
    choice: int = 0
    accepted: tuple[Decision, ...] = ()
    deferred: tuple[Finding, ...] = ()
    take_safe: bool = False

    @property
    def current(self) -> Finding | None:
        """The finding in question; None when all have been met."""
        return self.findings[self.position] if self.position < len(self.findings) else None

    @property
    def alternatives(self) -> tuple[Fix, ...]:
        """The fixes of the current finding that can be accepted, in order of preference."""
        finding = self.current
        return () if finding is None else tuple(f for f in _applicable(finding) if not _overlaps(self, f))

    @property
    def shown(self) -> Fix | None:
        """The alternative that is shown; None when the finding has no fix that can be applied."""
        alternatives = self.alternatives
        return alternatives[self.choice % len(alternatives)] if alternatives else None

    @property
    def decided(self) -> tuple[Finding, ...]:
        """The findings that have been met and not deferred."""
        return tuple(f for f in self.findings[: self.position] if f not in self.deferred)


def start(source: SourceText, findings: Sequence[Finding], *, take_safe: bool = False) -> State:
    """The state in which the first finding that needs a decision is in question."""
    return _settle(State(source, tuple(findings), source, take_safe=take_safe))


def accept(state: State) -> State:
    """Take the shown fix and go on. Raises Refused, with the reason, when the result would not be Python."""
    finding, fix = state.current, state.shown
    if finding is None or fix is None:
        raise Refused("there is no fix to accept")
    return _settle(_taken(state, finding, fix))


def reject(state: State) -> State:
    """Leave the finding as it is and go on."""
    return _settle(_next(state))


def show_next(state: State) -> State:
    """Show the next alternative; the first one after the last."""
    return replace(state, choice=(state.choice + 1) % max(1, len(state.alternatives)))


def accept_safe(state: State) -> State:
    """Take the shown fix, and the preferred safe fix of every later finding of the file; those without one are still
    asked. Raises Refused as `accept` does."""
    return accept(replace(state, take_safe=True))


def outcome(state: State, fix: Fix) -> SourceText:
    """The file with `fix` on top of what is accepted. Raises Refused."""
    fixes = [d.fix for d in state.accepted] + [fix]
    try:
        result = drop_unused_imports(state.source, apply_fixes(state.source, fixes))
        result.to_bytes()
    except DoesNotParse as error:
        raise Refused(str(error)) from None
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        raise Refused(f"the file is written in {state.source.encoding}, which has no {character!r}") from None
    return result


def _settle(state: State) -> State:
    """Go past the findings that need no decision now."""
    while (finding := state.current) is not None:
        if _waits(state, finding):
            state = _next(replace(state, deferred=(*state.deferred, finding)))
        elif state.take_safe and (fix := _safe(state)) is not None:
            try:
                state = _taken(state, finding, fix)
            except Refused:
                return state
        else:
            return state
    return state


def _taken(state: State, finding: Finding, fix: Fix) -> State:
    preview = outcome(state, fix)
    return _next(replace(state, preview=preview, accepted=(*state.accepted, Decision(finding, fix))))


def _next(state: State) -> State:
    return replace(state, position=state.position + 1, choice=0)


def _applicable(finding: Finding) -> list[Fix]:
    return [f for f in finding.fixes if f.applicability is not Applicability.MANUAL]


def _safe(state: State) -> Fix | None:
    return next((f for f in state.alternatives if f.applicability is Applicability.SAFE), None)


def _waits(state: State, finding: Finding) -> bool:
    """Whether an accepted fix touches what this finding's preferred fix, or the finding itself, is about."""
    applicable = _applicable(finding)
    if applicable:
        return _overlaps(state, applicable[0])
    return conflict([Edit(finding.span.start, finding.span.end, "")], _edits(state))


def _overlaps(state: State, fix: Fix) -> bool:
    """Equal edits overlap too: the accepted fix has mended this finding as well."""
    return conflict(fix.edits, _edits(state)) or any(fix.edits == d.fix.edits for d in state.accepted)


def _edits(state: State) -> list[Edit]:
    return [edit for decision in state.accepted for edit in decision.fix.edits]
