"""The limits and the export that the command line and pyproject.toml set reach the proof."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

GRAPHWARD = Path(sys.executable).with_name("graphward")
NET = """\
import time

import numpy as np
from mindspore import nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        CODE

    def construct(self, x):
        return x * 2
"""
SLEEPS = "time.sleep(600)"
GROWS = "blocks = [np.ones(1 << 24) for _ in range(64)]"  # 128 MB each


@pytest.mark.parametrize(
    ("code", "options", "settings", "verdict", "words"),
    [
        (SLEEPS, ["--timeout", "3"], "", "times-out", "within 3 s"),
        (GROWS, [], "memory = 2500", "crashes", "more than 2,500 MB"),
        ("pass", ["--export"], "", "verified", ""),
    ],
    ids=["timeout", "memory", "export"],
)
def test_what_is_asked_for_reaches_the_proof(
    mindspore_python: str, tmp_path: Path, code: str, options: list[str], settings: str, verdict: str, words: str
) -> None:
    (tmp_path / "net.py").write_text(NET.replace("CODE", code))
    (tmp_path / "pyproject.toml").write_text(f"[tool.graphward.verify]\n{settings}\n")
    command = [GRAPHWARD, "verify", "net.py::Net", "--input", "f32[2,3]", "--python", mindspore_python, *options]
    done = subprocess.run([*command, "--output-format", "json"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == (verdict != "verified"), done.stderr
    (found,) = json.loads(done.stdout)
    assert found["verdict"] == verdict
    assert words in found["message"]
    assert found["original"]["export"] == ("equal" if "--export" in options else None)
