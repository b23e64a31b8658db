"""The executable `graphward`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. The language server starts without the other commands, which take longer to load than an
    editor should wait."""
    if sys.argv[1:2] == ["lsp"] and set(sys.argv[2:]) <= {"--verbose", "--stdio"}:
        from ..errors import GraphwardError
        from ..lsp.command import run_server

        try:
            sys.exit(run_server(verbose="--verbose" in sys.argv))
        except GraphwardError as error:
            sys.stderr.write(f"graphward: {error}\n")
            sys.exit(2)
    from .app import main as run

    run()
