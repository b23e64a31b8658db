"""The documents that the editor holds, and what is known of each version of them. Knows nothing of the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..rules.finding import Finding
from ..source.text import SourceText


@dataclass(frozen=True, eq=False)
class Document:
    """One version of one open document. `source` is None for a text that is no Unicode."""

    uri: str
    path: Path
    version: int | None
    source: SourceText | None


@dataclass(frozen=True)
class Place:
    """Bytes `start:end` of a document or of a file on disk."""

    uri: str
    source: SourceText
    start: int
    end: int


@dataclass(frozen=True)
class Result:
    """What was found in one version of a document. `problem` says why it could not be checked, `problem_line`
    (1-based, 0 for none) where. `places` are the functions on the findings' call paths, by `module:qualname`."""

    document: Document
    findings: tuple[Finding, ...] = ()
    problem: str = ""
    problem_line: int = 0
    places: Mapping[str, Place] = field(default_factory=dict)


class Session:
    """The open documents and the latest result of each."""

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}
        self._results: dict[str, Result] = {}

    def put(self, uri: str, path: Path, version: int | None, text: str) -> Document:
        """A document is opened or has a new text."""
        document = Document(uri, path, version, _source(path, text))
        self._documents[uri] = document
        return document

    def remove(self, uri: str) -> None:
        """A document is closed."""
        self._documents.pop(uri, None)
        self._results.pop(uri, None)

    def document(self, uri: str) -> Document | None:
        return self._documents.get(uri)

    def snapshot(self) -> tuple[Document, ...]:
        """All open documents as they are now."""
        return tuple(self._documents.values())

    def keep(self, result: Result) -> bool:
        """Keep a result unless the document has moved on or is closed; says whether it was kept."""
        uri = result.document.uri
        if self._documents.get(uri) is not result.document:
            return False
        self._results[uri] = result
        return True

    def result(self, uri: str) -> Result | None:
        """The result for the current version of a document; None when there is none yet."""
        result = self._results.get(uri)
        return result if result is not None and result.document is self._documents.get(uri) else None


def _source(path: Path, text: str) -> SourceText | None:
    bom = text.startswith("\ufeff")
    try:
        utf8 = (text[1:] if bom else text).encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return None
    return SourceText(path, utf8, "utf-8", bom)
