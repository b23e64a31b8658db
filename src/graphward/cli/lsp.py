"""`graphward lsp`: the language server."""

from __future__ import annotations

from typing import Annotated

import typer

from ..lsp.command import run_server


def lsp(verbose: Annotated[bool, typer.Option("--verbose", help="Log every request to stderr.")] = False) -> None:
    """Speak the Language Server Protocol on stdin and stdout: diagnostics, quick fixes, fix all. Runs nothing of the
    code. `editors/README.md` shows how to set up an editor.
    """
    raise typer.Exit(run_server(verbose=verbose))
