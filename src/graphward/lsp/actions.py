"""Code actions: one quick fix for each alternative of each finding, and all safe fixes of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lsprotocol import types

from ..engine.apply import DoesNotParse, apply_fixes, drop_unused_imports
from ..rules.finding import Finding
from ..source.edits import Edit, minimal_edits
from ..source.fixes import Applicability, Fix
from ..source.text import SourceText
from .client import ClientSupport
from .convert import diagnostic, fingerprints, offset_at, workspace_edit
from .session import Document, Result

FIX_ALL = "source.fixAll.graphward"
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL)


@dataclass(frozen=True)
class Reference:
    """How an action without its edit is found again: the version it was made for, the finding's fingerprint and the
    number of its fix; both empty for all safe fixes."""

    uri: str
    version: int | None
    fingerprint: str = ""
    fix: int = -1

    @classmethod
    def read(cls, data: Any) -> Reference | None:
        """From an action's `data`; None when it is not ours."""
        try:
            return cls(str(data["uri"]), data["version"], str(data["fingerprint"]), int(data["fix"]))
        except (KeyError, TypeError, ValueError):
            return None


def wanted(only: Sequence[str] | None, kind: str) -> bool:
    """Whether a client that asks for the kinds `only` (None: any) wants this one; `source` includes `source.fixAll`."""
    return not only or any(kind == o or kind.startswith(f"{o}.") for o in only)


def quick_fixes(
    result: Result, asked: types.Range, client: ClientSupport, docs_url: str | None
) -> Iterator[types.CodeAction]:
    """The quick fixes of the findings that touch the range."""
    source = result.document.source
    if source is None:
        return
    start, end = (offset_at(source, place, client.encoding) for place in (asked.start, asked.end))
    for finding, name in zip(result.findings, fingerprints(source, result.findings)):
        if finding.span.end < start or finding.span.start > end:
            continue
        shown = diagnostic(source, finding, name, result, client, docs_url)
        safe = [f for f in finding.fixes if f.applicability is Applicability.SAFE]
        for number, fix in enumerate(finding.fixes):
            action = types.CodeAction(
                title=titled(fix), kind=types.CodeActionKind.QuickFix, diagnostics=[shown],
                is_preferred=True if [fix] == safe else None,
            )  # fmt: skip
            reference = Reference(result.document.uri, result.document.version, name, number)
            if _complete(action, result, finding, fix, reference, client):
                yield action


def titled(fix: Fix) -> str:
    """`Use ops.exp [safe]`, `Drop the cast [unsafe: the dtype changes]`."""
    reason = f": {fix.reason}" if fix.reason else ""
    return f"{fix.title} [{fix.applicability.value}{reason}]"


def fix_all(document: Document, after: SourceText | None, client: ClientSupport) -> types.CodeAction:
    """All safe fixes of a file; `after` is the file after them, None to leave the edit for later."""
    action = types.CodeAction(title="Fix all that Graphward can fix safely", kind=FIX_ALL)
    if after is None:
        action.data = asdict(Reference(document.uri, document.version))
    else:
        action.edit = workspace_edit(document, edits_to(document, after), client)
    return action


def resolved(result: Result, reference: Reference, client: ClientSupport) -> types.WorkspaceEdit | None:
    """The edit of a quick fix that was sent without one; None when there is no such fix any more."""
    source = result.document.source
    if source is None:
        return None
    for finding, name in zip(result.findings, fingerprints(source, result.findings)):
        if name == reference.fingerprint and 0 <= reference.fix < len(finding.fixes):
            try:
                return workspace_edit(result.document, _edits(source, finding.fixes[reference.fix]), client)
            except DoesNotParse:
                return None
    return None


def edits_to(document: Document, after: SourceText) -> list[Edit]:
    """The edits that turn the document into `after`."""
    assert document.source is not None
    return minimal_edits(document.source.utf8, after.utf8)


def _complete(
    action: types.CodeAction, result: Result, finding: Finding, fix: Fix, reference: Reference, client: ClientSupport
) -> bool:
    """Give the action its edit, its reference, or the reason why it cannot be chosen; False to leave it out."""
    if fix.applicability is Applicability.MANUAL:
        action.disabled = types.CodeActionDisabled(f"to be done by hand: {fix.reason}")
        return client.shows_disabled
    if client.resolves_edits:
        action.data = asdict(reference)
        return True
    source = result.document.source
    assert source is not None
    try:
        action.edit = workspace_edit(result.document, _edits(source, fix), client)
    except DoesNotParse as error:
        action.disabled = types.CodeActionDisabled(str(error))
        return client.shows_disabled
    return True


def _edits(source: SourceText, fix: Fix) -> list[Edit]:
    """A fix with the imports that it adds and those that it makes needless. Raises DoesNotParse."""
    after = drop_unused_imports(source, apply_fixes(source, [fix]))
    return minimal_edits(source.utf8, after.utf8)
