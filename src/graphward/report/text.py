"""Findings as text for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..rules.finding import Consequence
from ..source.fixes import Applicability
from ..source.paths import display
from .rows import Row, place_of

_COLORS = {
    Consequence.ERROR: "bold red", Consequence.FALLBACK: "yellow", Consequence.DIVERGENCE: "bold magenta",
    Consequence.PERFORMANCE: "cyan", Consequence.DEPRECATED: "blue", Consequence.INFO: "dim",
}  # fmt: skip
MEANINGS = {
    Consequence.ERROR: "does not compile", Consequence.FALLBACK: "runs in the Python interpreter",
    Consequence.DIVERGENCE: "compiles, computes something else", Consequence.PERFORMANCE: "slow or compiled again",
    Consequence.DEPRECATED: "deprecated", Consequence.INFO: "interpreted once while compiling",
}  # fmt: skip


def render_findings(rows: Sequence[Row]) -> str:
    """One block a finding, in Rich markup."""
    from rich.markup import escape

    blocks = []
    for row in rows:
        finding = row.finding
        place = place_of(row.path, row.source, finding.span.start).removeprefix(display(row.path))
        color = _COLORS[finding.consequence]
        head = f"[bold]{escape(display(row.path))}[/]{place} [bold]{finding.code}[/] "
        lines = [f"{head}[{color}]{finding.consequence.value}[/] {escape(finding.message)}"]
        where = finding.region
        if finding.call_path:
            where = " -> ".join(step.partition(":")[2] for step in finding.call_path)
        lines.append(f"    [dim]in {escape(where)}[/]")
        lines += [f"    [dim]because {escape(reason)}[/]" for reason in finding.evidence]
        for fix in finding.fixes:
            note = f": {fix.reason}" if fix.reason else ""
            lines.append(f"    [green]{fix.applicability.value} fix[/] {escape(fix.title + note)}")
        blocks.append("\n".join(lines))
    return "\n".join(blocks)


def render_summary(rows: Sequence[Row]) -> str:
    """What was found, in one or two lines."""
    if not rows:
        return "Nothing found: no known obstacle to Graph Mode."
    by_consequence = Counter(row.finding.consequence for row in rows)
    parts = [f"{by_consequence[c]} {c.value}" for c in Consequence if by_consequence[c]]
    files = len({row.path for row in rows})
    best = Counter(min((f.applicability.rank for f in r.finding.fixes), default=3) for r in rows)
    safe, unsafe = best[Applicability.SAFE.rank], best[Applicability.UNSAFE.rank]
    text = f"Found {_count(len(rows), 'finding')} in {_count(files, 'file')}: {', '.join(parts)}."
    if safe or unsafe:
        text += (
            f"\n{safe} can be fixed safely (`graphward fix`), {unsafe} more with `--unsafe-fixes` or, proven, "
            "`graphward migrate`."
        )
    return text


def render_statistics(rows: Sequence[Row]) -> str:
    """Counts by rule, most frequent first."""
    counts = Counter((r.finding.code, r.finding.name, r.finding.consequence.value) for r in rows)
    return "\n".join(f"{n:6}  {code}  {name}  ({what})" for (code, name, what), n in counts.most_common())


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
