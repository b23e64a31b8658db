"""`graphward review`: what the command line calls."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

from ..config import Config
from ..engine.run import RunProgress
from ..errors import GraphwardError
from .checking import Checker
from .outcome import Written, base_of
from .plain import PlainFront, accept_safe
from .session import Review, Ways
from .store import Store
from .transcript import left_alone

Progress = Callable[[], AbstractContextManager[Callable[[RunProgress], None] | None]]


def run_review(
    paths: Sequence[Path], config: Config, *, plain: bool, safe: bool = False, resume: bool = False,
    fresh: bool = False, ways: Ways | None = None, progress: Progress = nullcontext, stdin: TextIO | None = None,
    stdout: TextIO | None = None,
) -> int:  # fmt: skip
    """Review the findings under `paths` one by one and write what is accepted. Runs nothing of the code unless asked.

    `safe` asks nothing, remembers nothing and accepts the safe fixes. `progress` shows the first check. Returns 0 when
    nothing is left, 1 when findings remain. Raises GraphwardError for paths, files and settings that cannot be used.
    """
    stdin, stdout, ways = stdin or sys.stdin, stdout or sys.stdout, ways or Ways()
    whole = not (plain or safe)
    if whole:
        _require_screen(stdin, stdout)
    _tolerate(stdin, "replace")
    _tolerate(stdout, "backslashreplace")
    store = None if safe else Store(config.root)
    if store is not None and fresh:
        store.forget()
    if resume and (store is None or not store.exists):
        raise GraphwardError("there is no review of this project to resume", hint="leave --resume out to begin one")
    review = Review(Checker(paths, config), store, ways)
    with progress() as tell:
        found, problems = review.checker.first(tell)
    for problem in problems:
        left_alone(problem)
    review.begin(found, as_left=resume)
    total = _Total()
    complete = _screen(review, total) if whole else _lines(review, total, safe, stdin, stdout)
    if ways.patch is not None and not whole:
        review.write([], review.begin_write())
    review.end()
    if store is not None and store.problem:
        sys.stderr.write(f"graphward: {store.problem}\n")
    stdout.write(_told(review, total, complete))
    stdout.flush()
    return 0 if complete and not review.left() and not total.problems else 1


class _Total:
    """What was written in the whole run."""

    def __init__(self) -> None:
        self.files: dict[Path, bytes] = {}
        self.problems: list[str] = []

    def add(self, done: Written) -> None:
        self.files.update(done.files)
        self.problems += done.problems


def _lines(review: Review, total: _Total, safe: bool, stdin: TextIO, stdout: TextIO) -> bool:
    if not safe:
        return PlainFront(review, stdin, stdout).run(total.add)
    complete = True
    try:
        accept_safe(review, stdout)
    except KeyboardInterrupt:
        complete = False
    if review.ways.patch is None:
        done = review.write(review.unwritten(), review.begin_write())
        for problem in (*done.problems, *(f"{p}: changed on disk meanwhile, nothing is written" for p in done.changed)):
            sys.stderr.write(f"graphward: {problem}\n")
        total.add(done)
    return complete


def _screen(review: Review, total: _Total) -> bool:
    # Milliseconds that an Esc waits for the rest of an arrow key: Textual's own 100 would be felt.
    os.environ.setdefault("ESCDELAY", "10")
    from .screen.app import ReviewApp

    if not review.state.files:
        return True
    app = ReviewApp(review, total.add)
    with app.pauses.short():
        app.run()
    return app.complete


def _require_screen(stdin: TextIO, stdout: TextIO) -> None:
    if find_spec("textual") is None:
        hint = "install it with `pip install 'graphward[review]'`, or use line prompts: `graphward review --plain`"
        raise GraphwardError("the full-screen review needs Textual", hint=hint)
    on_terminal = stdin.isatty() and stdout.isatty() and sys.stderr.isatty()  # Textual draws on stderr
    if not on_terminal or os.environ.get("TERM", "dumb") == "dumb":
        raise GraphwardError("the full-screen review needs a terminal",
                             hint="use line prompts: `graphward review --plain`, or `--accept-safe`")  # fmt: skip


def _tolerate(stream: TextIO, errors: str) -> None:
    """A terminal that cannot show a character of the code, or sends one that is none, must not end the review."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors=errors)


def _told(review: Review, total: _Total, complete: bool) -> str:
    if review.ways.patch is not None:
        changed = [file for file in review.state.files.values() if file.decisions]
        count = sum(len(file.decisions) for file in changed)
        held = f"{_fixes(count)} in {_files(len(changed))}"
        done = f"{review.ways.patch} holds {held}" if count else "Nothing was accepted"
        base = base_of([file.path for file in changed], review.checker.config.root)
        done += f"; git apply takes it in {base}" if base != Path.cwd() else ""
    elif total.files:
        count = sum(len(review.state.files[path].decisions) for path in total.files if path in review.state.files)
        done = f"Applied {_fixes(count)} in {_files(len(total.files))}"
    else:
        done = "Nothing was changed"
    if not complete:
        return f"{done}; the review is not finished.\n"
    left = review.left()
    told = f"{left} finding{' is' if left == 1 else 's are'} left" if left else "no finding is left"
    return f"{done}; {told}.\n"


def _fixes(count: int) -> str:
    return f"{count} fix{'' if count == 1 else 'es'}"


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"
