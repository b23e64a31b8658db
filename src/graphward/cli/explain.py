"""`graphward explain CODE`: a rule's page."""

from __future__ import annotations

from typing import Annotated

import typer

from ..rules.registry import rule
from .console import out, print_machine


def explain(
    code: Annotated[str, typer.Argument(help="A rule's code (GW101) or name.", show_default=False)],
) -> None:
    """Show a rule's page: what it finds, why, an example, what the rewrite assumes, when it is unsafe."""
    found = rule(code)
    page = f"# {found.code} {found.name}\n\n{found.page()}\n"
    if out.is_terminal:
        from rich.markdown import Markdown

        out.print(Markdown(page), soft_wrap=False)
    else:
        print_machine(page)
