"""`graphward review`: finding by finding, with its diff."""

from __future__ import annotations

from typing import Annotated

import typer

from ..review.command import run_review
from .options import Ignore, Paths, Select, Style, TargetVersion, chosen, settings


def review(
    paths: Paths = None,
    plain: Annotated[bool, typer.Option("--plain", help="Line prompts in the manner of `git add -p`.")] = False,
    accept_safe: Annotated[bool, typer.Option("--accept-safe", help="Ask nothing, take every safe fix.")] = False,
    select: Select = None,
    ignore: Ignore = None,
    target_version: TargetVersion = None,
    op_style: Style = None,
) -> None:
    """Go through the findings one by one: the reason, the alternatives, the diff; what you accept is written.

    Answers: y accept, n reject, t next alternative, a accept this and the safe ones after it, d done with this file,
    q quit and keep what was accepted, ? help. Exit status: 0 nothing is left, 1 findings remain, 2 usage error.

    Examples:

      graphward review --plain src

      graphward review --accept-safe src       for scripts
    """
    where = chosen(paths)
    config = settings(where, select=select, ignore=ignore, target_version=target_version, op_style=op_style)
    raise typer.Exit(run_review(where, config, plain=plain, accept_safe=accept_safe))
