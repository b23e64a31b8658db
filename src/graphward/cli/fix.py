"""`graphward fix`: the diff of the fixes, or the fixes themselves."""

from __future__ import annotations

from typing import Annotated

import typer

from ..engine.fixpoint import fix as run_fix
from ..engine.fixpoint import within
from ..engine.run import find_files, rules_of
from ..engine.workspace import Workspace
from ..report import text
from ..report.diff import render_diff
from ..report.rows import rows_of
from ..source.fixes import Applicability
from ..source.writing import write_all
from .console import err, print_diff, print_note, print_problems
from .options import Ignore, Paths, Select, Style, TargetVersion, UnitNames, Units, Write, chosen, settings


def fix(
    paths: Paths = None,
    unsafe_fixes: Annotated[
        bool,
        typer.Option("--unsafe-fixes", help="Apply fixes that may change results or behaviour too; each says why."),
    ] = False,
    write: Write = False,
    select: Select = None,
    ignore: Ignore = None,
    target_version: TargetVersion = None,
    op_style: Style = None,
    units: Units = None,
    names: UnitNames = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", hidden=True, help="Accepted for symmetry: fixing uses no cache.")
    ] = False,
) -> None:
    """Show the diff of the safe fixes; with --write, apply them. Runs nothing of the code.

    The diff on stdout is a patch that `git apply` takes. Exit status: 0 nothing left to fix or find, 1 findings remain
    (or a dry run would change files), 2 usage or internal error.

    Examples:

      graphward fix net.py                     what the safe fixes would change

      graphward fix net.py --write             apply them

      graphward fix src --unsafe-fixes --select GW1 > numpy.patch
    """
    where = chosen(paths)
    config = settings(where, select=select, ignore=ignore, target_version=target_version, op_style=op_style,
                      units=units, unit_names=names)  # fmt: skip
    files, refused = find_files(where, config, notebooks=True)
    limit = Applicability.UNSAFE if unsafe_fixes else Applicability.SAFE
    workspace = Workspace(files)
    result = run_fix(workspace, rules_of(config), config, within(limit))
    print_problems([*refused, *result.first.problems])
    for reason in result.refused:
        print_note("not applied", reason, "red")
    changes = [(path, c.before, c.after) for path, c in result.changes.items()]
    if write:
        write_all([(path, after.to_bytes()) for path, _, after in changes])
    print_diff(render_diff(changes))
    applied = sum(len(c.applied) for c in result.changes.values())
    verb = "Applied" if write else "Would apply"
    files_word = "file" if len(changes) == 1 else "files"
    err.print(f"{verb} {applied} {'fix' if applied == 1 else 'fixes'} in {len(changes)} {files_word}.")
    rows = list(rows_of(result.remaining.files))
    if rows:
        err.print(f"Left afterwards: {text.render_summary(rows).splitlines()[0].removeprefix('Found ')}")
    raise typer.Exit(1 if rows or (changes and not write) else 0)
