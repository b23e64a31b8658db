"""`graphward bench`: what a split into compile units does to compile time, step time and memory."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ..bench.parts import last_part
from ..bench.split import Versions, versions
from ..bench.units import ROWS, Bench, Comparison, Figures
from ..config import Config, load_config
from ..engine.check import analyse
from ..engine.workspace import Workspace
from ..errors import GraphwardError
from ..migrate.coverage import Coverage
from ..verify.jobs import Job, Options
from ..verify.session import proofs
from ..verify.targets import Target
from .bench_ops import print_operators
from .console import out, print_machine, step_progress
from .options import Format, Inputs, Python, Timeout, target_of, with_proof


def bench(
    target: Annotated[
        str | None, typer.Argument(metavar="TARGET", show_default=False, help="path.py::Net, "
                                   "'path.py::Net(classes=10)' or package.module::function.")
    ] = None,
    inputs: Inputs = None,
    head: Annotated[
        str | None, typer.Option("--head", metavar="NAME", show_default=False, help="The attribute that gets a new "
                                 "Cell in the live process \\[default: the last one that has weights].")
    ] = None,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Processes of which the median is printed.")] = 3,
    cache: Annotated[
        bool, typer.Option("--cache/--no-cache", help="Measure reruns with MindSpore's compile cache too.")
    ] = True,
    output_format: Annotated[Format, typer.Option("--output-format", help="How figures are printed.")] = Format.text,
    python: Python = None,
    timeout: Timeout = None,
    operators: Annotated[
        bool, typer.Option("--ops", help="Measure operators by hand beside native ones instead (minutes).")
    ] = False,
) -> None:  # fmt: skip
    """Measure a target as it stands and split into compile units (GW601). [bold]This runs your code.[/]

    Each figure is the median of several fresh processes, printed also where a split does not help.

    Examples:

      graphward bench net.py::Net --input 'i32[4,64]<1000' --input 'i32[4]<2'

      graphward bench net.py::Net --head classifier --runs 5 --no-cache
    """
    config = with_proof(load_config(Path.cwd()), timeout=timeout, memory=None, export=None, scheduler=None)
    interpreter = python or config.python or None
    if operators:
        return print_operators(interpreter, output_format)
    if target is None:
        raise GraphwardError("there is nothing to measure", hint="name a TARGET, or give --ops")
    named = target_of(target)
    if named.expr is None:
        raise GraphwardError("the target names no class or function", hint=f"write {named.file}::Name", path=named.path)
    specs, expr = _inputs(named, inputs, config, interpreter)
    with tempfile.TemporaryDirectory(prefix="graphward-bench-") as folder, step_progress("measuring") as progress:
        both = versions(named, config, Path(folder))
        chosen = head if head is not None else last_part(named)
        work = Bench(named.file, expr, specs, both, chosen, python=interpreter, runs=runs,
                     timeout=config.verify.timeout, progress=progress)  # fmt: skip
        found = work.run(cache=cache)
    if output_format is Format.json:
        print_machine(json.dumps({"target": str(named), "inputs": specs, "said": list(both.said), **_plain(found)}))
    else:
        _print(named, specs, both, found, runs)


def _inputs(target: Target, given: list[str] | None, config: Config, python: str | None) -> tuple[list[str], str]:
    """The specs and the expression: as given, as declared, else as the worker infers them."""
    assert target.expr is not None
    if given is not None:
        return given, target.expr
    workspace = Workspace([target.path])
    coverage = Coverage(workspace, analyse(workspace), config)
    for known in coverage.declared:
        if known.target == target and known.inputs is not None:
            return list(known.inputs), target.expr
    with proofs(config.verify, python) as session:
        options = Options.of(config.verify, gradients="off")
        verdict = next(iter(session.verdicts([Job.of(target, options=options)])))
    if verdict.original is not None and verdict.original.error is not None and not verdict.inputs.specs:
        raise GraphwardError(f"no inputs for {target}: {verdict.message}", hint="give them: --input 'f32[2,3]'")
    return list(verdict.inputs.specs), verdict.inputs.target or target.expr


def _plain(found: Comparison) -> dict[str, object]:
    return {
        mode: {version: vars(figures) for version, figures in getattr(found, mode).items()}
        for mode in ("forward", "gradient")
    }


def _print(target: Target, specs: list[str], both: Versions, found: Comparison, runs: int) -> None:
    out.print(f"{target} on {', '.join(specs)}, medians of {runs}, seconds")
    if both.after is None:
        out.print("Nothing was split: " + ("; ".join(both.said) or "it compiles no several parts as one graph"))
    for mode, title in (("forward", "forward"), ("gradient", "with gradient")):
        figures: dict[str, Figures] = getattr(found, mode)
        before, after = figures["before"], figures.get("after")
        out.print(f"\n{title:38}{'one graph':>12}" + (f"{'units':>12}{'ratio':>9}" if after else ""))
        for version, one in figures.items():
            if one.error:
                out.print(f"  {version}: {one.error}", markup=False)
        for row, label in ROWS.items():
            if row in before.medians or (after and row in after.medians):
                out.print(_line(row, label, before, after), markup=False)
        if before.stale:
            out.print("  A new head changed nothing in the one graph until all of it was made anew.")


def _line(row: str, label: str, before: Figures, after: Figures | None) -> str:
    left = before.medians.get(row)
    text = f"  {label:36}" + _number(row, left, before)
    if after is None:
        return text
    right = after.medians.get(row)
    ratio = f"{left / right:>8.1f}x" if left and right else ""
    return text + _number(row, right, after) + ratio


def _number(row: str, value: float | None, figures: Figures) -> str:
    if value is None:
        return f"{'':>12}"
    count = figures.compiled.get(row)
    graphs = f" ({count})" if count else ""
    return f"{f'{value:.0f}' if row == 'memory' else f'{value:.3f}'}{graphs}".rjust(12)
