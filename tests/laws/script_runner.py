"""Runs scripts for `test_script_laws` under the interpreter that has MindSpore: it imports MindSpore once, and forks.

Reads a JSON list `[path, folder]` a line; answers with `{"status": ..., "output": ..., "errors": ...}`. The parent must
not compile anything: a fork after that hangs.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import traceback
from pathlib import Path


def main() -> None:
    importlib.import_module("mindspore.dataset")
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        path, folder = json.loads(line)
        child = os.fork()
        if child == 0:
            run(path, folder)
        _, status = os.waitpid(child, 0)
        said = {name: (Path(folder) / name).read_text(errors="replace") for name in ("output", "errors")}
        answers.write(json.dumps({"status": os.waitstatus_to_exitcode(status), **said}) + "\n")
        answers.flush()


def run(path: str, folder: str) -> None:
    """The child: never returns."""
    os.chdir(folder)
    for descriptor, name in ((1, "output"), (2, "errors")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    status = 0
    try:
        runpy.run_path(path, run_name="__main__")
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads of the data pipeline are still there.
    os._exit(status)


if __name__ == "__main__":
    main()
