"""Code actions: the alternatives of each finding, all findings of a rule or of a file, silence, explanation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lsprotocol import types

from ..engine import silencing
from ..engine.apply import DoesNotParse, apply_fixes, drop_unused_imports
from ..rules.finding import Finding
from ..source.edits import Edit, minimal_edits
from ..source.fixes import Applicability, Fix
from ..source.text import SourceText
from .client import ClientSupport
from .convert import PageLink, diagnostic, in_cells, named, offset_at, workspace_edit
from .documents import Document, Result

QUICK_FIX = "quickfix.graphward"
FIX_RULE = "quickfix.graphward.rule"
SILENCE = "quickfix.graphward.silence"
EXPLAIN = "quickfix.graphward.explain"
FIX_ALL = "source.fixAll.graphward"
SPLIT = "refactor.extract.graphward"
MOVE = "refactor.rewrite.graphward"
KINDS = (types.CodeActionKind.QuickFix, QUICK_FIX, FIX_ALL, SPLIT, MOVE)
_UNITS = "GW601"
EXPLAIN_COMMAND = "graphward.explainRule"


@dataclass(frozen=True)
class Reference:
    """How an action without its edit is found again: the version it was made for, what it does (fix, split, rule, all,
    line, file), the finding's fingerprint, and the number of its fix; for `rule`, the code, and 1 for fixes that are
    not safe too."""

    uri: str
    version: int | None
    does: str = "fix"
    name: str = ""
    fix: int = 0

    @classmethod
    def read(cls, data: Any) -> Reference | None:
        """From an action's `data`; None when it is not ours."""
        try:
            return cls(str(data["uri"]), data["version"], str(data["does"]), str(data["name"]), int(data["fix"]))
        except (KeyError, TypeError, ValueError):
            return None

    @property
    def whole(self) -> bool:
        """Whether it needs the checker: the file is fixed until nothing is left to fix."""
        return self.does in ("rule", "all")


def wanted(only: Sequence[str] | None, kind: str) -> bool:
    """Whether a client that asks for the kinds `only` (None: any) wants this one; `source` includes `source.fixAll`."""
    return not only or any(kind == o or kind.startswith(f"{o}.") for o in only)


class Offer:
    """The actions for a range of a document."""

    def __init__(self, result: Result, asked: types.Range, client: ClientSupport, link: PageLink):
        assert result.document.source is not None
        self._result, self._client, self._link = result, client, link
        self.document, self.source = result.document, result.document.source
        self.start, self.end = (offset_at(self.source, place, client.encoding) for place in (asked.start, asked.end))
        self.here = [
            (f, name) for f, name in named(result) if f.span.end >= self.start and f.span.start <= self.end
        ]

    def quick_fixes(self) -> Iterator[types.CodeAction]:
        """One for each alternative of each finding."""
        for finding, name in self.here:
            safe = [f for f in finding.fixes if f.applicability is Applicability.SAFE]
            for number, fix in enumerate(finding.fixes):
                yield from self._fixing(titled(fix), QUICK_FIX, finding, name, number, preferred=[fix] == safe)

    def rule_fixes(self) -> Iterator[types.CodeAction]:
        """All findings of a rule at once, where there are several: safe fixes, or, where it has none, the others."""
        for code in dict.fromkeys(f.code for f, _ in self.here):
            fixes = [f.fixes for f in self._result.findings if f.code == code and f.fixes]
            safe = [x for x in fixes if any(f.applicability is Applicability.SAFE for f in x)]
            unsafe = [x[0] for x in fixes if x[0].applicability is Applicability.UNSAFE]
            if len(safe) > 1:
                reference = self._reference("rule", code, 0)
                yield types.CodeAction(f"Fix all {code} in this file [safe]", FIX_RULE, data=asdict(reference))
            elif not safe and len(unsafe) > 1:
                reasons = "; ".join(dict.fromkeys(f.reason for f in unsafe))
                reference = self._reference("rule", code, 1)
                title = f"Fix all {code} in this file [unsafe: {reasons}]"
                yield types.CodeAction(title, FIX_RULE, data=asdict(reference))

    def moves(self) -> Iterator[types.CodeAction]:
        """Moves into `__init__` of what the selection makes at each call."""
        for finding, name in self.here:
            for number, fix in enumerate(finding.fixes):
                if finding.code.startswith("GW2") and "__init__" in fix.title:
                    yield from self._fixing(f"Move to `__init__`: {titled(fix)}", MOVE, finding, name, number)

    def splits(self) -> Iterator[types.CodeAction]:
        """The parts that the graph functions of the selection can be split into; of a result with such findings."""
        around = [r.span for r in self._result.found.regions if r.span.start <= self.end and self.start <= r.span.end]
        for finding, name in named(self._result):
            if any(r.start <= finding.span.start < r.end for r in around):
                for number, fix in enumerate(finding.fixes):
                    title = f"Split this jit function into compile units: {titled(fix)}"
                    if finding.code != _UNITS:  # the others of the family measure, or take measuring out
                        title = titled(fix)
                    yield from self._fixing(title, SPLIT, finding, name, number, does="split")

    def silences(self) -> Iterator[types.CodeAction]:
        """A comment for the line, and one for the file."""
        for finding, name in self.here:
            reference = self._reference("line", name, 0)
            yield from self._complete(types.CodeAction(f"Silence {finding.code} here", SILENCE), reference, finding)
        for code in dict.fromkeys(f.code for f, _ in self.here):
            action = types.CodeAction(f"Silence {code} in this file", SILENCE)
            yield from self._complete(action, self._reference("file", code, 0), None)

    def explanations(self) -> Iterator[types.CodeAction]:
        """The pages of the rules."""
        for code in dict.fromkeys(f.code for f, _ in self.here):
            command = types.Command(f"Explain {code}", EXPLAIN_COMMAND, arguments=[code])
            yield types.CodeAction(f"Explain {code}", EXPLAIN, command=command)

    def fix_all(self) -> types.CodeAction | None:
        """All safe fixes of the file, with a reference for its edit; None when there is nothing to fix."""
        safe = (x for f in self._result.findings for x in f.fixes if x.applicability is Applicability.SAFE)
        if next(safe, None) is None:
            return None
        title = "Fix all that Graphward can fix safely"
        return types.CodeAction(title, FIX_ALL, data=asdict(self._reference("all", "", 0)))

    def _fixing(
        self, title: str, kind: str, finding: Finding, name: str, number: int, *, preferred: bool = False,
        does: str = "fix",
    ) -> Iterator[types.CodeAction]:  # fmt: skip
        fix = finding.fixes[number]
        action = types.CodeAction(title, kind, [self._shown(finding, name)], is_preferred=True if preferred else None)
        if fix.applicability is Applicability.MANUAL:
            action.disabled = types.CodeActionDisabled(f"to be done by hand: {fix.reason}")
            if self._client.shows_disabled:
                yield action
        else:
            yield from self._complete(action, self._reference(does, name, number), finding)

    def _shown(self, finding: Finding, name: str) -> types.Diagnostic:
        shown = diagnostic(self.document, finding, name, self._result.found, self._client, self._link)
        shown.range = in_cells(self.document, shown.range)[1]
        return shown

    def _complete(
        self, action: types.CodeAction, reference: Reference, finding: Finding | None
    ) -> Iterator[types.CodeAction]:
        """The action with its edit, or with a reference where the client asks for the edit later; disabled, where the
        client shows that, when there can be no edit."""
        if self._client.resolves_edits:
            action.data = asdict(reference)
            yield action
            return
        try:
            action.edit = edit_of(self._result, reference, self._client)
        except DoesNotParse as error:
            action.disabled = types.CodeActionDisabled(str(error))
            if self._client.shows_disabled:
                yield action
            return
        if action.edit is not None:
            yield action

    def _reference(self, does: str, name: str, fix: int) -> Reference:
        return Reference(self.document.uri, self.document.version, does, name, fix)


def titled(fix: Fix) -> str:
    """`Use ops.exp [safe]`, `Drop the cast [unsafe: the dtype changes]`."""
    reason = f": {fix.reason}" if fix.reason else ""
    return f"{fix.title} [{fix.applicability.value}{reason}]"


def edit_of(result: Result, reference: Reference, client: ClientSupport) -> types.WorkspaceEdit | None:
    """The edit of an action that needs no check; None when there is no such fix any more. Raises DoesNotParse."""
    source = result.document.source
    if source is None:
        return None
    if reference.does == "file":
        return workspace_edit(result.document, [silencing.in_file(source, reference.name)], client)
    finding = next((f for f, name in named(result) if name == reference.name), None)
    if finding is None:
        return None
    if reference.does == "line":
        comment = silencing.on_line(source, finding)
        return None if comment is None else workspace_edit(result.document, list(comment.edits), client)
    if not 0 <= reference.fix < len(finding.fixes):
        return None
    fix = finding.fixes[reference.fix]
    doubt = None if fix.applicability is Applicability.SAFE else (f"{finding.code}: {fix.title}", fix.reason)
    return workspace_edit(result.document, _edits(source, fix), client, doubt)


def edit_to(
    document: Document, after: SourceText, client: ClientSupport, doubt: str = ""
) -> types.WorkspaceEdit | None:
    """The edit that turns the document into `after`; `doubt` says why it should be confirmed."""
    assert document.source is not None
    edits = minimal_edits(document.source.utf8, after.utf8)
    label = ("Fixes that are not safe", doubt) if doubt else None
    return workspace_edit(document, edits, client, label) if edits else None


def _edits(source: SourceText, fix: Fix) -> list[Edit]:
    """A fix with the imports that it adds and those that it makes needless. Raises DoesNotParse."""
    after = drop_unused_imports(source, apply_fixes(source, [fix]))
    return minimal_edits(source.utf8, after.utf8)
