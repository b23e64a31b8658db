"""From the engine's words to the protocol's: positions, edits, diagnostics. Pure functions."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from lsprotocol import types

from ..report.text import MEANINGS
from ..rules.finding import Consequence, Finding
from ..source.edits import Edit
from ..source.text import SourceText
from .client import ClientSupport
from .session import Document, Place, Result

SOURCE = "graphward"
_SEVERITIES = {
    Consequence.ERROR: types.DiagnosticSeverity.Error,
    Consequence.DIVERGENCE: types.DiagnosticSeverity.Error,
    Consequence.FALLBACK: types.DiagnosticSeverity.Warning,
    Consequence.PERFORMANCE: types.DiagnosticSeverity.Warning,
    Consequence.DEPRECATED: types.DiagnosticSeverity.Hint,
    Consequence.INFO: types.DiagnosticSeverity.Information,
}
# Bytes of one code unit, and the codec whose encoded length counts them.
_UNITS = {"utf-8": (1, "utf-8"), "utf-16": (2, "utf-16-le"), "utf-32": (4, "utf-32-le")}


def position(source: SourceText, offset: int, encoding: str) -> types.Position:
    """The place of a byte offset: line from 0, column in code units of `encoding`."""
    line = bisect_right(source.line_starts, offset) - 1
    head = source.utf8[source.line_starts[line] : offset].decode(errors="replace")
    return types.Position(line, _width(head, encoding) + (_bom_width(encoding) if source.bom and line == 0 else 0))


def offset_at(source: SourceText, place: types.Position, encoding: str) -> int:
    """The byte offset of a place; one beyond the line or the file is taken for its end, one inside a character for
    the character's start."""
    starts = source.line_starts
    if place.line >= len(starts):
        return len(source.utf8)
    line = source.line_bytes(place.line + 1).rstrip(b"\r\n").decode()
    size, codec = _UNITS[encoding]
    column = place.character - (_bom_width(encoding) if source.bom and place.line == 0 else 0)
    head = line.encode(codec)[: max(0, column) * size].decode(codec, errors="ignore")
    return starts[place.line] + len(head.encode())


def range_of(source: SourceText, start: int, end: int, encoding: str) -> types.Range:
    """The range of the bytes `start:end`."""
    return types.Range(position(source, start, encoding), position(source, end, encoding))


def text_edits(source: SourceText, edits: Iterable[Edit], encoding: str) -> list[types.TextEdit]:
    """The edits, in the order of the file."""
    return [types.TextEdit(range_of(source, e.start, e.end, encoding), e.text) for e in sorted(edits)]


def workspace_edit(document: Document, edits: Iterable[Edit], client: ClientSupport) -> types.WorkspaceEdit:
    """An edit of one document: tied to its version where the client can, plain where it cannot."""
    assert document.source is not None
    changes = text_edits(document.source, edits, client.encoding)
    if not client.document_changes:
        return types.WorkspaceEdit(changes={document.uri: changes})
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, list(changes))])


def diagnostics(result: Result, client: ClientSupport, docs_url: str | None) -> list[types.Diagnostic]:
    """The diagnostics of one document; one that says why, where it could not be checked."""
    source = result.document.source
    if result.problem:
        return [_problem(result, client)]
    assert source is not None
    return [
        diagnostic(source, finding, print_, result, client, docs_url)
        for finding, print_ in zip(result.findings, fingerprints(source, result.findings))
    ]


def diagnostic(
    source: SourceText, finding: Finding, fingerprint: str, result: Result, client: ClientSupport, docs_url: str | None
) -> types.Diagnostic:
    """One finding."""
    deprecated = finding.consequence is Consequence.DEPRECATED and types.DiagnosticTag.Deprecated in client.tags
    related = _related(finding, result, client) if client.related_information else []
    return types.Diagnostic(
        range=range_of(source, finding.span.start, finding.span.end, client.encoding),
        severity=_SEVERITIES[finding.consequence],
        code=finding.code,
        code_description=types.CodeDescription(f"{docs_url.rstrip('/')}/{finding.code}") if docs_url else None,
        source=SOURCE,
        message="\n".join([f"{finding.message} ({MEANINGS[finding.consequence]})", *_reasons(finding)]),
        tags=[types.DiagnosticTag.Deprecated] if deprecated else None,
        related_information=related or None,
        data={"fingerprint": fingerprint},
    )


def fingerprints(source: SourceText, findings: Sequence[Finding]) -> list[str]:
    """A name for each finding that stays the same when lines move: rule, region, message and snippet, and a number
    among those that share all four."""
    met: Counter[str] = Counter()
    names = []
    for finding in findings:
        snippet = source.utf8[finding.span.start : finding.span.end].decode(errors="replace")
        text = "\0".join((finding.code, finding.region, finding.message, snippet))
        name = blake2b(text.encode(), digest_size=8).hexdigest()
        met[name] += 1
        names.append(f"{name}-{met[name]}")
    return names


def _reasons(finding: Finding) -> list[str]:
    return [f"because {reason}" for reason in finding.evidence]


def _problem(result: Result, client: ClientSupport) -> types.Diagnostic:
    source, line = result.document.source, max(0, result.problem_line - 1)
    if source is None or line >= len(source.line_starts):
        place = types.Range(types.Position(0, 0), types.Position(0, 0))
    else:
        start = source.line_starts[line]
        end = start + len(source.line_bytes(line + 1).rstrip(b"\r\n"))
        place = range_of(source, start, end, client.encoding)
    return types.Diagnostic(
        range=place, severity=types.DiagnosticSeverity.Information, source=SOURCE,
        message=f"not checked for Graph Mode: {result.problem}",
    )  # fmt: skip


def _related(finding: Finding, result: Result, client: ClientSupport) -> list[types.DiagnosticRelatedInformation]:
    """The functions on the way from the region to the finding."""
    steps = []
    for i, step in enumerate(finding.call_path):
        place = result.places.get(step)
        if place is not None:
            message = f"the graph region {step} starts here" if i == 0 else f"which reaches {step}"
            steps.append(types.DiagnosticRelatedInformation(_location(place, client.encoding), message))
    return steps


def _location(place: Place, encoding: str) -> types.Location:
    return types.Location(place.uri, range_of(place.source, place.start, place.end, encoding))


def _width(text: str, encoding: str) -> int:
    size, codec = _UNITS[encoding]
    return len(text) if text.isascii() else len(text.encode(codec)) // size


def _bom_width(encoding: str) -> int:
    """A client that keeps the byte order mark in the text counts it in the first line."""
    return _width("\ufeff", encoding)
