"""`graphward lsp`: the language server."""

from __future__ import annotations

from typing import Annotated

import typer

from ..lsp.command import run_server


def lsp(
    verbose: Annotated[bool, typer.Option("--verbose", help="Log every request to stderr.")] = False,
    stdio: Annotated[bool, typer.Option("--stdio", hidden=True, help="What some editors add.")] = False,
) -> None:
    """Speak the Language Server Protocol on stdin and stdout: diagnostics, quick fixes, code lenses, proofs.

    Code is run only when the editor sends the command "Verify in Graph Mode". `docs/editors.md` shows how to set up an
    editor.
    """
    raise typer.Exit(run_server(verbose=verbose))
