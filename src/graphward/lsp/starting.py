"""A checker's process, started before anything else is loaded: it takes as long to load as the server itself."""

from __future__ import annotations

import subprocess
import sys


def start_checker(*, polite: bool = False) -> subprocess.Popen[bytes]:
    """The process, which loads and then answers what `process.CheckerProcess` asks."""
    # Isolated, so that no file of the user's folder is taken for a module of Python's.
    program = f"import sys; sys.path[:] = {sys.path!r}; from graphward.lsp.process import serve; serve({polite!r})"
    return subprocess.Popen(
        [sys.executable, "-I", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )
