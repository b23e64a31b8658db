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
        level = _LEVELS.get(finding.consequence, "warning")
        place = f"line={row.start_on_disk},endLine={row.end_on_disk}"
        if row.start.cell is None:
            place += f",col={row.start.column},endColumn={row.end.column}"
        file = _property(display(row.path))
        title = _property(f"{finding.code} {finding.name}")
        lines.append(f"::{level} file={file},{place},title={title}::{_data(row.message)}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
