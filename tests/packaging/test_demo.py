"""`make demo`, run as a newcomer runs it: the copy migrates and compiles as one graph, nothing else changes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def digest(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.timeout(900)
def test_demo():
    before = digest(EXAMPLES)
    python = os.environ.get("GRAPHWARD_TEST_PYTHON", sys.executable)
    command = [EXAMPLES / "demo.sh", Path(sys.executable).with_name("graphward"), python]
    demo = subprocess.run(command, capture_output=True, text=True)
    assert demo.returncode == 0, demo.stdout + demo.stderr
    assert digest(EXAMPLES) == before

    steps = dict(part.split("\n", 1) for part in demo.stdout.split("\n== ")[1:])
    refused, accepted = (
        steps[f"The {when}: train.py --jit"]
        for when in (
            "same training step as one graph, before",
            "training step as one graph, after",
        )
    )
    assert "Error: " in refused
    assert accepted.startswith("epoch 1: loss ")
    assert "-        self.layers = [EncoderLayer(" in steps["graphward migrate --write"]
    assert "+        self.layers = nn.CellList([EncoderLayer(" in steps["graphward migrate --write"]
