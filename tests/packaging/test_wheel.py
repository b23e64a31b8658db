"""The wheel alone is enough: built, installed into a bare environment, run away from the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NET = """\
import numpy as np
from mindspore import Tensor, nn


class Net(nn.Cell):
    def construct(self, x):
        return Tensor(np.exp(x.asnumpy()))
"""


def run(command: list[str], cwd: Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)], ROOT)
    assert build.returncode == 0, build.stdout + build.stderr
    (found,) = folder.glob("graphward-*.whl")
    return found


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment that holds the wheel and its runtime dependencies only."""
    environment = tmp_path_factory.mktemp("bare") / "venv"
    made = run([sys.executable, "-m", "venv", str(environment)], environment.parent)
    assert made.returncode == 0, made.stderr
    scripts = environment / ("Scripts" if os.name == "nt" else "bin")
    installed = run([str(scripts / "python"), "-m", "pip", "install", "--quiet", str(wheel)], environment.parent)
    assert installed.returncode == 0, installed.stderr
    return scripts


@pytest.fixture
def graphward(bare: Path, tmp_path: Path):
    """Runs the installed command in an empty folder, with nothing on the path that leads to the checkout."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "GRAPHWARD", "VIRTUAL"))}

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run([str(bare / "graphward"), *arguments], tmp_path, env)

    return call


def test_the_wheel_ships_every_source_and_data_file(wheel: Path):
    shipped = set(zipfile.ZipFile(wheel).namelist())
    roots = [ROOT / "src", ROOT / "codemods"]
    wanted = {
        path.relative_to(root).as_posix()
        for root in roots
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "graphward/py.typed" in wanted
    assert wanted <= shipped
    extra = {name for name in shipped - wanted if ".dist-info/" not in name}
    assert extra == set()


def test_the_shipped_codemods_are_found_without_a_checkout(graphward, tmp_path: Path):
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    check = graphward("check", "--no-cache", "--output-format", "json", "net.py")
    assert check.returncode == 1, check.stderr
    found = [finding for finding in json.loads(check.stdout) if finding["code"] == "GW101"]
    assert [(f["line"], f["region"], f["consequence"]) for f in found] == [(7, "Net.construct", "fallback")]


def test_the_catalogue_lists_the_shipped_codemods(graphward):
    rules = graphward("rules", "--output-format", "json")
    assert rules.returncode == 0, rules.stderr
    assert "GW101" in {rule["code"] for rule in json.loads(rules.stdout)}


def test_a_rewrite_that_needs_libcst_works_from_the_wheel(graphward, tmp_path: Path):
    (tmp_path / "net.py").write_text(
        "from mindspore import nn\n\n\n"
        "class Net(nn.Cell):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.width = 8\n\n"
        "    def construct(self, x):\n"
        "        return nn.Dense(self.width, self.width)(x)\n",
        encoding="utf-8",
    )
    fix = graphward("fix", "--unsafe-fixes", "net.py")
    assert fix.returncode in (0, 1), fix.stderr
    removed = [line[1:].strip() for line in fix.stdout.splitlines() if line.startswith("-") and "--- " not in line]
    assert "return nn.Dense(self.width, self.width)(x)" in removed
