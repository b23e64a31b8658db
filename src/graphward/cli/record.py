"""`graphward record`: what a real run hands to the Cells and jit functions of the project."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Annotated

import typer

from ..errors import GraphwardError
from ..recordings import FOLDER, PROCESS, RUN, RUNS, Recording, Recordings, watched
from ..source.writing import write_atomic
from .console import err, print_note, print_recording_problems

_EXAMPLE = "graphward record -- python train.py"


def record(
    command: Annotated[
        list[str],
        typer.Argument(metavar="COMMAND...", show_default=False,
                       help="What to run, as you would type it: python train.py, python -m pkg.train, pytest tests."),
    ],
) -> None:  # fmt: skip
    """Run a command in PyNative and keep what its Cells and jit functions got. [bold]This runs your code.[/]

    The command runs as it is, except that nothing is compiled: whatever mode it sets, Cells and jit functions run in
    PyNative. For those whose source lies below the current folder, constructor arguments and the first few distinct
    calls go to .graphward/ as plain data; verify, migrate and check then use them without being told.

    What was recorded is kept when the command fails or is killed. Exit status: that of the command; 2 when it cannot
    be started.

    Examples:

      graphward record -- python train.py --epochs 1

      graphward record -- pytest tests
    """
    root = Path.cwd().resolve()
    program = _program(command)
    run = _new_run(root, command)
    status = _run(program, command, watched(os.environ, root, run))
    recordings = Recordings()
    kept = [r for r in recordings.all(root) if r.run == run]
    _report(recordings, kept, run, command)
    if kept:
        _forget_older(root, run)
    else:
        shutil.rmtree(run, ignore_errors=True)
    raise typer.Exit(status)


def _program(command: Sequence[str]) -> str:
    found = shutil.which(command[0])
    if found is not None:
        return found
    if command[0].endswith(".py"):
        hint = f"write graphward record -- python {shlex.join(command)}"
        raise GraphwardError(f"{command[0]} is no program", hint=hint)
    raise GraphwardError(f"there is no program {command[0]!r}", hint=f"for example: {_EXAMPLE}")


def _new_run(root: Path, command: Sequence[str]) -> Path:
    """The folder of this run: it sorts by time, and ends with what tells the command from others."""
    home = root / FOLDER
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    run = home / RUNS / f"{stamp}-{time.time_ns() % 1_000_000_000:09d}-{_mark(command)}"
    try:
        run.mkdir(parents=True)
        ignore = home / ".gitignore"
        if not ignore.exists():
            write_atomic(ignore, b"*\n")
        write_atomic(run / RUN, json.dumps({"command": list(command)}).encode())
    except OSError as error:
        raise GraphwardError(
            f"cannot be written: {error.strerror}", path=home, hint="recordings go to .graphward in the current folder"
        ) from None
    return run


def _mark(command: Sequence[str]) -> str:
    return blake2b("\0".join(command).encode(errors="surrogateescape"), digest_size=4).hexdigest()


def _forget_older(root: Path, run: Path) -> None:
    """An older run of the same command says nothing that this one does not."""
    mark = run.name.rpartition("-")[2]
    for other in (root / FOLDER / RUNS).iterdir():
        if other.name < run.name and other.name.rpartition("-")[2] == mark:
            shutil.rmtree(other, ignore_errors=True)


def _run(program: str, command: Sequence[str], environment: dict[str, str]) -> int:
    """The exit status of the command; 128 and the number of the signal that ended it."""
    try:
        process = subprocess.Popen([command[0], *command[1:]], executable=program, env=environment)
    except OSError as error:
        raise GraphwardError(f"cannot run {command[0]}: {error.strerror}", hint=f"for example: {_EXAMPLE}") from None

    def pass_on(number: int, frame: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)

    # Ctrl-C reaches the command by itself; it decides what to do about it, and what it recorded is reported.
    previous = {signal.SIGTERM: signal.signal(signal.SIGTERM, pass_on),
                signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN)}  # fmt: skip
    try:
        code = process.wait()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def _report(recordings: Recordings, kept: Sequence[Recording], run: Path, command: Sequence[str]) -> None:
    """On stderr: stdout is the command's."""
    sys.stdout.flush()
    print_recording_problems(recordings)
    if not kept:
        print_note("nothing recorded", _why_nothing(run), "yellow")
        return
    named: dict[tuple[str, str], list[Recording]] = {}
    for recording in sorted(kept, key=lambda r: (r.file, r.qualname)):
        named.setdefault((recording.file, recording.qualname), []).append(recording)
    cells = sum(of[0].kind == "cell" for of in named.values())
    parts = _counted(cells, "Cell class", "Cell classes"), _counted(len(named) - cells, "jit function", "jit functions")
    distinct = _counted(sum(len(r.calls) for r in kept), "kind of call", "kinds of calls")
    err.print(f"[green]recorded[/] {' and '.join(parts)}: {distinct}, {sum(r.count for r in kept)} in all")
    for (file, qualname), of in named.items():
        outermost = sum(call["outermost"] for r in of for call in r.calls)
        further = sum(r.further for r in of)
        more = f", {_counted(further, 'further kind', 'further kinds')} only counted" if further else ""
        line = f"  {file}::{qualname}: {_counted(sum(r.count for r in of), 'call', 'calls')} ({outermost} outermost)"
        err.print(f"{line}, {_counted(sum(len(r.calls) for r in of), 'kind', 'kinds')} kept{more}", markup=False)
    err.print(f"kept in {run.relative_to(run.parents[2])}; verify, migrate and check use it")


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _why_nothing(run: Path) -> str:
    if not any(run.glob(f"*/{PROCESS}")):
        return ("the command started no Python that could be watched (python -I, -E and -S cannot be, nor can one that "
                "gets a PYTHONPATH of its own)")  # fmt: skip
    return ("no Cell and no jit function whose source lies below the current folder was called; run it from the "
            "project's folder")  # fmt: skip
