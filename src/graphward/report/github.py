"""Findings as GitHub workflow commands, which GitHub shows on the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterable

from ..rules.finding import Consequence
from ..source.paths import display
from .rows import Row

_LEVELS = {Consequence.ERROR: "error", Consequence.DIVERGENCE: "error", Consequence.INFO: "notice"}


def render_findings(rows: Iterable[Row]) -> str:
    """One command a line."""
    lines = []
    for row in rows:
        finding = row.finding
        (line, column), (end_line, end_column) = row.start, row.end
        level = _LEVELS.get(finding.consequence, "warning")
        place = f"line={line},endLine={end_line},col={column},endColumn={end_column}"
        file = _property(display(row.path))
        title = _property(f"{finding.code} {finding.name}")
        lines.append(f"::{level} file={file},{place},title={title}::{_data(finding.message)}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
