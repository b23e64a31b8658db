"""`graphward review`: what the command line calls."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from ..config import Config
from ..engine.run import find_files, rules_of
from ..engine.shards import shards
from ..errors import GraphwardError
from .plain import PlainFront, ScriptFront
from .session import Summary, review


def run_review(
    paths: Sequence[Path], config: Config, *, plain: bool, accept_safe: bool = False,
    stdin: TextIO | None = None, stdout: TextIO | None = None,
) -> int:  # fmt: skip
    """Review the findings under `paths` one by one and write what is accepted. Runs nothing of the code.

    `accept_safe` asks nothing and accepts the safe fixes. Returns 0 when nothing is left, 1 when findings remain.
    Raises GraphwardError for paths, files and settings that cannot be used.
    """
    if not (plain or accept_safe):
        raise GraphwardError("the review works with line prompts", hint="run `graphward review --plain`")
    stdin, stdout = stdin or sys.stdin, stdout or sys.stdout
    _tolerate(stdin, "replace")
    _tolerate(stdout, "backslashreplace")
    rules_of(config)  # an unknown rule code must fail before anything is read
    files, refused = find_files(paths, config)
    front = ScriptFront(stdout) if accept_safe else PlainFront(stdin, stdout)
    for problem in refused:
        front.left_alone(problem)
    summary = Summary()
    try:
        review(shards(files), config, front, summary, take_safe=accept_safe)
    except KeyboardInterrupt:
        summary.complete = False
    stdout.write(_told(summary))
    stdout.flush()
    return 0 if summary.complete and not summary.left else 1


def _tolerate(stream: TextIO, errors: str) -> None:
    """A terminal that cannot show a character of the code, or sends one that is none, must not end the review."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors=errors)


def _told(summary: Summary) -> str:
    fixes = f"{summary.applied} fix{'' if summary.applied == 1 else 'es'}"
    files = f"{len(summary.written)} file{'' if len(summary.written) == 1 else 's'}"
    done = f"Applied {fixes} in {files}" if summary.applied else "Nothing was changed"
    if not summary.complete:
        return f"{done}; the review is not finished.\n"
    left = f"{summary.left} finding{' is' if summary.left == 1 else 's are'} left"
    return f"{done}; {left if summary.left else 'no finding is left'}.\n"
