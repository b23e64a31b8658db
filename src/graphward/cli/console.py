"""Where output goes: results to stdout, progress and notes to stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape

from ..engine.run import RunProgress
from ..engine.workspace import Problem
from ..recordings import Recordings
from ..source.paths import display

# Prose is wrapped by the terminal, not by us: lines stay greppable.
out = Console(soft_wrap=True, highlight=False)
err = Console(stderr=True, soft_wrap=True, highlight=False)

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


def print_machine(text: str) -> None:
    """Machine output: UTF-8 whatever the locale says, no styling. What is left of a file name that is no UTF-8 is
    written as JSON writes it."""
    sys.stdout.flush()
    sys.stdout.buffer.write((text if text.endswith("\n") else text + "\n").encode(errors="backslashreplace"))
    sys.stdout.buffer.flush()


def print_diff(text: str) -> None:
    """A diff, colored on a terminal only; elsewhere it is a patch byte for byte."""
    if not out.is_terminal:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode(errors="surrogateescape"))
        sys.stdout.buffer.flush()
        return
    from rich.text import Text

    styles = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}
    for line in text.encode(errors="surrogateescape").decode(errors="replace").split("\n"):
        style = next((s for mark, s in styles.items() if line.startswith(mark)), "")
        out.print(Text(line, style))


def print_problems(problems: Sequence[Problem]) -> None:
    """Files that were left alone, on stderr."""
    for problem in problems:
        place = f"{display(problem.path)}:{problem.line}" if problem.line else display(problem.path)
        print_note("left alone", f"{place}: {problem.message}", "yellow")


def print_recording_problems(recordings: Recordings) -> None:
    """Files of recordings that were ignored, on stderr."""
    for path, message in recordings.problems.items():
        print_note("ignored", f"{display(path)}: {message}", "yellow")


def print_note(title: str, text: str, color: str) -> None:
    """A note on stderr; `text` is no markup."""
    err.print(f"[{color}]{title}[/] {escape(text)}")


@contextmanager
def bytes_progress(title: str) -> Iterator[Callable[[RunProgress], None] | None]:
    """A progress bar over bytes on a terminal's stderr, nothing elsewhere."""
    if not err.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda state: bar.update(task, completed=state.done, total=state.total)


@contextmanager
def step_progress(title: str) -> Iterator[Callable[[int, int, str], None] | None]:
    """A progress bar over steps with a label, on a terminal's stderr, nothing elsewhere."""
    if not err.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    label = TextColumn("{task.fields[label]}")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), label)
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(title, total=None, label="")
        yield lambda done, total, label: bar.update(task, completed=done, total=total, label=label)
