"""`graphward migrate`: check, fix, prove, keep what verifies."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from ..config import Config
from ..engine.fixpoint import fix as run_fix
from ..engine.fixpoint import within
from ..engine.run import find_files, rules_of
from ..engine.workspace import Workspace
from ..errors import GraphwardError
from ..migrate.run import Interrupted, Migration, texts_of
from ..migrate.run import migrate as run_migrate
from ..report import text
from ..report.diff import render_diff
from ..report.rows import rows_of
from ..report.verdicts import render_json, render_summary, render_text
from ..source.fixes import Applicability
from ..source.writing import write_all
from ..verify.specs import check_specs
from ..verify.targets import Target
from ..verify.verdicts import Verdict
from .console import INTERRUPTED, out, print_diff, print_machine, print_note, print_problems, step_progress
from .options import (
    Export,
    Format,
    Ignore,
    Inputs,
    Memory,
    Paths,
    Python,
    Scheduler,
    Select,
    Style,
    TargetVersion,
    Timeout,
    UnitNames,
    Units,
    Write,
    chosen,
    settings,
    target_of,
    with_proof,
)


def migrate(
    paths: Paths = None,
    write: Write = False,
    safe_only: Annotated[bool, typer.Option("--safe-only", help="Try safe fixes only.")] = False,
    no_verify: Annotated[
        bool, typer.Option("--no-verify", help="Prove nothing and run nothing; safe fixes only.")
    ] = False,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="TARGET", show_default=False,
                     help="Migrate and prove only what this runs through: path.py::Net or 'path.py::Net(classes=10)'."),
    ] = None,
    inputs: Inputs = None,
    output_format: Annotated[Format, typer.Option("--output-format", help="How the run is reported.")] = Format.text,
    select: Select = None,
    ignore: Ignore = None,
    target_version: TargetVersion = None,
    op_style: Style = None,
    units: Units = None,
    names: UnitNames = None,
    python: Python = None,
    timeout: Timeout = None,
    memory: Memory = None,
    export: Export = None,
    scheduler: Scheduler = None,
) -> None:  # fmt: skip
    """Rewrite code for Graph Mode and keep what the compiler proves. [bold]This runs your code.[/]

    Each rewritten Cell and jit function is compiled and run against the original in PyNative; fixes that do not verify
    are bisected, the culprits named and left out. Unsafe fixes are tried too: here the proof is the gate. A dry run
    unless --write is given.

    Exit status: 0 everything verified and nothing left, 1 something is left, 2 usage or internal error, 130 interrupted
    (Ctrl-C): the verdicts that are known by then are printed, and nothing is written.

    Examples:

      graphward migrate src                    what would change, and what was proven

      graphward migrate src --write            write what was proven

      graphward migrate --target 'net.py::Net(classes=10)' --input 'f32[2,3,32,32]'

      graphward migrate net.py --select GW1 --python ~/envs/mindspore/bin/python
    """
    declared = _declared(target, inputs)
    where = paths or [declared.path] if declared else chosen(paths)
    config = settings(
        where, select=select, ignore=ignore, target_version=target_version, op_style=op_style, python=python,
        units=units, unit_names=names,
    )  # fmt: skip
    config = with_proof(config, timeout=timeout, memory=memory, export=export, scheduler=scheduler)
    if declared:
        specs = {f"{declared.path}::{declared.expr}": tuple(inputs) if inputs is not None else None}
        config = replace(config, verify=replace(config.verify, targets=specs, declared_only=True))
    files, refused = find_files(where, config)
    workspace = Workspace(files)
    try:
        result = _unproven(workspace, config) if no_verify else _proven(workspace, config, safe_only)
    except (Interrupted, KeyboardInterrupt) as error:
        _report_interruption(error.verdicts if isinstance(error, Interrupted) else [], output_format)
        raise typer.Exit(INTERRUPTED) from None
    print_problems([*refused, *result.first.problems])
    for reason in result.fixed.refused:
        print_note("not applied", reason, "red")
    changes = texts_of(result)
    if write:
        write_all([(path, after.to_bytes()) for path, _, after in changes])
    rows = list(rows_of(result.fixed.remaining.files))
    if output_format is Format.json:
        print_machine(render_json(result.verdicts))
    else:
        print_diff(render_diff(changes))
        _report(result, write, no_verify)
        if rows:
            out.print("\n[bold]Left to do[/]")
            out.print(text.render_findings(rows))
            out.print(text.render_summary(rows))
    done = not rows and all(v.verified for v in result.verdicts) and (write or not changes)
    raise typer.Exit(0 if done else 1)


def _report_interruption(verdicts: list[Verdict], output_format: Format) -> None:
    if output_format is Format.json:
        print_machine(render_json(verdicts))
    elif verdicts:
        out.print(render_text(verdicts))
    print_note("interrupted", "nothing was written", "yellow")


def _declared(text: str | None, inputs: list[str] | None) -> Target | None:
    if text is None:
        if inputs:
            hint = "name the target, or declare inputs in pyproject.toml"
            raise GraphwardError("--input goes with --target", hint=hint)
        return None
    target = target_of(text)
    if target.expr is None:
        raise GraphwardError("--target names one Cell or jit function", hint=f"write {text}::Name")
    check_specs(inputs or ())
    return target


def _proven(workspace: Workspace, config: Config, safe_only: bool) -> Migration:
    limit = Applicability.SAFE if safe_only else Applicability.UNSAFE
    with step_progress("proving") as progress:
        return run_migrate(workspace, rules_of(config), config, limit=limit, only=workspace.files, progress=progress)


def _unproven(workspace: Workspace, config: Config) -> Migration:
    fixed = run_fix(workspace, rules_of(config), config, within(Applicability.SAFE), only=workspace.files)
    return Migration(fixed, fixed.first, [])


def _report(result: Migration, write: bool, no_verify: bool) -> None:
    if result.verdicts:
        out.print("\n[bold]Verdicts[/]")
        out.print(render_text(result.verdicts))
        out.print(render_summary(result.verdicts))
    for title, held in (("did not verify", result.turned_away), ("could not be proven", result.unproven)):
        if held:
            out.print(f"\n[bold]Left out: {title}[/]")
            for name, reason in held.items():
                out.print(f"  {name}: {reason}", markup=False)
    files = len(result.fixed.changes)
    count = sum(len(c.applied) for c in result.fixed.changes.values())
    verb = "Wrote" if write else "Would write"
    gate = "safe, not proven" if no_verify else "proven"
    fixes = "fix" if count == 1 else "fixes"
    out.print(f"\n{verb} {count} {gate} {fixes} in {files} {'file' if files == 1 else 'files'}.")
