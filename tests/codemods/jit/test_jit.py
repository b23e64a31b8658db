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


def test_a_data_set_is_followed_into_other_files(tmp_path: Path):
    (tmp_path / "data.py").write_text(dedent("""
        import mindspore.dataset as ds


        def load(path):
            images = ds.Cifar10Dataset(path)
            return images.batch(32)


        def create_dataset(path):
            return load(path).repeat(2)


        def for_model(path):
            return ds.MnistDataset(path).batch(16)


        def unused(path):
            return ds.MnistDataset(path).batch(8)
    """))
    (tmp_path / "train.py").write_text(dedent("""
        import data
        import mindspore as ms
        from data import create_dataset
        from mindspore import nn

        net = nn.Dense(3, 4)
        grad_fn = ms.value_and_grad(net)


        @ms.jit
        def step(x):
            return grad_fn(x)


        def train(dataset):
            for x, y in dataset.create_tuple_iterator():
                step(x)


        train(create_dataset("d"))
        model = ms.Model(net)
        model.train(2, data.for_model("d"))
    """))
    config = Config(root=tmp_path, select=("GW630",))
    files = sorted(tmp_path.glob("*.py"))
    result = check(Workspace(files), selected_rules(("GW630",), (), config.target_version), config)
    told = [(path.name, entry.source.position(f.span.start)[0], f.fixes[0].applicability.value)
            for path, entry in result.files.items() for f in entry.findings]  # fmt: skip
    assert told == [("data.py", 7, "unsafe"), ("data.py", 15, "unsafe")]


def test_what_jit_ran_in_python_is_compiled_then(mindspore_python: str, tmp_path: Path):
    """Objects that are no functions: not one graph before, one for each call after."""
    net = tmp_path / "net.py"
    net.write_text(dedent("""
        import functools
        import os
        import sys

        import numpy as np
        from mindspore import Tensor, jit

        try:
            from mindspore.graph import api
        except ImportError:
            from mindspore.common import api


        def scaled(factor, x, shift=1.0):
            return x * factor + shift


        class Scaling:
            @jit
            @staticmethod
            def fixed(x):
                return x * 2

            def __call__(self, x):
                return x * 3


        scaling = Scaling()
        halved = functools.partial(scaled, 0.5, shift=2.0)
        steps = [jit(halved), jit(scaling), scaling.fixed, jit(functools.partial(scaled, 4.0))]
        values = [float(step(Tensor(np.ones(1, np.float32)))[0]) for step in steps]
        print("values", values, "graphs", len(api.ms_compile_cache))
        sys.stdout.flush()
        os._exit(0)
    """))
    run = [mindspore_python, "net.py"]
    before = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=120).stdout
    script = "from graphward.cli.app import main; main()"
    fix = [sys.executable, "-c", script, "fix", "--select", "GW614", "--unsafe-fixes", "--write", "net.py"]
    subprocess.run(fix, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    after = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=120).stdout
    values = "values [2.5, 3.0, 2.0, 5.0] graphs "
    assert (values + "0" in before, values + "4" in after) == (True, True), before + after


@pytest.mark.parametrize(
    ("mode", "codes"),
    [("ms.set_context(device_target='CPU')", {"GW613"}), ("ms.set_context(mode=ms.GRAPH_MODE)", set()),
     ("model = ms.Model(net)", set())],
)  # fmt: skip
def test_inference_without_jit_is_told_where_no_mode_is_set(tmp_path: Path, mode: str, codes: set[str]):
    (tmp_path / "infer.py").write_text(dedent(f"""
        import mindspore as ms
        from net import Encoder

        net = Encoder()
        {mode}
        ms.load_checkpoint("a.ckpt", net)
        for batch in []:
            logits = net(batch)
    """))
    (tmp_path / "net.py").write_text(dedent("""
        from mindspore import nn, ops


        class Encoder(nn.Cell):
            def __init__(self):
                super().__init__()
                self.layers = nn.CellList([nn.Dense(4, 4) for _ in range(8)])

            def construct(self, x):
                for layer in self.layers:
                    x = ops.relu(layer(x))
                return x
    """))
    config = Config(root=tmp_path, select=("GW613",))
    files = sorted(tmp_path.glob("*.py"))
    result = check(Workspace(files), selected_rules(("GW613",), (), config.target_version), config)
    assert {f.code for _, f in result.all_findings()} == codes
