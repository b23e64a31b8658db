"""`graphward check`: what keeps code from Graph Mode, found without running it."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from ..engine.run import rules_of, run_check
from ..report import github, json, sarif, text
from ..report.rows import rows_of
from .console import bytes_progress, out, print_machine, print_problems
from .options import Ignore, Jobs, Paths, Select, Style, TargetVersion, chosen, settings


class Format(str, Enum):
    """How findings are printed."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"


def check(
    paths: Paths = None,
    output_format: Annotated[Format, typer.Option("--output-format", help="How findings are printed.")] = Format.text,
    select: Select = None,
    ignore: Ignore = None,
    target_version: TargetVersion = None,
    op_style: Style = None,
    statistics: Annotated[bool, typer.Option("--statistics", help="Counts by rule instead of findings.")] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither read nor write the cache.")] = False,
    jobs: Jobs = 0,
) -> None:
    """Find what keeps code from compiling whole in Graph Mode. Runs nothing of it.

    Looks at every construct, every jit function, and every project function that these reach; each finding says what
    happens if the code is compiled as it stands, why the tool believes so, and which rewrites there are.

    Exit status: 0 nothing found, 1 findings, 2 usage or internal error.

    Examples:

      graphward check                          the current folder

      graphward check net.py --select GW1      one file, one family of rules

      graphward check src --output-format json | jq '.[].code'
    """
    where = chosen(paths)
    config = settings(where, select=select, ignore=ignore, target_version=target_version, op_style=op_style)
    with bytes_progress("checking") as progress:
        result = run_check(where, config, jobs=jobs, use_cache=not no_cache, last=True, progress=progress)
    rows = list(rows_of(result.files))
    print_problems(result.problems)
    if output_format is Format.json:
        print_machine(json.render_findings(rows))
    elif output_format is Format.sarif:
        print_machine(sarif.render_findings(rows, rules_of(config)))
    elif output_format is Format.github:
        if rows:
            print_machine(github.render_findings(rows))
    elif statistics:
        if rows:
            print_machine(text.render_statistics(rows))
    else:
        if rows:
            out.print(text.render_findings(rows))
        out.print(text.render_summary(rows))
    raise typer.Exit(1 if rows else 0)
