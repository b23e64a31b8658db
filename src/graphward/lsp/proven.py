"""Verdicts of proofs, and how they are shown on the user's own lines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from ..source.text import SourceText
from .client import ClientSupport
from .convert import SOURCE, line_range, range_of
from .documents import Document, RegionPlace

if TYPE_CHECKING:
    from ..verify.verdicts import Node, Problem, Verdict

CODE = "graph-mode"
_SEVERITIES = {
    "fails": types.DiagnosticSeverity.Error,
    "diverges": types.DiagnosticSeverity.Error,
    "falls-back": types.DiagnosticSeverity.Warning,
    "recompiles": types.DiagnosticSeverity.Warning,
    "crashes": types.DiagnosticSeverity.Warning,
}


@dataclass(frozen=True)
class Proven:
    """The verdict on a region, and the text that it is about, which stood in the file `module` of the folder `tree`;
    places count from that folder."""

    qualname: str
    verdict: Verdict
    text: bytes
    tree: Path
    module: str

    def holds_for(self, document: Document) -> bool:
        """Whether the document still has that text."""
        return document.source is not None and document.source.utf8 == self.text


def diagnostics(
    proven: Proven, document: Document, region: RegionPlace, client: ClientSupport
) -> list[types.Diagnostic]:
    """The verdict on the user's own lines; on the region's name where it names none."""
    verdict = proven.verdict
    if verdict.verified or document.source is None:
        return []
    severity = _SEVERITIES.get(verdict.verdict, types.DiagnosticSeverity.Information)
    head = f"Graph Mode, proven: {region.expr} {verdict.verdict}"
    side = verdict.judged
    places: list[Node | Problem] = [*(side.nodes if side else ())]
    if side is not None and side.error is not None and not places:
        places = [side.error]
    shown, elsewhere = [], []
    for place in places:
        if place.path is None or place.line is None:
            continue
        path = (proven.tree / place.path).resolve()
        if path != (proven.tree / proven.module).resolve():
            elsewhere.append(_link(path, place.line, _said(place)))
        elif place.line <= len(document.source.line_starts):
            message = f"{head}: {_said(place)}"
            shown.append(types.Diagnostic(_range(document.source, place, client), message, severity, CODE,
                                          source=SOURCE))  # fmt: skip
    if shown:
        return list({(d.range.start.line, d.range.start.character, d.message): d for d in shown}.values())
    name = range_of(document.source, region.name.start, region.name.end, client.encoding)
    message = "\n".join([head, verdict.message, *verdict.notes, *(side.notes if side else ())])
    related = elsewhere if client.related_information else []
    return [types.Diagnostic(name, message, severity, CODE, source=SOURCE, related_information=related or None)]


def _said(place: Node | Problem) -> str:
    message = getattr(place, "message", None)
    if message is not None:
        return f"{getattr(place, 'type', '')}: {message}"
    words = (getattr(place, name, "") for name in ("expression", "script", "name"))
    return f"{next((w for w in words if w), 'something')} runs in the Python interpreter"


def _range(source: SourceText, place: Node | Problem, client: ClientSupport) -> types.Range:
    assert place.line is not None
    end_line = getattr(place, "end_line", None) or place.line
    if place.column is None or place.end_column is None or end_line > len(source.line_starts):
        return line_range(source, place.line, client.encoding)
    start, end = _offset(source, place.line, place.column), _offset(source, end_line, place.end_column)
    return range_of(source, start, max(start, end), client.encoding)


def _offset(source: SourceText, line: int, column: int) -> int:
    """The bytes before a place, both 1-based, the column in characters."""
    text = source.line_bytes(line).decode().rstrip("\r\n")
    return source.line_starts[line - 1] + len(text[: column - 1].encode())


def _link(path: Path, line: int, message: str) -> types.DiagnosticRelatedInformation:
    start = types.Position(line - 1, 0)
    return types.DiagnosticRelatedInformation(types.Location(path.as_uri(), types.Range(start, start)), message)
