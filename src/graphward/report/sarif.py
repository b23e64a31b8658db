"""Findings as SARIF 2.1.0, for code scanning services and editors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from .. import __version__
from ..rules.finding import Consequence
from ..rules.rule import Rule
from ..source.edits import Edit
from ..source.fixes import Fix
from ..source.paths import display
from .json import edit_object
from .rows import Row, complete_edits

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Consequence.ERROR: "error", Consequence.DIVERGENCE: "error", Consequence.INFO: "note"}


def render_findings(rows: Iterable[Row], rules: Sequence[Rule]) -> str:
    """One SARIF log with one run."""
    driver = {
        "name": "graphward", "semanticVersion": __version__, "rules": [_rule(rule) for rule in rules],
    }  # fmt: skip
    run = {
        "tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": [_result(row) for row in rows],
    }  # fmt: skip
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary()},
        "fullDescription": {"text": rule.page()},
        "help": {"text": rule.page(), "markdown": rule.page()},
        "properties": {"family": rule.family(), "targets": rule.targets},
    }


def _result(row: Row) -> dict[str, Any]:
    finding = row.finding
    uri = display(row.path).replace("\\", "/")
    region = _region(row, finding.span.start, finding.span.end)
    location = {
        "physicalLocation": {"artifactLocation": {"uri": uri}, "region": region},
        "logicalLocations": [{"fullyQualifiedName": finding.region, "kind": "function"}],
    }
    return {
        "ruleId": finding.code,
        "level": _LEVELS.get(finding.consequence, "warning"),
        "message": {"text": row.message},
        "locations": [location],
        "fixes": [
            {
                "description": {"text": _description(fix)},
                "artifactChanges": [
                    {
                        "artifactLocation": {"uri": uri},
                        "replacements": [
                            {"deletedRegion": _region(row, e.start, e.end), "insertedContent": {"text": e.text}}
                            for e in complete_edits(row.source, fix)
                        ],
                    }
                ],
            }
            for fix in finding.fixes
            # What would be inserted in a notebook is JSON.
            if fix.edits and row.start.cell is None
        ],
        "properties": {"consequence": finding.consequence.value, "callPath": list(finding.call_path)},
    }


def _description(fix: Fix) -> str:
    reason = f": {fix.reason}" if fix.reason else ""
    return f"{fix.title} ({fix.applicability.value}{reason})"


def _region(row: Row, start: int, end: int) -> dict[str, int]:
    if row.start.cell is not None:
        return {"startLine": row.start_on_disk, "endLine": row.end_on_disk}
    place = edit_object(row.source, Edit(start, end, ""))
    return {
        "startLine": place["line"], "startColumn": place["column"], "endLine": place["end_line"],
        "endColumn": place["end_column"],
    }  # fmt: skip
