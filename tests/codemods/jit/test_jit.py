"""jit made anew, fed with what it cannot keep, and shapes that compile again: what is told, and what stays silent."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from graphward.config import Config
from graphward.engine.check import check
from graphward.engine.workspace import Workspace
from graphward.rules.finding import Finding
from graphward.rules.selection import selected_rules

HEAD = """\
import mindspore as ms
import mindspore.dataset as ds
from mindspore import jit, nn, ops


def forward(x):
    return x * 2


@jit
def step(x, n=1, parts=()):
    return x * n


class Net(nn.Cell):
    @jit
    def construct(self, x):
        return x + 1


"""


def told(folder: Path, body: str, *codes: str) -> list[Finding]:
    path = folder / "train.py"
    path.write_text(HEAD + dedent(body).lstrip("\n"))
    config = Config(root=folder, select=codes)
    result = check(Workspace([path]), selected_rules(codes, (), config.target_version), config)
    return [finding for _, finding in result.all_findings()]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("for x in [1, 2]:\n    ms.jit(fullgraph=True)(forward)(x)", "GW610"),
        ("def run(data):\n    while data:\n        jit(function=forward)(data.pop())", "GW610"),
        ("def run(data):\n    for x in data:\n        net = Net()\n        while x:\n            net(x)", "GW610"),
        ("for x in range(9):\n    step(ops.ones((2,)), x)", "GW612"),
        ("net = jit(forward)\nfor i, x in enumerate(data):\n    for k in range(9):\n        net((x, k))", "GW612"),
        ("net = Net()\nfor x in data:\n    net({'a': x})", "GW612"),
        ("data = ds.Cifar10Dataset('d').batch(8).repeat(2)\nfor x, in data:\n    step(x)", "GW630"),
        ("first = ds.Cifar10Dataset('d')\nsecond = first.batch(8)\nfor b in second.create_dict_iterator():\n"
         "    step(b['image'])", "GW630"),
    ],
)  # fmt: skip
def test_it_is_told(tmp_path: Path, body: str, code: str):
    assert {finding.code for finding in told(tmp_path, body, "GW61", "GW63")} == {code}


@pytest.mark.parametrize(
    "body",
    [
        # Another function, or another configuration, in each round.
        "for f in [forward, step]:\n    jit(f)(1)",
        "class Other(nn.Cell):\n    def __init__(self, n):\n        super().__init__()\n    @jit\n"
        "    def construct(self, x):\n        return x\n\n\nfor n in [1, 2]:\n    Other(n)(n)",
        # Made under a condition: once.
        "made = None\nfor x in [1]:\n    if made is None:\n        made = jit(forward)\n    made(x)",
        # Made in the loop, but for another time.
        "made = []\nfor x in [1]:\n    def later():\n        return jit(forward)\n    made.append(later)",
        # PyNative: an instance that compiles nothing.
        "class Plain(nn.Cell):\n    def construct(self, x):\n        return x\n\n\nfor x in [1]:\n    Plain()(x)",
        # The same values in each round, or a call outside of loops.
        "sizes = (2, 3)\nfor x in data:\n    step(x, 3, sizes)\nstep(1, int(2.5), (1, 2))",
        "for x in data:\n    step(x, ms.mutable(len(data)), ms.mutable([x]))",
        "for i, x in enumerate(data):\n    forward((x, i))",
        # No dataset of MindSpore's, or nothing compiled behind it.
        "for x in reader.batch(8):\n    step(x)",
        "for x, in ds.Cifar10Dataset('d').batch(8):\n    forward(x)",
        "for x, in ds.Cifar10Dataset('d').batch(8, drop_remainder=True):\n    step(x)",
    ],
)
def test_it_stays_silent(tmp_path: Path, body: str):
    assert told(tmp_path, body, "GW61", "GW63") == []


def test_a_wrapper_that_reads_variables_of_its_loop_is_left_to_people(tmp_path: Path):
    (found,) = told(tmp_path, """
        for x in data:
            scale = x + 1

            @jit
            def scaled(y):
                return y * scale

            scaled(x)
    """, "GW610")  # fmt: skip
    assert [fix.edits for fix in found.fixes] == [()]
    assert "reads variables of the loop" in found.fixes[0].reason


def test_an_evaluation_keeps_its_samples(tmp_path: Path):
    (found,) = told(tmp_path, "for x, in ds.Cifar10Dataset('d').batch(8):\n    step(x)", "GW630")
    assert [fix.edits for fix in found.fixes] == [()]


def test_a_recorded_run_decides_about_dynamic_shapes(mindspore_python: str, tmp_path: Path):
    """The whole way: a run that passes five sizes, its recording, the finding, and the graphs of the fixed file."""
    case = Path(__file__).parents[3] / "fixtures" / "GW631" / "function"
    shutil.copy(case / "before.py", tmp_path / "net.py")
    run = tmp_path / "run.py"
    run.write_text(dedent("""
        import os
        import sys

        import numpy as np
        from mindspore import Tensor

        try:
            from mindspore.graph import api
        except ImportError:
            from mindspore.common import api
        from net import step

        weight = Tensor(np.ones((3, 2), np.float32))
        for size in range(2, 7):
            step(Tensor(np.ones((size, 3), np.float32)), weight)
        print("graphs", len(api.ms_compile_cache))
        sys.stdout.flush()
        os._exit(0)
    """))
    plain = subprocess.run([mindspore_python, "run.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert "graphs 5" in plain.stdout
    script = "from graphward.cli.app import main; main()"
    record = [sys.executable, "-c", script, "record", "--", mindspore_python, "run.py"]
    subprocess.run(record, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    fix = [sys.executable, "-c", script, "fix", "--select", "GW631", "--unsafe-fixes", "--write", "net.py"]
    subprocess.run(fix, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    after = subprocess.run([mindspore_python, "run.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert "graphs 1" in after.stdout, after.stderr[-500:]
