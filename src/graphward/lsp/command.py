"""`graphward lsp`: what the command line calls."""

from __future__ import annotations

import gc
import sys
from importlib.util import find_spec
from typing import BinaryIO

from ..errors import GraphwardError
from .starting import start_checker


def run_server(*, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None, verbose: bool = False) -> int:
    """Serve one client on `stdin` and `stdout` (those of the process if not given) until it leaves.

    Returns 0 when the client shut the server down in order, else 1. Raises GraphwardError when the packages of the
    `lsp` extra are missing.
    """
    if find_spec("pygls") is None or find_spec("lsprotocol") is None:
        raise GraphwardError("the language server needs pygls", hint="pip install 'graphward[lsp]'")
    # The checker loads its codemods while this process loads the protocol.
    started = start_checker()
    from .process import CheckerProcess, claimed_stdout

    quick = CheckerProcess("quick", started=started)
    channel = stdout or claimed_stdout()
    try:
        # Hundreds of classes are made, none of which is garbage.
        gc.disable()
        import logging

        from .late import load_protocol

        load_protocol()
        from .features import make_server

        level = logging.INFO if verbose else logging.WARNING
        logging.basicConfig(stream=sys.stderr, level=level, format="%(levelname)s %(name)s: %(message)s")
        server = make_server(quick)
        gc.freeze()
        gc.enable()
        server.start_io(stdin or sys.stdin.buffer, channel)
        return 0 if server.stopped_in_order else 1
    finally:
        quick.kill()
