"""Targets that need a device, or other processes, which this machine has not: bad input with the way out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

GRAPHWARD = Path(sys.executable).with_name("graphward")
NET = """\
import mindspore as ms
from mindspore import nn
from mindspore.communication import init

AT_IMPORT


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        AT_CONSTRUCTION

    def construct(self, x):
        return x * 2
"""


@pytest.mark.parametrize(
    ("place", "code", "words"),
    [
        ("AT_IMPORT", 'ms.set_device("Ascend")', "cannot be imported: RuntimeError: Unsupported device target Ascend"),
        ("AT_CONSTRUCTION", 'ms.set_context(device_target="Ascend")', "constructed: RuntimeError: Unsupported"),
        ("AT_CONSTRUCTION", "init()", "constructed: RuntimeError: "),
    ],
    ids=["device", "context", "group"],
)
def test_a_target_that_needs_a_device_is_refused_with_its_line(
    mindspore_python: str, tmp_path: Path, place: str, code: str, words: str
) -> None:
    text = NET.replace(place, code).replace("AT_IMPORT", "").replace("AT_CONSTRUCTION", "pass")
    (tmp_path / "net.py").write_text(text)
    command = [GRAPHWARD, "verify", "net.py::Net", "--input", "f32[2,3]", "--python", mindspore_python]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    line = text.splitlines().index(next(line for line in text.splitlines() if line.strip() == code)) + 1
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert f"net.py:{line}: " in done.stderr
    assert "it asks for a device or for other processes" in done.stderr and "--python" in done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""
