"""Findings as JSON: the fields of the command-line contract, and nothing but JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ..source.edits import Edit
from ..source.paths import display
from ..source.text import SourceText
from .rows import Row, complete_edits


def render_findings(rows: Iterable[Row]) -> str:
    """One array, an object for each finding. Lines and columns count from 1, columns in characters."""
    return json.dumps([finding_object(row) for row in rows], indent=2, ensure_ascii=False)


def finding_object(row: Row) -> dict[str, Any]:
    """The object of one finding."""
    finding, source = row.finding, row.source
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "consequence": finding.consequence.value,
        "path": display(row.path),
        **_span(source, finding.span.start, finding.span.end),
        "region": finding.region,
        "call_path": list(finding.call_path),
        "evidence": list(finding.evidence),
        "fixes": [
            {
                "title": fix.title,
                "applicability": fix.applicability.value,
                "reason": fix.reason,
                "restores_gradient": fix.restores_gradient,
                "edits": [edit_object(source, edit) for edit in complete_edits(source, fix)],
            }
            for fix in finding.fixes
        ],
    }


def edit_object(source: SourceText, edit: Edit) -> dict[str, Any]:
    """The object of one edit."""
    return {**_span(source, edit.start, edit.end), "text": edit.text}


def _span(source: SourceText, start: int, end: int) -> dict[str, int]:
    """In a notebook the cell comes first, and the lines are those of the cell."""
    cell, line, column = source.place(start)
    _, end_line, end_column = source.place(end)
    span = {"line": line, "column": column, "end_line": end_line, "end_column": end_column}
    return span if cell is None else {"cell": cell, **span}
