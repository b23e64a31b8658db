"""Runs scripts and prints what each wrote, as JSON from path to text; for an interpreter with MindSpore.

Each runs in a process of its own, forked off this one, which has imported MindSpore and never compiles.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import tempfile
import traceback

import mindspore  # noqa: F401


def main() -> None:
    raised = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # MindSpore leaves files where it compiles
        for script in sys.argv[1:]:
            note = os.path.join(folder, "raised.txt")
            child = os.fork()
            if child == 0:
                play(script, note)
            os.waitpid(child, 0)
            with open(note, encoding="utf-8", errors="replace") as file:
                raised[script] = file.read()
    json.dump(raised, sys.stdout)


def play(script: str, note: str) -> None:
    """Run one script and leave; the note gets what a terminal would."""
    terminal = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(terminal, 1)
    os.dup2(terminal, 2)
    try:
        runpy.run_path(script, run_name="__main__")
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


main()
