"""`graphward verify`: does a Cell or jit function compile whole, and compute what PyNative computes?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..config import Config, load_config
from ..engine.check import analyse
from ..engine.workspace import Workspace
from ..errors import GraphwardError
from ..migrate.coverage import Coverage
from ..recordings import Recordings
from ..report.verdicts import render_json, render_summary, render_text
from ..verify.jobs import Job, Options
from ..verify.recordings import recorded_inputs
from ..verify.session import proofs
from ..verify.targets import Target
from ..verify.verdicts import Verdict
from .console import INTERRUPTED, out, print_machine, print_note, print_recording_problems, step_progress
from .options import Export, Format, Inputs, Memory, Python, Scheduler, Timeout, target_of, with_proof

# What MindSpore says where code asks for a device, or a group of them, that this machine has not.
_OF_A_DEVICE = ("device target", "device_target", "mpirun", "msrun")


def verify(
    targets: Annotated[
        list[str],
        typer.Argument(metavar="TARGET...", show_default=False,
                       help="path.py::Net, 'path.py::Net(num_classes=10)' or package.module::function; a file alone "
                            "means all of its Cells and jit functions."),
    ],
    inputs: Inputs = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="DIR", show_default=False,
                     help="Another version of the tree: prove that it compiles and means what this one means in "
                          "PyNative."),
    ] = None,
    output_format: Annotated[Format, typer.Option("--output-format", help="How verdicts are printed.")] = Format.text,
    python: Python = None,
    timeout: Timeout = None,
    memory: Memory = None,
    export: Export = None,
    scheduler: Scheduler = None,
) -> None:  # fmt: skip
    """Run Cells and jit functions in PyNative and in Graph Mode, and compare. [bold]This runs your code.[/]

    A target is verified when it compiles whole (fullgraph), keeps no interpreter node, gives the same outputs,
    gradients and state as PyNative, and does not compile again for the same shapes. Inputs come from --input, else
    from \\[tool.graphward.verify.targets] in pyproject.toml, else from `graphward record`, else they are inferred.

    Exit status: 0 all verified, 1 some are not, 2 usage or internal error, 130 interrupted (Ctrl-C): what is known by
    then is printed.

    Examples:

      graphward verify net.py::Net --input 'f32[2,3,32,32]'

      graphward verify 'net.py::Net(num_classes=10)' --against ../migrated
    """
    config = with_proof(
        load_config(Path.cwd()), timeout=timeout, memory=memory, export=export, scheduler=scheduler
    )
    found: dict[str, Verdict] = {}
    jobs: list[tuple[Job, Target | None]] = []
    interrupted = False
    try:
        # Entered before the targets are analysed: MindSpore is imported meanwhile.
        with step_progress("proving") as progress, proofs(config.verify, python or config.python or None) as session:
            jobs = _jobs(targets, inputs, against, config)
            for verdict in session.verdicts([job for job, _ in jobs], progress):
                found[verdict.id] = verdict
    except KeyboardInterrupt:
        interrupted = True
    known = [(named, found[job.id]) for job, named in jobs if job.id in found]
    for named, verdict in known:
        if named is not None:
            _refuse_what_cannot_be_made(named, verdict)
    verdicts = [verdict for _, verdict in known]
    if output_format is Format.json:
        print_machine(render_json(verdicts))
    elif verdicts or not interrupted:
        out.print(render_text(verdicts))
        out.print(render_summary(verdicts))
    if interrupted:
        print_note("interrupted", f"{len(verdicts)} of {len(jobs)} verdicts were there", "yellow")
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(0 if all(v.verified for v in verdicts) else 1)


def _jobs(
    targets: list[str], inputs: list[str] | None, against: Path | None, config: Config
) -> list[tuple[Job, Target | None]]:
    """The jobs, each with its target when it was named, not found in a file."""
    chosen = [(*pair, "::" in text) for text in targets for pair in _expand(text, config)]
    if inputs and len(chosen) != 1:
        hint = "name one target, or declare inputs in pyproject.toml"
        raise GraphwardError("--input goes with one target", hint=hint)
    jobs: list[tuple[Job, Target | None]] = []
    recordings = Recordings()
    for i, (target, declared, named) in enumerate(chosen):
        rewritten = _other_tree(against, target) if against else None
        specs = inputs if inputs is not None else declared
        recorded = recorded_inputs(recordings, target) if specs is None else None
        job = Job.of(target, id=f"{i} {target}", rewritten=rewritten, inputs=specs,
                     options=Options.of(config.verify), recorded=recorded)  # fmt: skip
        jobs.append((job, target if named else None))
    print_recording_problems(recordings)
    return jobs


def _expand(text: str, config: Config) -> list[tuple[Target, tuple[str, ...] | None]]:
    """A target with its declared inputs; a file alone stands for everything in it that can be called."""
    target = target_of(text)
    workspace = Workspace([target.path])
    if workspace.module(target.path) is None:
        problem = workspace.problems[target.path]
        raise GraphwardError(problem.message, path=problem.path, line=problem.line, hint="the file must be Python 3")
    coverage = Coverage(workspace, analyse(workspace), config)
    here = [t for t in coverage.declared if t.target.path == target.path]
    if target.expr is not None:
        named = [t for t in here if (t.target.expr or "") == target.expr]
        alike = [t for t in here if (t.target.expr or "").partition("(")[0] == target.expr]
        known = (named or alike)[:1]
        return [(known[0].target, known[0].inputs)] if known else [(target, None)]
    found = [(t.target, t.inputs) for t in [*here, *coverage.regions] if t.target.path == target.path]
    if not found:
        raise GraphwardError("the file holds no Cell and no jit function", path=target.path, hint="name another file")
    return found


def _refuse_what_cannot_be_made(target: Target, verdict: Verdict) -> None:
    """A target that was named and cannot even be imported or constructed is bad input, not a verdict on its code."""
    error = verdict.original.error if verdict.verdict == "original-broken" and verdict.original else None
    if error is None or error.stage not in ("import", "construct"):
        return
    hint = "mend the import, or name an interpreter that has what it needs with --python"
    if error.stage == "construct":
        hint = "give the arguments that it needs: 'path.py::Net(classes=10)'"
    if any(word in error.message for word in _OF_A_DEVICE):
        hint = "it asks for a device or for other processes: leave that to the script that runs it, or name an " \
               "interpreter whose MindSpore has the device with --python"
    path = target.tree / error.path if error.path else target.path
    raise GraphwardError(f"{target} cannot be {'imported' if error.stage == 'import' else 'constructed'}: "
                         f"{error.type}: {error.message}", path=path, line=error.line, hint=hint)  # fmt: skip


def _other_tree(against: Path, target: Target) -> Path:
    if not against.is_dir():
        raise GraphwardError("no such folder", path=against, hint="--against takes the folder of the other version")
    if not (against / target.file).is_file():
        raise GraphwardError(f"the folder holds no {target.file}", path=against,
                             hint=f"--against takes the folder that corresponds to {target.tree}")  # fmt: skip
    return against
