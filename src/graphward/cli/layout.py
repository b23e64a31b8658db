"""`graphward layout`: a file that holds a whole model to a package of parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..config import Config
from ..engine.run import find_files
from ..errors import GraphwardError
from ..layout.plan import Layout, plan
from ..layout.proving import Proof, as_before, prove
from ..report.diff import render_diff
from ..report.verdicts import render_text
from ..review.journal import Journal
from ..source.paths import display
from ..source.text import SourceText
from ..source.writing import write_all
from ..verify.specs import check_specs
from ..verify.targets import parse_target
from .console import INTERRUPTED, out, print_diff, print_note, step_progress
from .options import Ignore, Inputs, Memory, Python, Scheduler, TargetVersion, Timeout, Write, settings, with_proof


def layout(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", show_default=False, help="The file that holds the model.", readable=False),
    ],
    write: Write = False,
    part: Annotated[
        list[str] | None,
        typer.Option("--part", metavar="NAME=FILE", show_default=False,
                     help="Put a definition into this file of the package, whatever speaks for another one: "
                          "Pooler=head.py; repeat it for more."),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify/--no-verify", help="Prove that every Cell and jit function does what it did.")
    ] = True,
    units: Annotated[
        bool,
        typer.Option("--units/--no-units", help="Cut graphs where the parts meet (GW601), as far as that is proven."),
    ] = True,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="EXPR", show_default=False,
                     help="Prove only this, with the arguments that it needs: 'Net(classes=10)'."),
    ] = None,
    inputs: Inputs = None,
    ignore: Ignore = None,
    target_version: TargetVersion = None,
    python: Python = None,
    timeout: Timeout = None,
    memory: Memory = None,
    scheduler: Scheduler = None,
) -> None:  # fmt: skip
    """Split a single-file model into a package: data_loader.py, backbone.py, head.py, loss.py and what puts them
    together. The package has the file's name, and all that was imported from the file still can be.
    [bold]This runs your code[/], unless --no-verify is given.

    Prints where each definition goes and why, the diff, and what was proven; writes nothing unless --write is given.
    `graphward undo` takes it back.

    Exit status: 0 proven, or nothing to split, 1 something could not be run and so not be proven (when that is all of
    it, nothing is written), or is not as it was (nothing is written), 2 usage or internal error, 130 interrupted.

    Examples:

      graphward layout model.py

      graphward layout model.py --part Pooler=head.py --write

      graphward layout model.py --target 'Net(classes=10)' --input 'f32[2,3,32,32]'
    """
    config = settings([file], ignore=ignore, target_version=target_version, python=python)
    config = with_proof(config, timeout=timeout, memory=memory, export=None, scheduler=scheduler)
    if inputs and not target:
        raise GraphwardError("--input goes with --target", hint="name what takes it: --target Net")
    check_specs(inputs or ())
    found = plan(file, part or (), _project(file, config) if file.is_file() else ())
    if target:
        parse_target(f"{file}::{target}")
        specs = {f"{file.absolute()}::{target}": tuple(inputs) if inputs is not None else None}
        config = replace(config, verify=replace(config.verify, targets=specs, declared_only=True))
    if not found.files:
        out.print(f"Nothing to split in {display(file)}: {found.reason}.", markup=False)
        return
    _print_plan(found)
    try:
        proof = _proven(found, config, units) if verify else None
    except KeyboardInterrupt:
        print_note("interrupted", "nothing was written", "yellow")
        raise typer.Exit(INTERRUPTED) from None
    changes = _changes(found)
    print_diff(render_diff(changes))
    if proof is not None:
        _print_proof(proof, found)
    elif units:
        print_note("note", "no compile units are cut without the proof", "yellow")
    for note in found.notes:
        print_note("note", note, "yellow")
    why = _objection(proof)
    if write and not why:
        _write(changes, config)
    count = len(found.files)
    verb = "Would not write" if why else "Wrote" if write else "Would write"
    out.print(f"\n{verb} {display(found.package)}/ ({count} files) in place of {display(file)}{why}.", markup=False)
    raise typer.Exit(1 if why or (proof is not None and proof.unproven) else 0)


def _objection(proof: Proof | None) -> str:
    """Why a layout is not written, else empty."""
    if proof is None or not proof.verdicts:
        return ""
    if proof.broken:
        return ": not everything does what it did"
    if len(proof.unproven) == len(proof.verdicts):
        return ": nothing of it could be proven; --no-verify does without"
    return ""


def _project(file: Path, config: Config) -> list[Path]:
    """The files that may set names of the module: those of its project."""
    root = config.root if file.absolute().is_relative_to(config.root.absolute()) else file.parent
    try:
        return find_files([root], config)[0]
    except GraphwardError:  # git ignores all of it
        return []


def _proven(found: Layout, config: Config, units: bool) -> Proof:
    with step_progress("proving") as progress:
        return prove(found, config, units=units, progress=progress)


def _changes(found: Layout) -> list[tuple[Path, SourceText | None, SourceText | None]]:
    made: list[tuple[Path, SourceText | None, SourceText | None]] = [(p, None, t) for p, t in found.files.items()]
    return [*sorted(made, key=lambda change: change[0]), (found.before.path, found.before, None)]


def _print_plan(found: Layout) -> None:
    out.print(f"[bold]{display(found.before.path)}[/] -> [bold]{display(found.package)}/[/]")
    files = dict.fromkeys(d.file for d in found.decisions)
    for file in sorted(files, key=lambda f: (f.startswith("__"), f)):
        out.print(f"  [bold]{file}[/]")
        here = [d for d in found.decisions if d.file == file]
        width = min(max(len(d.name) for d in here), 32)
        for decision in here:
            out.print(f"    {decision.name:{width}}  line {decision.line}: {decision.why}", markup=False)
    out.print()


def _print_proof(proof: Proof, found: Layout) -> None:
    out.print("\n[bold]Verdicts[/]: the parts, imported from the old path, against the file")
    shown = [v for v in proof.verdicts if not as_before(v)]
    if shown:
        out.print(render_text(shown))
    good = len(proof.verdicts) - len(shown)
    verb = "does what it did" if good == 1 else "do what they did"
    out.print(f"{good} of {len(proof.verdicts)} Cells and jit functions {verb}.")
    out.print("\n[bold]Compile units[/]")
    for title in proof.cut:
        out.print(f"  {title}", markup=False)
    if proof.units:
        out.print(f"  {sum(v.verified for v in proof.units)} of {len(proof.units)} targets with units verified.")
    for reason in dict.fromkeys(proof.left):
        out.print(f"  left as it is: {reason}", markup=False)
    if not proof.cut and not proof.left:
        out.print("  none to cut: no function under jit goes through several parts")


def _write(changes: list[tuple[Path, SourceText | None, SourceText | None]], config: Config) -> None:
    """Note the write in the journal, then do it, or nothing of it."""
    before = {path: None if old is None else old.to_bytes() for path, old, _ in changes}
    after = {path: None if new is None else new.to_bytes() for path, _, new in changes}
    mode = next(path.stat().st_mode & 0o7777 for path, old, _ in changes if old is not None)
    entry = Journal(config.root).begin()
    entry.mode = mode
    entry.add(before, after)
    try:
        write_all(list(after.items()), mode=mode)
    except GraphwardError:
        entry.path.unlink(missing_ok=True)
        raise
