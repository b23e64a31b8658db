"""A file to lay out, and the interpreter that imports what comes of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphward.layout.plan import Layout, plan

FIXTURES = Path(__file__).parents[2] / "fixtures" / "layout"

# Parts by force, so that a test needs no Cell.
TWO = ("first=one.py", "second=two.py")


@pytest.fixture
def laid(tmp_path: Path) -> Callable[..., Layout]:
    """`laid(text, *pins, name="model.py")`: the layout of a file with that text, in a folder of its own."""

    def make(text: str | bytes, *pins: str, name: str = "model.py", project: tuple[Path, ...] = ()) -> Layout:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return plan(path, pins, project)

    return make


def put(layout: Layout) -> None:
    """Write the package in place of its file."""
    layout.package.mkdir()
    for path, text in layout.files.items():
        path.write_bytes(text.to_bytes())
    layout.before.path.unlink()


def python(*arguments: str, cwd: Path) -> str:
    """What a run of Python prints; it has to succeed."""
    run = subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def same(layout: Layout, program: str, *, root: Path | None = None) -> str:
    """What a program prints with the file, after making sure that it prints the same with the package."""
    cwd = root or layout.before.path.parent
    before = python("-c", program, cwd=cwd)
    put(layout)
    assert python("-c", program, cwd=cwd) == before
    return before
