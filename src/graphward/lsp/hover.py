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


def hover(source: SourceText, findings: Sequence[tuple[Finding, str, str | None]]) -> str:
    """Markdown for the findings at a place; each with its rule's page and the address of that, if there is one."""
    return "\n\n---\n\n".join(_one(source, *finding) for finding in findings)


def _one(source: SourceText, finding: Finding, page: str, link: str | None) -> str:
    code = f"[{finding.code}]({link})" if link else finding.code
    parts = [f"**{code} {finding.name}**: {finding.message} ({MEANINGS[finding.consequence]})"]
    parts.append(_BECOMES[finding.consequence])
    if finding.evidence:
        parts.append("Because " + "; ".join(finding.evidence) + ".")
    if len(finding.call_path) > 1:
        parts.append("Reached by `" + "` → `".join(step.partition(":")[2] for step in finding.call_path) + "`.")
    for fix in finding.fixes[:1]:
        parts += _rewrite(source, fix)
    parts += [f"Or: {f.title} ({_trust(f)})." for f in finding.fixes[1:]]
    prevented = section(page, "Why")
    if prevented:
        parts.append(prevented)
    return "\n\n".join(parts)


def _rewrite(source: SourceText, fix: Fix) -> list[str]:
    head = f"{fix.title} ({_trust(fix)})"
    if fix.applicability is Applicability.MANUAL:
        return [f"{head}."]
    try:
        after = apply_fixes(source, [fix])
    except DoesNotParse:
        return [f"{head}."]
    lines = difflib.unified_diff(source.text.splitlines(), after.text.splitlines(), n=0, lineterm="")
    changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    if len(changed) > _LINES:
        changed = [*changed[:_LINES], f"… {len(changed) - _LINES} more lines"]
    return [f"{head}:", "```diff\n" + "\n".join(changed) + "\n```"]


def _trust(fix: Fix) -> str:
    return f"{fix.applicability.value}: {fix.reason}" if fix.reason else fix.applicability.value


def section(page: str, title: str) -> str:
    """A section of a rule's page, without its heading; empty when it has none."""
    parts = _SECTION.split(page)
    return next((body.strip() for name, body in zip(parts[1::2], parts[2::2]) if name.strip() == title), "")


def plain(markdown: str) -> str:
    """For clients that show no Markdown."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return re.sub(r"```\w*\n?|\*\*|`", "", text)
