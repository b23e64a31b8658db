"""The comments that silence a rule, as edits."""

from __future__ import annotations

import re

from ..rules.finding import Finding
from ..rules.suppression import unsuppressed
from ..source.edits import Edit
from ..source.fixes import Applicability, Fix
from ..source.text import SourceText
from .apply import DoesNotParse, apply_fixes

_LISTED = re.compile(rb"#\s*graphward:\s*ignore\s*\[[^\]]*(?=\])")
_LISTED_IN_FILE = re.compile(rb"#\s*graphward:\s*ignore-file\s*\[[^\]]*(?=\])")
# What has to stay where it is: the first line of a script, and the coding cookie of the first two.
_HEAD = re.compile(rb"(?:#![^\n]*\n)?(?:[ \t\f]*#[^\n]*coding[:=][^\n]*\n)?")


def on_line(source: SourceText, finding: Finding) -> Fix | None:
    """`# graphward: ignore[...]` on the first line of a finding that can hold one; None where none can."""
    first, last = (source.position(offset)[0] for offset in (finding.span.start, finding.span.end))
    for line in range(first, last + 1):
        title = f"Silence {finding.code} on {source.line_named(line)}"
        fix = Fix(title, (_mark(source, line, finding.code),), Applicability.SAFE)
        try:
            after = apply_fixes(source, [fix])
        except DoesNotParse:
            continue  # the line goes on with a backslash
        # The comment counts only where Python sees one, not inside a string; it stands behind the finding's start.
        if not unsuppressed(after, [finding]):
            return fix
    return None


def in_file(source: SourceText, code: str) -> Edit:
    """`# graphward: ignore-file[...]` at the top of the file."""
    listed = _LISTED_IN_FILE.search(source.utf8)
    if listed:
        return Edit(listed.end(), listed.end(), f", {code}")
    head = _HEAD.match(source.utf8)
    place = max(head.end() if head else 0, source.top)
    return Edit(place, place, f"# graphward: ignore-file[{code}]{source.newline}")


def _mark(source: SourceText, line: int, code: str) -> Edit:
    text, start = source.line_bytes(line), source.line_starts[line - 1]
    listed = _LISTED.search(text)
    if listed:
        return Edit(start + listed.end(), start + listed.end(), f", {code}")
    body = text.rstrip(b" \t\r\n\x0c")
    return Edit(start + len(body), start + len(text.rstrip(b"\r\n")), f"  # graphward: ignore[{code}]")
