"""Verdicts for people and for machines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from ..verify.verdicts import Node, SideResult, Verdict

_COLORS = {"verified": "bold green", "diverges": "bold magenta", "fails": "bold red", "falls-back": "yellow"}


def render_json(verdicts: Iterable[Verdict]) -> str:
    """One array, an object for each target."""
    return json.dumps([v.to_json() for v in verdicts], indent=2, ensure_ascii=False)


def render_text(verdicts: Sequence[Verdict]) -> str:
    """A block for each target, in Rich markup."""
    return "\n".join(_block(v) for v in verdicts)


def render_summary(verdicts: Sequence[Verdict]) -> str:
    """How many are verified, of how many."""
    good = sum(v.verified for v in verdicts)
    return f"{good} of {len(verdicts)} {'target' if len(verdicts) == 1 else 'targets'} verified."


def _block(verdict: Verdict) -> str:
    from rich.markup import escape

    before = ""
    if verdict.rewritten is not None and verdict.original is not None:
        before = f"{_colored(verdict.original.verdict)} -> "
    lines = [f"[bold]{escape(verdict.inputs.target)}[/]: {before}{_colored(verdict.verdict)}"]
    if verdict.message and not verdict.verified:
        lines.append(f"    {escape(verdict.message)}")
    if verdict.rewritten is not None and verdict.original is not None and verdict.original.message:
        if verdict.original.verdict != "verified":
            lines.append(f"    [dim]the original: {escape(verdict.original.message)}[/]")
    specs = ", ".join(verdict.inputs.specs) or "none"
    lines.append(f"    [dim]inputs {verdict.inputs.source}: {escape(specs)}[/]")
    side = verdict.judged
    if side is not None:
        lines += [f"    [dim]{escape(text)}[/]" for text in _details(side)]
    if verdict.stand_ins:
        lines.append(f"    [dim]this device lacks kernels; stand-ins for {escape(', '.join(verdict.stand_ins))}[/]")
    notes = (*verdict.notes, *(side.notes if side else ()))
    lines += [f"    [dim]note: {escape(note)}[/]" for note in notes]
    lines += [f"    [yellow]left out[/] {escape(culprit)}" for culprit in verdict.culprits]
    return "\n".join(lines)


def _details(side: SideResult) -> list[str]:
    parts = [f"{name} {value}" for name, value in
             (("outputs", side.outputs), ("gradients", side.gradients), ("state", side.state),
              ("export", side.export)) if value]  # fmt: skip
    lines = [", ".join(parts)] if parts else []
    if side.nodes:
        count = f"{len(side.nodes)} interpreter {'node' if len(side.nodes) == 1 else 'nodes'} left"
        places = _places(side.nodes)
        lines.append(f"{count}, from {', '.join(places)}" if places else count)
    if side.interpreted:
        lines.append(f"interpreted once, while compiling: {', '.join(_places(side.interpreted))}")
    return lines


def _colored(verdict: str) -> str:
    return f"[{_COLORS.get(verdict, 'bold')}]{verdict}[/]"


def _places(nodes: Iterable[Node]) -> list[str]:
    """Each line once, with the first expression on it."""
    found: dict[str, str] = {}
    for node in nodes:
        if node.path:
            found.setdefault(f"{node.path}:{node.line}", f" ({node.expression})" if node.expression else "")
    return [place + expression for place, expression in found.items()]
