"""Migration of a package with the shipped codemods: a Cell in one file, what it runs through in another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HELPER = """\
import numpy as np
from mindspore import Tensor


def soft(x: Tensor):
    return Tensor(np.exp(x.asnumpy()))


def turned(x: Tensor):
    return x.transpose(0, 1)
"""
MODEL = """\
from mindspore import Tensor, nn

from .helper import soft, turned


class Good(nn.Cell):
    def construct(self, x: Tensor):
        return soft(x) + 1


class Safe(nn.Cell):
    def construct(self, x: Tensor):
        return turned(x) * 2


class Unknown(nn.Cell):
    def __init__(self, settings):
        super().__init__()
        self.size = settings.deep.size

    def construct(self, x: Tensor):
        y = x * self.size
        return y.transpose(0, 1)
"""
SETTINGS = """\
[tool.graphward.verify.targets]
"shop/model.py::Good" = ["f32[2,3]"]
"shop/model.py::Safe" = ["f32[2,3]"]
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    for name, text in (("__init__.py", ""), ("helper.py", HELPER), ("model.py", MODEL)):
        (folder / name).write_text(text)
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    return folder


def migrate(folder: Path, python: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = Path(sys.executable).with_name("graphward")
    return subprocess.run(
        [script, "migrate", folder.name, "--python", python, *arguments],
        cwd=folder.parent, env={**os.environ, "COLUMNS": "200"}, capture_output=True, encoding="utf-8",
    )  # fmt: skip


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("*.py")}


def test_what_is_proven_in_another_file_is_written_and_the_rest_held_back(package, mindspore_python):
    before = texts(package)
    dry = migrate(package, mindspore_python)
    assert dry.returncode == 1 and texts(package) == before
    patch = dry.stdout.partition("\nVerdicts\n")[0]
    assert "--- a/shop/helper.py" in patch and "--- a/shop/model.py" not in patch
    assert "could not be proven" in dry.stdout and "GW110 shop/model.py:23:16: " in dry.stdout
    applied = subprocess.run(["git", "apply", "--check", "-"], input=patch, cwd=package.parent, text=True)
    assert applied.returncode == 0

    done = migrate(package, mindspore_python, "--write", "--output-format", "json")
    assert done.returncode == 1, "a finding is left"
    verdicts = {entry["target"].partition("::")[2]: entry for entry in json.loads(done.stdout)}
    assert verdicts["Good"]["original"]["verdict"] == "falls-back"
    assert verdicts["Good"]["verdict"] == verdicts["Safe"]["verdict"] == "verified"
    assert verdicts["Unknown"]["verdict"] not in ("verified", "diverges")
    after = texts(package)
    assert after["model.py"] == before["model.py"]
    assert "numpy" not in after["helper.py"] and "ops.exp(x)" in after["helper.py"]
    assert "x.swapaxes(0, 1)" in after["helper.py"]


def test_safe_only_leaves_what_may_change_results(package, mindspore_python):
    done = migrate(package, mindspore_python, "--safe-only", "--write")
    assert done.returncode == 1, done.stderr
    after = texts(package)["helper.py"]
    assert after == HELPER.replace("transpose", "swapaxes")


def test_the_verdict_says_what_became_of_the_gradient_that_is_written(package, mindspore_python):
    done = migrate(package, mindspore_python, "--select", "GW101", "--output-format", "json", "--write")
    assert done.returncode == 1, "the other declared target is judged too, and its rule was not selected"
    verdict, other = json.loads(done.stdout)
    assert other["target"].endswith("::Safe") and other["verdict"] == other["original"]["verdict"] == "diverges"
    assert verdict["target"].endswith("::Good") and verdict["verdict"] == "verified"
    assert verdict["rewritten"]["gradients"] == "restored"
    assert "return ops.exp(x)\n" in texts(package)["helper.py"], "not cut by stop_gradient"
