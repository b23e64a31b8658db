"""Several plays of one file in one process, which saves a fork, an import and MindSpore's first compilation for each.

What one of them leaves behind, another may see. So a verdict rests on such plays only if it is `verified`: each side
then came to the same results, gradients and state. Whatever else they lead to, the server has it played again, a
process for each play.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any, Callable

from . import loading
from .play import play

MOST = 6
"""Plays in one process: what waits for the slowest of them stays short."""

SECONDS = 30.0
"""Limit for all of them, which are small; a longer one is played alone."""

_clock = time.time


def key(request: Any) -> tuple[Any, ...] | None:
    """Plays with the same key can share a process; None for a stage that has to be alone."""
    payload = request.payload
    # A failed export leaves STRICT on; recorded calls rebuild objects of the user's own classes.
    if request.stage is not play or payload["recorded"] is not None or payload.get("export"):
        return None
    return payload["tree"], payload["file"], payload["mode"], payload["weights"], payload["train"]


def play_together(request: dict[str, Any], report: Callable[[list[dict[str, Any]]], None]) -> None:
    """`request["plays"]` are requests of `play`. Reports the records of those that came to their end."""
    _import_once()
    records: list[dict[str, Any]] = []
    folder = os.path.dirname(request["log"])
    for number, payload in enumerate(request["plays"]):
        log = _start_afresh(os.path.join(folder, str(number)))
        own: list[dict[str, Any]] = []
        play({**payload, "log": log}, own.append)
        records.append(own[-1])
        report(records)


def ends(child_end: dict[str, Any], plays: Sequence[dict[str, Any]]) -> list[dict[str, Any] | None]:
    """The end of each play, as if it had been alone; None for one that has to be."""
    records = child_end["value"] or []
    seconds = child_end["seconds"] / len(plays)
    found: list[dict[str, Any] | None] = [
        {"kind": "done", "value": record, "reason": "", "tail": "", "seconds": seconds} for record in records
    ]
    return found + [None] * (len(plays) - len(found))


def _start_afresh(folder: str) -> str:
    """A folder of its own for what the next play prints and drops; returns the path of its log."""
    os.mkdir(folder)
    os.chdir(folder)
    log = os.path.join(folder, "output.txt")
    sys.stdout.flush()
    sys.stderr.flush()
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    time.time = _clock
    return log


def _import_once() -> None:
    """The user's module is imported by the first play; the others find it."""
    load = loading.load_module
    loaded: dict[tuple[str, str], Any] = {}

    def load_once(tree: str, file: str) -> Any:
        if (tree, file) not in loaded:
            loaded[tree, file] = load(tree, file)
        return loaded[tree, file]

    loading.load_module = load_once
