"""The repair loop: what the compiler said of a target becomes findings where the analysis was not sure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ..config import Config
from ..engine.check import CheckResult, check
from ..engine.workspace import Workspace
from ..knowledge.errors import entry_for
from ..rules.rule import Rule
from ..rules.suspects import Suspect
from ..source.text import SourceText
from ..verify.verdicts import SideResult, Verdict
from .coverage import ProofTarget, place_at

MAX_ROUNDS = 4
"""How often a run is repeated with what the compiler told of the one before."""


def suspects(
    workspace: Workspace, verdicts: Iterable[Verdict], targets: Mapping[str, ProofTarget],
    rewritten: Mapping[Path, SourceText],
) -> Iterator[Suspect]:  # fmt: skip
    """The lines that the compiler points at in what it did not accept. `targets` are those of the verdicts, by id;
    `rewritten` the texts of the files that the fixes changed."""
    before = {path.resolve(): workspace.source(path) for path in workspace.files}
    after = {**before, **{path.resolve(): text for path, text in rewritten.items()}}
    for verdict in verdicts:
        if verdict.verified or verdict.id not in targets:
            continue
        tree = targets[verdict.id].target.tree
        yield from _of_side(verdict.original, tree, before)
        yield from _of_side(verdict.rewritten, tree, after)


def _of_side(side: SideResult | None, tree: Path, texts: Mapping[Path, SourceText | None]) -> Iterator[Suspect]:
    for error in () if side is None else (side.error, side.lax_error):
        if error is None or error.path is None or error.line is None:
            continue
        entry = entry_for(error.text or error.message)
        source = texts.get((tree / error.path).resolve())
        if entry is None or not entry.repairs or source is None or error.line > len(source.line_starts):
            continue
        path, function = place_at(source, source.offset(error.line, 0))
        yield Suspect(path, function, source.line_bytes(error.line).strip(), entry.repairs)


def brings_more(workspace: Workspace, rules: Sequence[Rule], config: Config, before: CheckResult) -> bool:
    """Whether the suspects of the workspace make fixes that were not there before."""
    files = list({s.path for s in workspace.suspects})
    return _fixes(check(workspace, rules, config, only=files)) > _fixes(before, files)


def _fixes(result: CheckResult, files: Sequence[Path] | None = None) -> int:
    return sum(
        any(fix.edits for fix in finding.fixes)
        for path, finding in result.all_findings()
        if files is None or path in files
    )
