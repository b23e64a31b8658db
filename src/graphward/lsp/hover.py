"""What is shown over a marked expression: why it is marked, what becomes of it, the rewrite, the error it prevents."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from ..engine.apply import DoesNotParse, apply_fixes
from ..report.text import MEANINGS
from ..rules.finding import Consequence, Finding
from ..source.fixes import Applicability, Fix
from ..source.text import SourceText

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_MARKS = re.compile(r"[\\`*_{}\[\]<>#|~]")
_FENCE = "```"
# Lines of a rewrite that are shown; the rest is behind the quick fix.
_LINES = 14
_BECOMES = {
    Consequence.ERROR: "Graph Mode refuses to compile it.",
    Consequence.FALLBACK: "Graph Mode hands it to the Python interpreter at each call: slow, not exportable, and in "
    "PyNative without a gradient.",
    Consequence.DIVERGENCE: "It compiles, and Graph Mode computes something else than PyNative.",
    Consequence.PERFORMANCE: "It compiles, but is slow or compiled again and again.",
    Consequence.DEPRECATED: "It works for now; the name is to be removed.",
    Consequence.INFO: "It runs once, in the Python interpreter, while the graph is compiled.",
}


def hover(source: SourceText, findings: Sequence[tuple[Finding, str, str | None]], markdown: bool = True) -> str:
    """What is said of the findings at a place; each with its rule's page and the address of that, if there is one."""
    return ("\n\n---\n\n" if markdown else "\n\n").join(_one(source, *finding, markdown) for finding in findings)


def _one(source: SourceText, finding: Finding, page: str, link: str | None, markdown: bool) -> str:
    say = escaped if markdown else str
    head = f"{finding.code} {finding.name}"
    if markdown:
        head = f"**[{finding.code}]({link}) {finding.name}**" if link else f"**{head}**"
    parts = [f"{head}: {say(finding.message)} ({MEANINGS[finding.consequence]})", _BECOMES[finding.consequence]]
    if finding.evidence:
        parts.append(f"Because {say('; '.join(finding.evidence))}.")
    if len(finding.call_path) > 1:
        names = (step.partition(":")[2] for step in finding.call_path)
        parts.append("Reached by " + " → ".join(f"`{name}`" if markdown else name for name in names) + ".")
    for fix in finding.fixes[:1]:
        changed = _changed(source, fix)
        parts.append(f"{say(_titled(fix))}{':' if changed else '.'}")
        if changed:
            parts.append(f"{_FENCE}diff\n{changed}\n{_FENCE}" if markdown else changed)
    parts += [f"Or: {say(_titled(fix))}." for fix in finding.fixes[1:]]
    prevented = section(page, "Why")
    if prevented:
        parts.append(prevented if markdown else _plain(prevented))
    return "\n\n".join(parts)


def _changed(source: SourceText, fix: Fix) -> str:
    """The lines that a fix takes away and brings; empty where there is nothing to show."""
    if fix.applicability is Applicability.MANUAL:
        return ""
    try:
        after = apply_fixes(source, [fix])
    except DoesNotParse:
        return ""
    lines = difflib.unified_diff(source.text.splitlines(), after.text.splitlines(), n=0, lineterm="")
    changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    if len(changed) > _LINES:
        changed = [*changed[:_LINES], f"… {len(changed) - _LINES} more lines"]
    return "\n".join(changed)


def _titled(fix: Fix) -> str:
    trust = f"{fix.applicability.value}: {fix.reason}" if fix.reason else fix.applicability.value
    return f"{fix.title} ({trust})"


def section(page: str, title: str) -> str:
    """A section of a rule's page, without its heading; empty when it has none."""
    parts = _SECTION.split(page)
    return next((body.strip() for name, body in zip(parts[1::2], parts[2::2]) if name.strip() == title), "")


def escaped(text: str) -> str:
    """Text in which Markdown sees no markup: `__init__` is a name there, not bold."""
    return _MARKS.sub(r"\\\g<0>", text)


def _plain(markdown: str) -> str:
    """The prose of a page for clients that show no Markdown."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return re.sub(r"```\w*\n?|`", "", text)
