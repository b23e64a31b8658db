"""What the panel says of a finding: message, evidence, consequence, fixes with their reasons, the error that the rule
prevents, the proof."""

from __future__ import annotations

from rich.text import Text

from ...report.text import MEANINGS
from ...source.fixes import Fix
from ..pages import prevented
from ..state import Entry, Proof, State
from ..visible import visible
from .marks import APPLICABILITY_STYLES, CONSEQUENCE_STYLES, STATUS_STYLES, VERDICT_STYLES


def panel_text(state: State, entry: Entry) -> Text:
    """All of it, in paragraphs that are still to be wrapped."""
    finding = entry.item.finding
    text = Text()
    text.append(f"{visible(finding.message)}\n", "bold")
    text.append(finding.consequence.value, CONSEQUENCE_STYLES[finding.consequence])
    text.append(f": {MEANINGS[finding.consequence]}")
    text.append(" · ", "dim")
    text.append(entry.status.value, STATUS_STYLES[entry.status])
    if entry.note:
        text.append(f": {visible(entry.note)}")
    proof = state.proofs.get((entry.item.path, entry.key))
    if proof is not None:
        _add_proof(text, proof, proof.fixes == state.fixes_of(entry))
    _add_fixes(text, state, entry)
    steps = [step.partition(":")[2] for step in finding.call_path]
    text.append("\nin ", "dim")
    text.append(visible(" → ".join(steps) or finding.region))
    for reason in finding.evidence:
        text.append("\nbecause ", "dim")
        text.append(visible(reason))
    error = prevented(finding.code)
    if error:
        text.append("\nprevents ", "dim")
        text.append(visible(error))
    return text


def _add_fixes(text: Text, state: State, entry: Entry) -> None:
    shown = state.shown(entry)
    alternatives = list(state.alternatives(entry))
    if entry.decision is not None and entry.decision.fix not in entry.item.fixes:
        alternatives.insert(0, entry.decision.fix)
    for fix in sorted(alternatives, key=lambda fix: fix is not shown):
        _add_fix(text, fix, "▶ " if fix is shown else "  ")
    for fix in entry.item.by_hand:
        _add_fix(text, fix, "  ")


def _add_fix(text: Text, fix: Fix, mark: str) -> None:
    kind = fix.applicability.value
    text.append(f"\n{mark}")
    text.append(f"{kind} fix", APPLICABILITY_STYLES[kind])
    text.append(f" {visible(fix.title)}")
    if fix.reason:
        text.append(f": {visible(fix.reason)}", "dim")


def _add_proof(text: Text, proof: Proof, current: bool) -> None:
    verdict = proof.verdict
    text.append("\nproof ", "dim")
    text.append(verdict.verdict, VERDICT_STYLES.get(verdict.verdict, "bold"))
    text.append(f" {visible(verdict.inputs.target)}")
    if verdict.message and not verdict.verified:
        text.append(f": {visible(verdict.message)}")
    if verdict.inputs.specs:
        text.append(f" · inputs {verdict.inputs.source}: {', '.join(verdict.inputs.specs)}", "dim")
    if not current:
        text.append(" · with other fixes than now", "yellow")
