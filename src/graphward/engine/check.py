"""Checking: the rules over everything that the graph regions of a workspace compile."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path

from ..analysis.inference import Inference
from ..analysis.module import ClassInfo, FunctionInfo, Module
from ..analysis.project import Project
from ..analysis.regions import Reached, Region, graph_regions, reach
from ..config import Config
from ..rules.context import CellContext, FunctionContext, Options
from ..rules.finding import Finding
from ..rules.module_context import ModuleContext
from ..rules.rule import Rule
from ..rules.selection import matches
from ..rules.suppression import unsuppressed
from ..rules.suspects import Suspect
from ..source.fixes import Applicability
from ..source.notebook_text import NotebookText
from ..source.text import SourceText
from .cells import in_cells
from .recorded import recorded_kinds, recorded_shapes
from .visits import Visits
from .workspace import Problem, Workspace

Progress = Callable[[int, int], None]


@dataclass
class FileFindings:
    """What was found in one file, over one snapshot of it."""

    source: SourceText
    findings: list[Finding] = field(default_factory=list)


@dataclass
class CheckResult:
    """Findings by file in the order of the files; problems by path."""

    files: dict[Path, FileFindings] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def all_findings(self) -> list[tuple[Path, Finding]]:
        return [(path, f) for path, entry in self.files.items() for f in entry.findings]


@dataclass
class Analysis:
    """What the analysis knows of a workspace."""

    project: Project
    modules: list[Module]
    regions: list[Region]
    reached: dict[FunctionInfo, Reached]
    inference: Inference

    def release(self) -> None:
        """Give the memory of the trees back. Nodes, functions, classes and kinds hold each other in circles, and to
        walk millions of them in search of such costs more than the check itself; so the circles are cut by hand."""
        for module in self.project.modules.values():
            for part in (*module.functions, *module.classes, module):
                vars(part).clear()
        self.inference.release()
        for part in (self.project, self):
            vars(part).clear()


def analyse(workspace: Workspace) -> Analysis:
    """Parse, index and find the graph regions."""
    # Trees are millions of small objects without cycles worth collecting.
    enabled = gc.isenabled()
    gc.disable()
    try:
        modules = workspace.graph_modules()
        project = Project(workspace.load)
        for module in modules:
            project.add(module)
        regions = graph_regions(project, modules)
        reached = reach(project, regions)
        known = dict.fromkeys([*modules, *(r.function.module for r in reached.values())])
        recorded = recorded_kinds(project, known, workspace.recordings)
        shapes = recorded_shapes(project, known, workspace.recordings)
        inference = Inference(project, reached, recorded=recorded, shapes=shapes)
        return Analysis(project, modules, regions, reached, inference)
    finally:
        if enabled:
            gc.enable()


def check(
    workspace: Workspace, rules: Sequence[Rule], config: Config, *, only: Iterable[Path] | None = None,
    progress: Progress | None = None, analysis: Analysis | None = None,
) -> CheckResult:  # fmt: skip
    """The findings in the files of the workspace (or in `only`), suppressed ones left out. `analysis` is that of the
    workspace as it stands, where there is one already."""
    analysis = analysis or analyse(workspace)
    wanted = set(workspace.files if only is None else only)
    options = Options(config.op_style, config.target_version, run_mode=config.run_mode, amp_level=config.amp_level,
                      units=config.units, unit_names=config.unit_names)  # fmt: skip
    analysis.inference.version = config.target_version
    by_module: dict[Module, list[Reached]] = {}
    for reached in analysis.reached.values():
        by_module.setdefault(reached.function.module, []).append(reached)
    modules = [m for m in {**dict.fromkeys(analysis.modules), **by_module} if m.path in wanted]
    scripts = _scripts(workspace, rules, wanted - {m.path for m in modules}, analysis.project)
    modules += scripts
    result = CheckResult()
    found: dict[Path, FileFindings] = {}
    for i, module in enumerate(modules):
        if progress:
            progress(i, len(modules))
        told = [s for s in workspace.suspects if s.path == module.path]
        asked = scripts.get(module, rules)
        findings = _check_module(module, by_module.get(module, []), analysis, asked, options, config, told)
        if findings:
            found[module.path] = FileFindings(module.source, findings)
    workspace.check_syntax()
    result.problems = workspace.all_problems()
    result.files = {path: found[path] for path in workspace.files if path in found}
    return result


def _scripts(
    workspace: Workspace, rules: Sequence[Rule], paths: set[Path], project: Project
) -> dict[Module, Sequence[Rule]]:
    """The files without graph code in `paths`, with the rules about whole files that may find something there."""
    asking = [r for r in rules if r.overrides("visit_module")]
    found: dict[Module, Sequence[Rule]] = {}
    for path in workspace.files if asking else ():
        source = workspace.source(path) if path in paths and path not in workspace.problems else None
        if source is None or b"mindspore" not in source.utf8:
            continue
        if any(r.concerns(source.utf8) for r in asking if any(t in source.utf8 for t in r.triggers)):
            module = workspace.module(path)
            if module is not None:
                project.modules.setdefault(module.name, module)
                found[module] = asking
    return found


def _check_module(
    module: Module, functions: list[Reached], analysis: Analysis, rules: Sequence[Rule], options: Options,
    config: Config, suspects: Sequence[Suspect],
) -> list[Finding]:  # fmt: skip
    # Rules share triggers: each is looked for once.
    present = {t: t in module.source.utf8 for t in {t: None for r in rules for t in r.triggers}}
    active = [r for r in rules if any(present[t] for t in r.triggers) and r.concerns(module.source.utf8)]
    active = [r for r in active if not _ignored_here(r, module.path, config)]
    if not active:
        return []
    visits = Visits(module, active)
    findings: list[Finding] = []
    nested = _nested_nodes(functions)
    for reached in functions:
        skip = nested.get(reached.function, frozenset())
        findings += visits.findings(FunctionContext(reached, analysis.inference, options), skip)
        for suspect in suspects:
            lines = suspect.lines_in(reached.function)
            if lines:
                asked = Visits(module, [r for r in active if r.code.startswith(suspect.rules)])
                context = FunctionContext(reached, analysis.inference, options, lines)
                known = {(f.code, f.span) for f in findings}
                told = (f for f in asked.findings(context, skip) if (f.code, f.span) not in known)
                findings += [_doubted(f) for f in told if module.source.position(f.span.start)[0] in lines]
    cells = [r for r in active if r.overrides("visit_cell")]
    if cells:
        for info in module.classes:
            if _is_cell(analysis.project, info):
                for rule in cells:
                    findings += rule.visit_cell(CellContext(info, analysis.inference, options))
    whole = [r for r in active if r.overrides("visit_module")]
    if whole:
        everything = ModuleContext(module, analysis.inference, options)
        for rule in whole:
            findings += rule.visit_module(everything)
    unique = {(f.code, f.span.start, f.span.end, f.message): f for f in reversed(findings)}
    ordered = sorted(unique.values(), key=lambda f: (f.span.start, f.span.end, f.code))
    kept = unsuppressed(module.source, ordered)
    return [in_cells(module.source, f) for f in kept] if isinstance(module.source, NotebookText) else kept


def _doubted(finding: Finding) -> Finding:
    """A finding that rests on an assumption: none of its fixes is safe."""
    reason = "it rests on what the compiler said of this line, not on what is known of the values"
    fixes = (
        replace(fix, applicability=Applicability.UNSAFE, reason=fix.reason or reason)
        if fix.applicability is Applicability.SAFE else fix
        for fix in finding.fixes
    )  # fmt: skip
    return replace(finding, fixes=tuple(fixes))


def _nested_nodes(functions: list[Reached]) -> dict:
    """For each function, the nodes that belong to a nested function which is reached by itself."""
    reached = {r.function for r in functions}
    found: dict = {}
    for function in reached:
        outer = function.outer
        while outer is not None:
            if outer in reached:
                found[outer] = found.get(outer, frozenset()) | frozenset(function.nodes)
            outer = outer.outer
    return found


def _is_cell(project: Project, info: ClassInfo) -> bool:
    known = project.is_cell(info)
    return known is True or (known is None and project.method(info, "construct") is not None)


def _ignored_here(rule: Rule, path: Path, config: Config) -> bool:
    if not config.per_file_ignores:
        return False
    resolved = path.resolve()
    relative = resolved.relative_to(config.root).as_posix() if resolved.is_relative_to(config.root) else str(resolved)
    return any(
        (fnmatch(relative, pattern) or fnmatch(path.name, pattern)) and any(matches(i, rule) for i in items)
        for pattern, items in config.per_file_ignores.items()
    )
