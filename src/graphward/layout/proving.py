"""The proof of a layout: every Cell and jit function of the file, imported by its old path, against the original; and
the compile units of the parts, cut by GW601 and proven against the layout."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..analysis.module import Module
from ..config import Config
from ..engine.check import analyse
from ..engine.workspace import Workspace
from ..knowledge.names import JIT_NAMES
from ..migrate.coverage import Coverage, ProofTarget
from ..migrate.run import UNDECIDED, is_harmful, migrate
from ..migrate.trees import Trees
from ..rules.selection import selected_rules
from ..source.text import SourceText
from ..verify.jobs import Job, Options
from ..verify.recordings import recorded_inputs
from ..verify.session import Progress, Proofs, proofs
from ..verify.targets import Target
from ..verify.verdicts import Verdict
from .parts import from_import
from .plan import Layout

_OLD_NAMES = "_graphward_old_names.py"
# A step that nothing compiles is made a graph first; a graph of several parts is then cut where the parts meet.
_UNITS = ("GW613", "GW601")


@dataclass
class Proof:
    """`verdicts` on the file's targets; `units` are the verdicts on compile units, `cut` says which were made."""

    verdicts: list[Verdict] = field(default_factory=list)
    units: list[Verdict] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    @property
    def broken(self) -> list[Verdict]:
        """Targets that do not do what they did."""
        return [v for v in self.verdicts if not as_before(v) and v.verdict not in UNDECIDED]

    @property
    def unproven(self) -> list[Verdict]:
        """Targets that could not be run in the original either."""
        return [v for v in self.verdicts if v.verdict in UNDECIDED]


def as_before(verdict: Verdict) -> bool:
    """Whether the parts do in Graph Mode what the file does, be it right or wrong, and compute the same in PyNative."""
    if verdict.verified:
        return True
    if is_harmful(verdict) or verdict.original is None or verdict.rewritten is None:
        return False
    return verdict.rewritten.verdict == verdict.original.verdict


def prove(
    layout: Layout, config: Config, *, units: bool, progress: Progress | None = None, session: Proofs | None = None
) -> Proof:
    """Prove a layout; with `units`, cut graphs at the parts and change the layout's files where that is proven too.
    `session` makes the proofs where there is one that runs already.

    Raises GraphwardError when there is no usable MindSpore.
    """
    path = layout.before.path
    workspace = Workspace([path])
    coverage = Coverage(workspace, analyse(workspace), config)
    targets = [t for t in [*coverage.declared, *coverage.regions] if t.target.path == path.resolve()]
    result = Proof()
    if not targets:
        return result
    own: AbstractContextManager[Proofs] = nullcontext(session) if session else proofs(config.verify, config.python)
    with Trees() as trees, own as session:
        tree = trees.overlay(targets[0].target.tree, _texts(layout))
        jobs = [_job(layout, target, tree, workspace, config) for target in targets]
        by_id = {v.id: v for v in session.verdicts(jobs, progress)}
        result.verdicts = [by_id[job.id] for job in jobs]
        if units and not result.broken:
            _cut(layout, result, targets, tree, config, session, progress)
    return result


def _texts(layout: Layout) -> dict[Path, SourceText | None]:
    """What the laid out tree has in place of the file."""
    path = layout.before.path.resolve()
    names = "\n".join(from_import(layout.module, layout.exports)) + "\n" if layout.exports else ""
    probe = path.with_name(_OLD_NAMES)
    texts: dict[Path, SourceText | None] = {path: None, probe: SourceText.from_str(probe, names)}
    return texts | {path.parent / file.relative_to(layout.package.parent): text for file, text in layout.files.items()}


def _job(layout: Layout, target: ProofTarget, tree: Path, workspace: Workspace, config: Config) -> Job:
    """A target in the original, against the one that is imported by its old path."""
    recorded = recorded_inputs(workspace.recordings, target.target) if target.inputs is None else None
    options = Options.of(config.verify, ignore_state=tuple(layout.live))
    job = Job.of(target.target, id=target.name, rewritten=tree, inputs=target.inputs, options=options,
                 recorded=recorded)  # fmt: skip
    probe = Path(target.target.file).with_name(_OLD_NAMES).as_posix()
    return replace(job, rewritten_file=probe)


def _cut(
    layout: Layout, result: Proof, targets: list[ProofTarget], tree: Path, config: Config, session: Proofs,
    progress: Progress | None,
) -> None:  # fmt: skip
    """Let GW601 cut the graphs of the package, and keep what is proven."""
    root = targets[0].target.tree
    real = {tree / path.resolve().relative_to(root): path for path in layout.files}
    mapped = {
        _home(layout, tree, root, t.target): t.inputs for t in targets if t.inputs is not None and t.target.expr
    }  # fmt: skip
    settings = replace(config, verify=replace(config.verify, targets=mapped, declared_only=False))
    rules = selected_rules(_UNITS, config.ignore, config.target_version)
    done = migrate(Workspace(list(real)), rules, settings, session=session, progress=progress)
    for path, change in done.fixed.changes.items():
        after = replace(change.after, path=real[path])
        layout.files[real[path]] = after
    result.units = [v for v in done.verdicts if done.fixed.changes]
    result.cut = [
        f"{name} ({path.name})" for path in done.fixed.changes for name in _graphs(layout.files[real[path]])
    ]  # fmt: skip
    result.left = [f"{f.code} {f.message}" for _, f in done.fixed.remaining.all_findings() if f.code == "GW601"]
    result.left += [f"{name}: {why}" for name, why in [*done.turned_away.items(), *done.unproven.items()]]


def _graphs(source: SourceText) -> list[str]:
    """The functions of a module that are graphs of their own."""
    module = Module.parse(source, source.path.stem)
    return [f.qualname for f in module.functions if any(name in JIT_NAMES for name, _ in f.decorators)]


def _home(layout: Layout, tree: Path, root: Path, target: Target) -> str:
    """A declared target by the part that defines it."""
    expr = target.expr or ""
    name = expr.partition("(")[0].partition(".")[0].strip()
    homes = {d.name: d.file for d in layout.decisions}
    file = layout.package.resolve().relative_to(root) / homes.get(name, "__init__.py")
    return f"{tree / file}::{expr}"
