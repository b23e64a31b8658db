"""Fixing to a fixpoint: bounded passes over the workspace until no fix applies any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..config import Config
from ..rules.finding import Finding
from ..rules.rule import Rule
from ..source.fixes import Applicability, Fix
from ..source.text import SourceText
from .apply import DoesNotParse, apply_fixes, compatible, drop_unused_imports
from .check import CheckResult, Progress, check
from .workspace import Workspace

MAX_PASSES = 20

Chooser = Callable[[SourceText, Finding], Fix | None]
"""Which fix of a finding, made over that snapshot, is to be applied; None for none."""


@dataclass(frozen=True)
class Applied:
    """One fix that was applied, and the snapshot, of the pass in which it was, that its spans count in."""

    finding: Finding
    fix: Fix
    source: SourceText


@dataclass
class FileChange:
    """One file before and after."""

    before: SourceText
    after: SourceText
    applied: list[Applied] = field(default_factory=list)


@dataclass
class FixResult:
    """`changes` by file, `first` what was found before any fix, `remaining` what is left after all of them.
    `refused` says of fixes why they were not applied."""

    changes: dict[Path, FileChange]
    first: CheckResult
    remaining: CheckResult
    refused: list[str]


def within(limit: Applicability) -> Chooser:
    """Choose the preferred fix no less trustworthy than `limit`."""
    return lambda source, finding: finding.fix_within(limit)


def fix(
    workspace: Workspace, rules: Sequence[Rule], config: Config, choose: Chooser, *,
    only: Iterable[Path] | None = None, progress: Progress | None = None,
) -> FixResult:  # fmt: skip
    """Apply what `choose` picks, pass by pass; overlapping fixes wait for the next pass. The workspace reads as the
    result afterwards; nothing is written.

    A fix whose result does not parse is left out and named in `refused`; passes that do not end within MAX_PASSES
    are reported there too.
    """
    only = None if only is None else list(only)
    first = result = check(workspace, rules, config, only=only, progress=progress)
    changes: dict[Path, FileChange] = {}
    refused: list[str] = []
    banned: set[tuple[Path, str]] = set()
    for _ in range(MAX_PASSES):
        touched = False
        for path, entry in result.files.items():
            offered = [(f, x) for f in entry.findings if (x := choose(entry.source, f))]
            picked = [(f, x) for f, x in offered if (path, x.title) not in banned]
            done = _apply(path, entry.source, picked, refused, banned)
            if done is None:
                continue
            after, applied = done
            change = changes.setdefault(path, FileChange(entry.source, after))
            change.after = after
            change.applied += applied
            workspace.replace(path, after)
            touched = True
        if not touched:
            break
        result = check(workspace, rules, config, only=only)
    else:
        codes = sorted({f.code for e in result.files.values() for f in e.findings if choose(e.source, f)})
        refused.append(f"the fixes of {', '.join(codes)} did not come to rest in {MAX_PASSES} passes; please report it")
    for path, change in changes.items():
        change.after = drop_unused_imports(change.before, change.after)
        workspace.replace(path, change.after)
    if changes:
        result = check(workspace, rules, config, only=only)
    changes = {path: c for path, c in changes.items() if c.before.utf8 != c.after.utf8}
    return FixResult(changes, first, result, refused)


def _apply(
    path: Path, source: SourceText, picked: list[tuple[Finding, Fix]], refused: list[str], banned: set[tuple[Path, str]]
) -> tuple[SourceText, list[Applied]] | None:
    """The file after this pass, or None when nothing changed."""
    chosen = compatible(fix for _, fix in picked)
    while chosen:
        try:
            after = apply_fixes(source, chosen)
            break
        except DoesNotParse:
            chosen = _parsing_subset(path, source, chosen, refused, banned)
    else:
        return None
    if after.utf8 == source.utf8:
        return None
    edits = [fix.edits for fix in chosen]
    applied = [Applied(f, x, source) for f, x in picked if x.edits in edits]
    return after, applied


def _parsing_subset(
    path: Path, source: SourceText, fixes: list[Fix], refused: list[str], banned: set[tuple[Path, str]]
) -> list[Fix]:
    kept = []
    for fix in fixes:
        try:
            apply_fixes(source, [fix])
            kept.append(fix)
        except DoesNotParse as error:
            banned.add((path, fix.title))
            refused.append(f"{path}: {error}; please report it")
    # Fixes that parse one by one but not together: the first alone, the others in later passes.
    return kept if len(kept) < len(fixes) else kept[:1]
