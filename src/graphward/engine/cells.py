"""Findings in a notebook in the words of its reader, who knows cells and their lines."""

from __future__ import annotations

import re
from dataclasses import replace

from ..rules.finding import Finding
from ..source.notebook_text import NotebookText

# Lines of other files are told with the names of these.
_LINE = re.compile(r"(?<!\.py, )\bline (\d+)\b")


def in_cells(source: NotebookText, finding: Finding) -> Finding:
    """The finding with the lines that its texts name told as those of cells."""
    here = re.compile(rf"{re.escape(source.path.name)}:(\d+)\b")

    def told(text: str) -> str:
        def place(match: re.Match[str]) -> str:
            cell, line, _ = source.place(source.offset(int(match[1]), 0))
            return f"{source.path.name}:cell {cell}:{line}"

        return here.sub(place, _LINE.sub(lambda match: source.line_named(int(match[1])), text))

    fixes = tuple(replace(fix, title=told(fix.title), reason=told(fix.reason)) for fix in finding.fixes)
    evidence = tuple(told(text) for text in finding.evidence)
    return replace(finding, message=told(finding.message), evidence=evidence, fixes=fixes)
