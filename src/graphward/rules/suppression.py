"""Suppression in the code: `# graphward: ignore[GW101]` on a line, `# graphward: ignore-file[GW2]` anywhere."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence

from ..source.text import SourceText
from .finding import Finding

_MARK = re.compile(r"#\s*graphward:\s*(ignore-file|ignore)(?![\w-])\s*(?:\[([^\]]*)\])?")


def unsuppressed(source: SourceText, findings: Sequence[Finding]) -> list[Finding]:
    """The findings that no comment of the file silences. A mark without brackets silences every rule; one on any
    line of the finding's span counts."""
    if not findings or b"graphward:" not in source.utf8:
        return list(findings)
    lines, whole = _marks(source.text)
    kept = []
    for finding in findings:
        first = source.position(finding.span.start)[0]
        last = source.position(finding.span.end)[0]
        items = [*whole, *(item for line in range(first, last + 1) for item in lines.get(line, ()))]
        if not any(item == "" or finding.code.startswith(item.upper()) or finding.name == item for item in items):
            kept.append(finding)
    return kept


def _marks(text: str) -> tuple[dict[int, list[str]], list[str]]:
    lines: dict[int, list[str]] = {}
    whole: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        found = _MARK.search(token.string) if token.type == tokenize.COMMENT else None
        if found:
            items = [i.strip() for i in found[2].split(",")] if found[2] is not None else [""]
            items = [i for i in items if i or found[2] is None]
            if found[1] == "ignore-file":
                whole += items
            else:
                lines.setdefault(token.start[0], []).extend(items)
    return lines, whole
