"""The documents that the editor holds, and what is known of each version of them. Knows nothing of the protocol, and
imports nothing that takes long: the process that talks to the client and those that check share these classes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..rules.finding import Finding, Span
from ..source.text import SourceText


@dataclass(frozen=True)
class Cells:
    """The code cells of a notebook, in order: the address of each, and the line (from 0) of the joined text that it
    starts at."""

    uris: tuple[str, ...]
    starts: tuple[int, ...]

    def at(self, line: int) -> int:
        """The number of the cell that holds a line of the joined text."""
        return max(0, bisect_right(self.starts, line) - 1)


@dataclass(frozen=True, eq=False)
class Document:
    """One version of one open document, by the number `serial`. `source` is None for a text that is no Unicode; `cells`
    are those of a notebook."""

    uri: str
    path: Path
    version: int | None
    source: SourceText | None
    serial: int
    cells: Cells | None = None


@dataclass(frozen=True)
class Place:
    """A name in a file: its line, from 0, what stands before it on the line, and the name itself."""

    uri: str
    line: int
    head: str
    name: str


@dataclass(frozen=True)
class RegionPlace:
    """A `construct` or jit function of a document: its qualified name, its bytes with decorators, and those of its
    name. `expr` is what a proof calls it, empty where nothing outside can call it; `inputs` are the declared ones."""

    qualname: str
    span: Span
    name: Span
    expr: str = ""
    inputs: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Found:
    """What was found in one version of a document. `problem` says why it could not be checked, `problem_line` (1-based,
    0 for none) where. `places` are the functions on the findings' call paths, by `module:qualname`; `scope` the files
    that have to be read for the same answer, the document's own among them."""

    uri: str
    serial: int
    findings: tuple[Finding, ...] = ()
    problem: str = ""
    problem_line: int = 0
    places: Mapping[str, Place] = field(default_factory=dict)
    regions: tuple[RegionPlace, ...] = ()
    scope: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Listed:
    """A file of a project that the editor does not hold, with what was found in it; `source` is None where that is
    nothing. `digest` changes with what is shown of it."""

    path: Path
    source: SourceText | None
    found: Found
    digest: str


@dataclass(frozen=True)
class Page:
    """A rule for people: its page in Markdown."""

    code: str
    name: str
    text: str


@dataclass(frozen=True)
class Result:
    """A document's version with what was found in it. `kept` are findings of the last version that parsed, where that
    is one that no longer does; their spans count in this one."""

    document: Document
    found: Found
    kept: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.found.findings

    @property
    def problem(self) -> str:
        return self.found.problem


class Stopped(Exception):
    """A question was given up: the client does not want the answer any more."""


class Session:
    """The open documents and the latest result of each."""

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}
        self._results: dict[str, Result] = {}
        self._good: dict[str, Result] = {}
        self._serial = 0

    def put(
        self, uri: str, path: Path, version: int | None, source: SourceText | None, cells: Cells | None = None
    ) -> Document:
        """A document is opened or has a new text."""
        self._serial += 1
        document = self._documents[uri] = Document(uri, path, version, source, self._serial, cells)
        return document

    def remove(self, uri: str) -> None:
        """A document is closed."""
        for known in (self._documents, self._results, self._good):
            known.pop(uri, None)

    def document(self, uri: str) -> Document | None:
        return self._documents.get(uri)

    def documents(self) -> tuple[Document, ...]:
        """All open documents as they are now."""
        return tuple(self._documents.values())

    def keep(self, found: Found) -> Result | None:
        """The result, unless the document has moved on or is closed."""
        document = self._documents.get(found.uri)
        if document is None or document.serial != found.serial:
            return None
        good = self._good.get(found.uri)
        kept: tuple[Finding, ...] = ()
        # Only of a text that no longer parses: with other settings, say, nothing is known of what was found before.
        if found.problem_line and good is not None and document.source is not None and good.document.source is not None:
            kept = carried(good.document.source.utf8, good.findings, document.source.utf8)
        result = self._results[found.uri] = Result(document, found, kept)
        if not found.problem:
            self._good[found.uri] = result
        return result

    def result(self, uri: str) -> Result | None:
        """The result for the current version of a document; None when there is none yet."""
        result = self._results.get(uri)
        return result if result is not None and result.document is self._documents.get(uri) else None


def carried(before: bytes, findings: Sequence[Finding], after: bytes) -> tuple[Finding, ...]:
    """The findings of an earlier text whose lines a later one still has, moved to where they are now: those above the
    first line that differs and those below the last one."""
    start, below, _ = differing(before, after)
    head = before.rfind(b"\n", 0, start) + 1
    shift = len(after) - len(before)
    if not (_begins_line(before, below) and _begins_line(after, below + shift)):
        following = before.find(b"\n", below)
        below = following + 1 if following >= 0 else len(before)
    kept = []
    for finding in findings:
        span = finding.span
        if span.end <= head:
            kept.append(finding)
        elif span.start >= below:
            kept.append(replace(finding, span=Span(span.start + shift, span.end + shift)))
    return tuple(kept)


def _begins_line(text: bytes, offset: int) -> bool:
    return offset == 0 or text[offset - 1 : offset] == b"\n"


def differing(before: bytes, after: bytes) -> tuple[int, int, int]:
    """Where two texts begin to differ, and where they cease to in the one and in the other."""
    start = _common(before, after)
    tail = _common(before[start:][::-1], after[start:][::-1])
    return start, len(before) - tail, len(after) - tail


def _common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with; compared by halves, at the speed of memory."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def text_of(path: Path, text: str) -> SourceText | None:
    """A snapshot of what an editor sends; None for half of a surrogate pair, which is no Unicode."""
    bom = text.startswith("\ufeff")
    try:
        utf8 = (text[1:] if bom else text).encode()
    except UnicodeEncodeError:
        return None
    return SourceText(path, utf8, "utf-8", bom)
