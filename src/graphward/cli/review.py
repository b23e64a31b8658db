"""`graphward review`: finding by finding, with the reason, the alternatives and the proof beside the diff."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..review.command import run_review
from ..review.session import Ways
from .console import bytes_progress
from .options import (
    Ignore,
    Memory,
    Paths,
    Python,
    Select,
    Style,
    TargetVersion,
    Timeout,
    chosen,
    settings,
    with_proof,
)


def review(
    paths: Paths = None,
    plain: Annotated[bool, typer.Option("--plain", help="Line prompts in the manner of `git add -p`.")] = False,
    accept_safe: Annotated[bool, typer.Option("--accept-safe", help="Ask nothing, take every safe fix.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where you left, with the filter and the place of then.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget earlier decisions and ask everything.")] = False,
    patch: Annotated[
        Path | None,
        typer.Option("--patch", metavar="FILE", show_default=False,
                     help="Write a patch for `git apply` instead of the files."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", show_default=False,
                     help="Write what was decided, as Markdown, or JSON for a name that ends in .json."),
    ] = None,
    select: Select = None,
    ignore: Ignore = None,
    target_version: TargetVersion = None,
    op_style: Style = None,
    python: Python = None,
    timeout: Timeout = None,
    memory: Memory = None,
) -> None:  # fmt: skip
    """Go through the findings one by one: the reason, the alternatives, the diff, and the proof when you ask for it.
    What you accept is written; `graphward undo` takes the last write back.

    Decisions are kept as you take them. Coming back shows what is still open, and marks what is new. Only proofs run
    your code. Exit status: 0 nothing is left, 1 findings remain, 2 usage error.

    Examples:

      graphward review src

      graphward review --plain src             line prompts: y, n, t, a, d, e, s, j, k, v, /, q, ?

      graphward review --patch out.diff src    then: git apply out.diff

      graphward review --accept-safe src       for scripts
    """
    where = chosen(paths)
    config = settings(
        where, select=select, ignore=ignore, target_version=target_version, op_style=op_style, python=python
    )
    config = with_proof(config, timeout=timeout, memory=memory, export=None, scheduler=None)
    ways = Ways(patch, report)
    status = run_review(
        where, config, plain=plain, safe=accept_safe, resume=resume, fresh=fresh, ways=ways,
        progress=lambda: bytes_progress("checking"),
    )  # fmt: skip
    raise typer.Exit(status)
