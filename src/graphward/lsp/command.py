"""`graphward lsp`: what the command line calls."""

from __future__ import annotations

import io
import logging
import os
import sys
from importlib.util import find_spec
from typing import BinaryIO

from ..errors import GraphwardError


def run_server(*, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None, verbose: bool = False) -> int:
    """Serve one client on `stdin` and `stdout` (those of the process if not given) until it leaves.

    Returns 0 when the client shut the server down in order, else 1. Raises GraphwardError when the packages of the
    `lsp` extra are missing.
    """
    if find_spec("pygls") is None or find_spec("lsprotocol") is None:
        raise GraphwardError("the language server needs pygls", hint="pip install 'graphward[lsp]'")
    from .server import make_server

    level = logging.INFO if verbose else logging.WARNING
    logging.basicConfig(stream=sys.stderr, level=level, format="%(levelname)s %(name)s: %(message)s")
    server = make_server()
    server.start_io(stdin or sys.stdin.buffer, stdout or _claimed_stdout())
    return 0 if server.stopped_in_order else 1


def _claimed_stdout() -> BinaryIO:
    """The process's stdout for the protocol alone: whatever else prints, a codemod for example, prints to stderr."""
    sys.stdout.flush()
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = io.TextIOWrapper(os.fdopen(os.dup(2), "wb"), line_buffering=True)
    return channel
