"""From the engine's words to the protocol's: positions, edits, diagnostics. Pure functions.

Lines of a notebook count in its joined text; `in_cells` and `workspace_edit` say them in the client's cells.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b

from lsprotocol import types

from ..report.text import MEANINGS
from ..rules.finding import Consequence, Finding
from ..source.edits import Edit
from ..source.text import SourceText
from .client import ClientSupport
from .documents import Document, Found, Place, Result

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

PageLink = Callable[[str], str | None]
"""The address of a rule's page, by its code."""


def position(source: SourceText, offset: int, encoding: str) -> types.Position:
    """The place of a byte offset: line from 0, column in code units of `encoding`."""
    line = bisect_right(source.line_starts, offset) - 1
    head = source.utf8[source.line_starts[line] : offset].decode(errors="replace")
    return types.Position(line, width(head, encoding) + (_bom_width(encoding) if source.bom and line == 0 else 0))


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


def changed(source: SourceText, change: types.TextDocumentContentChangeEvent, encoding: str) -> SourceText:
    """The text after one change that the client sends. Raises UnicodeEncodeError for half of a surrogate pair."""
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        bom = change.text.startswith("\ufeff")
        return SourceText(source.path, change.text[bom:].encode(), "utf-8", bom)
    start, end = (offset_at(source, p, encoding) for p in (change.range.start, change.range.end))
    new = source.utf8[:start] + change.text.encode() + source.utf8[max(start, end) :]
    # Position 0:0 stands before a mark that the text begins with.
    keeps = source.bom and not (change.range.start.line == change.range.start.character == 0 and end > 0)
    mark = "\ufeff".encode()
    bom = keeps or new.startswith(mark)
    return SourceText(source.path, new[len(mark) :] if new.startswith(mark) else new, "utf-8", bom)


def range_of(source: SourceText, start: int, end: int, encoding: str) -> types.Range:
    """The range of the bytes `start:end`."""
    return types.Range(position(source, start, encoding), position(source, end, encoding))


def in_cells(document: Document, place: types.Range) -> tuple[str, types.Range]:
    """The address that a range of a document has for the client, and the range there."""
    if document.cells is None:
        return document.uri, place
    cell = document.cells.at(place.start.line)
    first = document.cells.starts[cell]
    start = types.Position(place.start.line - first, place.start.character)
    return document.cells.uris[cell], types.Range(start, types.Position(place.end.line - first, place.end.character))


def workspace_edit(
    document: Document, edits: Iterable[Edit], client: ClientSupport, doubt: tuple[str, str] | None = None
) -> types.WorkspaceEdit | None:
    """An edit of one document: tied to its version where the client can, plain where it cannot. `doubt` is a label and
    a reason why the user should confirm it. None when an edit would cross from one cell of a notebook to another."""
    assert document.source is not None
    by_uri: dict[str, list[types.TextEdit]] = {}
    for edit in sorted(edits):
        place = range_of(document.source, edit.start, edit.end, client.encoding)
        if document.cells and document.cells.at(place.start.line) != document.cells.at(place.end.line):
            return None
        uri, inside = in_cells(document, place)
        by_uri.setdefault(uri, []).append(types.TextEdit(inside, edit.text))
    if not client.document_changes:
        return types.WorkspaceEdit(changes=dict(by_uri))
    annotations = {}
    if doubt is not None and client.annotates_changes:
        annotations["graphward"] = types.ChangeAnnotation(doubt[0], needs_confirmation=True, description=doubt[1])
    changes: list[types.TextDocumentEdit] = []
    for uri, plain in by_uri.items():
        # Cells have versions of their own, which the notebook's says nothing about.
        version = document.version if document.cells is None else None
        identifier = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version)
        if annotations:
            marked = [types.AnnotatedTextEdit("graphward", e.range, e.new_text) for e in plain]
            changes.append(types.TextDocumentEdit(identifier, list(marked)))
        else:
            changes.append(types.TextDocumentEdit(identifier, list(plain)))
    return types.WorkspaceEdit(document_changes=list(changes), change_annotations=annotations or None)


def diagnostics(result: Result, client: ClientSupport, link: PageLink) -> list[types.Diagnostic]:
    """The diagnostics of one document; where it could not be checked one that says why, and what was found of it
    before in lines that it still has."""
    document = result.document
    source = document.source
    shown = [diagnostic(document, f, name, result.found, client, link) for f, name in named(result)]
    if result.problem:
        return [problem(source, result.found, client), *shown]
    return shown


def named(result: Result) -> list[tuple[Finding, str]]:
    """The findings with their fingerprints; those kept from before where there are no others."""
    source, findings = result.document.source, result.findings or result.kept
    return [] if source is None else list(zip(findings, fingerprints(source, findings)))


def diagnostic(
    document: Document, finding: Finding, fingerprint: str, found: Found, client: ClientSupport, link: PageLink
) -> types.Diagnostic:
    """One finding, its range in the document."""
    assert document.source is not None
    page = link(finding.code) if client.code_descriptions else None
    deprecated = finding.consequence is Consequence.DEPRECATED and types.DiagnosticTag.Deprecated in client.tags
    related = list(_related(finding, found, client)) if client.related_information else []
    return types.Diagnostic(
        range=range_of(document.source, finding.span.start, finding.span.end, client.encoding),
        severity=_SEVERITIES[finding.consequence],
        code=finding.code,
        code_description=types.CodeDescription(page) if page else None,
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


def problem(source: SourceText | None, found: Found, client: ClientSupport) -> types.Diagnostic:
    """Why a document could not be checked, on the line where that is."""
    line = max(0, found.problem_line - 1)
    if source is None or line >= len(source.line_starts):
        place = types.Range(types.Position(0, 0), types.Position(0, 0))
    else:
        place = line_range(source, line + 1, client.encoding)
    return types.Diagnostic(
        range=place, severity=types.DiagnosticSeverity.Information, source=SOURCE,
        message=f"not checked for Graph Mode: {found.problem}",
    )  # fmt: skip


def line_range(source: SourceText, line: int, encoding: str) -> types.Range:
    """A line (1-based) from its first character that is no space to its end."""
    raw = source.line_bytes(line)
    start = source.line_starts[line - 1] + len(raw) - len(raw.lstrip())
    end = source.line_starts[line - 1] + len(raw.rstrip())
    return range_of(source, min(start, end), end, encoding)


def width(text: str, encoding: str) -> int:
    """How many code units a text has."""
    size, codec = _UNITS[encoding]
    return len(text) if text.isascii() else len(text.encode(codec, errors="replace")) // size


def _reasons(finding: Finding) -> list[str]:
    return [f"because {reason}" for reason in finding.evidence]


def _related(finding: Finding, found: Found, client: ClientSupport) -> Iterator[types.DiagnosticRelatedInformation]:
    """The functions on the way from the region to the finding."""
    for i, step in enumerate(finding.call_path):
        place = found.places.get(step)
        if place is not None:
            message = f"the graph region {step} starts here" if i == 0 else f"which reaches {step}"
            yield types.DiagnosticRelatedInformation(_location(place, client.encoding), message)


def _location(place: Place, encoding: str) -> types.Location:
    start = width(place.head, encoding)
    end = start + width(place.name, encoding)
    return types.Location(
        place.uri, types.Range(types.Position(place.line, start), types.Position(place.line, end))
    )


def _bom_width(encoding: str) -> int:
    """A client that keeps the byte order mark in the text counts it in the first line."""
    return width("\ufeff", encoding)
