"""Ctrl-C at the real program: it ends at once, says what is known, and leaves no process behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

FAST = """\
from mindspore import nn


class Fast(nn.Cell):
    def construct(self, x):
        return x * 2
"""
SLOW = """\
import time
from pathlib import Path

from mindspore import nn


class Slow(nn.Cell):
    def __init__(self):
        super().__init__()
        Path({started!r}).touch()
        time.sleep(600)

    def construct(self, x):
        return x.transpose(0, 1)
"""
SETTINGS = """\
[tool.graphward.verify]
jobs = 1

[tool.graphward.verify.targets]
"fast.py::Fast" = ["f32[2,3]"]
"slow.py::Slow" = ["f32[2,3]"]
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def descendants(pid: int) -> list[int]:
    found = []
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, listing.read_text().split()):
            found += [child, *descendants(child)]
    return found


def runs(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def interrupted(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Status and output of the program, which got SIGINT while `Slow` was under way; nothing of it may be left."""
    started = folder / "started"
    scratch = folder / "scratch"
    scratch.mkdir()
    (folder / "fast.py").write_text(FAST)
    (folder / "slow.py").write_text(SLOW.format(started=str(started)))
    (folder / "pyproject.toml").write_text(SETTINGS)
    script = Path(sys.executable).with_name("graphward")
    with subprocess.Popen(
        [script, *arguments], cwd=folder, env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # What runs in the background of a shell passes on that Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as program:  # fmt: skip
        end = time.monotonic() + 120
        while not started.exists() and program.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        assert started.exists(), program.communicate()
        processes = descendants(program.pid)
        assert len(processes) >= 2, "the worker and a play"
        program.send_signal(signal.SIGINT)
        output, errors = program.communicate(timeout=30)
    end = time.monotonic() + 10
    while any(map(runs, processes)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(runs, processes))
    assert list(scratch.iterdir()) == []
    return program.returncode, output, errors


def test_verify_prints_the_verdicts_that_are_there(mindspore_python: str, tmp_path: Path) -> None:
    status, output, errors = interrupted(
        tmp_path, "verify", "fast.py::Fast", "slow.py::Slow", "--python", mindspore_python, "--output-format", "json"
    )
    assert status == 130, errors
    assert [(entry["target"], entry["verdict"]) for entry in json.loads(output)] == [("fast.py::Fast", "verified")]
    assert "interrupted 1 of 2 verdicts were there" in errors
    assert "Traceback" not in errors


def test_migrate_writes_nothing(mindspore_python: str, tmp_path: Path) -> None:
    status, output, errors = interrupted(tmp_path, "migrate", "slow.py", "--write", "--python", mindspore_python)
    assert status == 130, errors
    assert output == ""
    assert "interrupted nothing was written" in errors
    assert "Traceback" not in errors
    assert "x.transpose(0, 1)" in (tmp_path / "slow.py").read_text()
