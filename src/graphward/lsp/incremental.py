"""The findings of a large file after an edit inside one function: what the edit can reach is looked at again, what was
found elsewhere in the file is moved to where it stands now.

What lies further away than the class of the function, its callers and what it calls is taken to be as it was. The check
of the whole project, which follows when the user pauses, takes nothing for granted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..analysis.module import ClassInfo, FunctionInfo, Module
from ..config import Config
from ..engine.check import Analysis, check
from ..engine.workspace import Workspace
from ..rules.finding import Finding, Span
from ..rules.rule import Rule
from ..source.edits import Edit
from ..source.fixes import Fix
from ..source.text import SourceText
from .documents import differing

# Smaller files are checked whole, which is as fast as anybody types; larger ones too after so many edits.
_LARGE, _IN_A_ROW = 30_000, 50
# With these words a function has to do with the rest of the file, or with what is shown of it.
_WIDE = (b"global ", b"nonlocal ", b"graphward")


_LINE = re.compile(r"\blines? \d")


@dataclass(frozen=True)
class _Outline:
    """A function: its bytes with decorators, where its body begins, and whether another stands around it."""

    qualname: str
    start: int
    body: int
    end: int
    nested: bool


@dataclass(frozen=True)
class Snapshot:
    """What was found in a file, and all that this rests on but its text. `edits` counts those since all of it was
    looked at."""

    source: SourceText
    outline: tuple[_Outline, ...]
    findings: tuple[Finding, ...]
    config: Config
    files: tuple[Path, ...]
    tokens: Mapping[Path, object]
    edits: int = 0

    @classmethod
    def of(
        cls, module: Module, findings: Iterable[Finding], config: Config, files: Iterable[Path],
        tokens: Mapping[Path, object], edits: int = 0,
    ) -> Snapshot:  # fmt: skip
        """Of a file as it was just checked."""
        others = {path: token for path, token in tokens.items() if path != module.path}
        return cls(module.source, _outline(module), tuple(findings), config, tuple(files), others, edits)


def large(source: SourceText) -> bool:
    """Whether it is worth it."""
    return len(source.utf8) >= _LARGE


def findings_after_edit(
    before: Snapshot, module: Module, workspace: Workspace, analysis: Analysis, rules: Sequence[Rule], config: Config,
    tokens: Mapping[Path, object],
) -> list[Finding] | None:  # fmt: skip
    """What is found in the file now, in the order of the text; None where all of it has to be looked at."""
    others = {path: token for path, token in tokens.items() if path != module.path}
    if before.edits >= _IN_A_ROW or before.config != config or before.files != tuple(workspace.files):
        return None
    if before.tokens != others:
        return None
    start, old_end, new_end = differing(before.source.utf8, module.source.utf8)
    outline = _outline(module)
    number = _edited(before.outline, outline, start, old_end, new_end)
    if number is None:
        return None
    one, other = before.outline[number], outline[number]
    texts = (before.source.utf8[one.start : one.end], module.source.utf8[other.start : other.end])
    if any(word in text for word in _WIDE for text in texts):
        return None
    near = _near(module.functions[number], module, analysis)
    # What names a line by its number has to count again.
    counted = [f.span.start for f in before.findings if _LINE.search(_words(f))]
    outlined = list(zip(module.functions, before.outline))
    tops = {_outermost(f) for f, o in outlined if any(o.start <= place < o.end for place in counted)}
    near |= {f for f in module.functions if _outermost(f) in tops}
    spans = [(o.start, o.end) for f, o in outlined if f in near]
    wide = [r for r in rules if r.overrides("visit_cell") or r.overrides("visit_module")]
    narrow = [r for r in rules if r not in wide]
    codes = {r.code for r in narrow}
    moved = []
    for finding in before.findings:
        at = finding.span.start
        if finding.code in codes and not any(first <= at < last for first, last in spans):
            shifted = _moved(finding, start, old_end, new_end - old_end)
            if shifted is None:
                return None
            moved.append(shifted)
    some = replace(analysis, reached={f: r for f, r in analysis.reached.items() if f in near})
    for asked, known in ((narrow, some), (wide, analysis)):
        entry = check(workspace, asked, config, only=[module.path], analysis=known).files.get(module.path)
        moved += entry.findings if entry is not None else ()
    unique = {(f.code, f.span.start, f.span.end, f.message): f for f in reversed(moved)}
    return sorted(unique.values(), key=lambda f: (f.span.start, f.span.end, f.code))


def _words(finding: Finding) -> str:
    """All that a finding says."""
    return " ".join((finding.message, *finding.evidence, *(f"{fix.title} {fix.reason}" for fix in finding.fixes)))


def _outline(module: Module) -> tuple[_Outline, ...]:
    return tuple(
        _Outline(
            f.qualname, module.source.line_starts[f.first_line - 1], module.start(f.node.body[0]), module.end(f.node),
            f.outer is not None,
        )
        for f in module.functions
    )  # fmt: skip


def _edited(
    old: Sequence[_Outline], new: Sequence[_Outline], start: int, old_end: int, new_end: int
) -> int | None:
    """The number of the outermost function in whose body all of the edit lies, in the old text and in the new one; None
    where there is none, and where functions came or went."""
    if [o.qualname for o in old] != [o.qualname for o in new]:
        return None
    for i, (one, other) in enumerate(zip(old, new)):
        inside = one.body <= start and old_end <= one.end and other.body <= start and new_end <= other.end
        if inside and not one.nested:
            return i
    return None


def _near(edited: FunctionInfo, module: Module, analysis: Analysis) -> set[FunctionInfo]:
    """The functions of the file that are looked at again: the edited one with those of its class and of the classes
    above and below it, those that call these, those that are called by the edited one; each with what it is nested in
    and what is nested in it."""
    project = analysis.project
    family: set[ClassInfo] = set()
    if edited.owner is not None:
        above = project.mro(edited.owner)
        family = {c for c in module.classes if c in above or edited.owner in project.mro(c)}
    near = {f for f in module.functions if f is edited or f.owner in family}
    inside = {f for f in module.functions if _outermost(f) is edited}
    around = set()
    for function in near:
        reached = analysis.reached.get(function)
        around |= {caller.function for caller, _ in reached.sites} if reached is not None else set()
    for function, reached in analysis.reached.items():
        if any(caller.function in inside for caller, _ in reached.sites):
            around.add(function)
    tops = {_outermost(f) for f in near | around}
    return {f for f in module.functions if _outermost(f) in tops}


def _outermost(function: FunctionInfo) -> FunctionInfo:
    while function.outer is not None:
        function = function.outer
    return function


def _moved(finding: Finding, start: int, end: int, shift: int) -> Finding | None:
    """A finding of the old text in the new one; None when the edit touches it or one of its fixes."""

    def place(first: int, last: int) -> tuple[int, int] | None:
        if last < start:
            return first, last
        return (first + shift, last + shift) if first > end else None

    span = place(finding.span.start, finding.span.end)
    fixes: list[Fix] = []
    for fix in finding.fixes:
        edits = []
        for edit in fix.edits:
            moved = place(edit.start, edit.end)
            if moved is None:
                return None
            edits.append(Edit(*moved, edit.text, edit.order))
        fixes.append(replace(fix, edits=tuple(edits)))
    return None if span is None else replace(finding, span=Span(*span), fixes=tuple(fixes))
