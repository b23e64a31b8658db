"""Deprecated names that are rewritten into another form of call: what the rules write, run by the wheel at hand."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from graphward.config import Config
from graphward.engine.check import check
from graphward.engine.workspace import Workspace
from graphward.knowledge.renames import VERSIONS, successors, version
from graphward.knowledge.renames_calls import advice, call_forms
from graphward.rules.selection import selected_rules

from .test_target_version import written

LATEST = version(VERSIONS[-1])
HEAD = """import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, mint, nn, ops
from mindspore.ops import operations as P

x = Tensor(np.arange(6).reshape(2, 3).astype(np.float32) + 1)
y = Tensor(np.arange(6).reshape(2, 3).astype(np.float32) + 1.001)
sq = Tensor(np.arange(9).reshape(3, 3).astype(np.float32) + 1)
idx = Tensor(np.array([0, 2]), ms.int32)
rows = Tensor(np.array([[0], [1]]), ms.int32)
places = Tensor(np.array([[0, 1, 2], [2, 1, 0], [0, 1, 2]]))
boxes = Tensor(np.arange(4).reshape(4, 1, 1, 1).astype(np.float32))
turned = Tensor(np.ones((2, 3), np.complex64) * (1 + 2j))
"""
# Calls of every form; several where its parameters are written in several ways.
CALLS = {
    "nn.Norm": ["nn.Norm()(x)", "nn.Norm(1)(x)", "nn.Norm(axis=(0, 1), keep_dims=True)(x)", "nn.Norm(axis=())(x=x)"],
    "nn.OneHot": ["nn.OneHot(depth=3)(idx)", "nn.OneHot(0, 3, 2.0, off_value=1.0)(idx)"],
    "nn.Tril": ["nn.Tril()(sq)", "nn.Tril()(sq, k=1)"],
    "nn.Triu": ["nn.Triu()(sq, -1)"],
    "nn.Roll": ["nn.Roll(1, 1)(x)", "nn.Roll(axis=(0, 1), shift=(1, 2))(x)"],
    "nn.MatMul": ["nn.MatMul()(x, sq)", "nn.MatMul(False, transpose_x2=False)(x2=sq, x1=x)"],
    "nn.MatrixDiag": ["nn.MatrixDiag()(x)"],
    "nn.MatrixDiagPart": ["nn.MatrixDiagPart()(sq)"],
    "nn.ClipByNorm": ["nn.ClipByNorm()(x, Tensor(1.0))"],
    "nn.L1Regularizer": ["nn.L1Regularizer(0.5)(x)", "-nn.L1Regularizer(0.5)(x - 3)"],
    "nn.AdamOffload": ["len(nn.AdamOffload([Parameter(x)], 0.1, beta1=0.5).parameters)"],
    "nn.LazyAdam": ["len(nn.LazyAdam([Parameter(x)], learning_rate=0.1).parameters)"],
    "ops.ApproximateEqual": ["P.ApproximateEqual(0.1)(x, y)", "P.ApproximateEqual()(x, y)"],
    "ops.approximate_equal": ["ops.approximate_equal(x, y)", "ops.approximate_equal(x, y, tolerance=0.1)"],
    "ops.Padding": ["P.Padding(4)(x[:, :1])"],
    "ops.padding": ["ops.padding(x[:, :1])", "ops.padding(pad_dim_size=3, x=x[:, :1])"],
    "ops.MatrixBandPart": ["P.MatrixBandPart()(sq, 1, 0)"],
    "ops.matrix_band_part": ["ops.matrix_band_part(sq, 0, 1)"],
    "ops.ScatterSub": ["P.ScatterSub()(Parameter(x), rows[:, 0], y)"],
    "ops.ScatterNdSub": ["P.ScatterNdSub()(Parameter(x), rows, y + 1)"],
    "ops.scatter_nd_sub": ["ops.scatter_nd_sub(Parameter(x), rows, y)"],
    "ops.TensorScatterSub": ["P.TensorScatterSub()(x, rows, y)"],
    "ops.tensor_scatter_sub": ["ops.tensor_scatter_sub(x, rows, updates=y * 2)"],
    "ops.ScatterNonAliasingAdd": ["P.ScatterNonAliasingAdd()(Parameter(x), rows, y)"],
    "ops.ScatterAddWithAxis": ["P.ScatterAddWithAxis(1)(sq, places, sq)", "P.ScatterAddWithAxis()(sq, places, sq)"],
    "ops.InplaceUpdate": ["P.InplaceUpdate((0, 1))(x, y)"],
    "ops.BatchToSpaceND": ["P.BatchToSpaceND((2, 2), [[0, 0], [0, 0]])(boxes)"],
    "ops.ScalarToArray": ["P.ScalarToArray()(1.0)"],
    "ops.DynamicShape": ["P.DynamicShape()(x)"],
    "ops.EuclideanNorm": ["P.EuclideanNorm(keep_dims=True)(x, 1)"],
    "ops.ConjugateTranspose": ["P.ConjugateTranspose()(turned, (1, 0))"],
    "ops.LowerBound": ["P.LowerBound()(x, x)"],
    "ops.UpperBound": ["P.UpperBound()(x, x)"],
    "ops.NthElement": ["P.NthElement()(x, 1)", "P.NthElement(reverse=True)(x, 0)"],
    "ops.NuclearNorm": ["P.NuclearNorm()(sq)", "P.NuclearNorm((0, 1), keepdim=True)(sq)"],
    "ops.ParallelConcat": ["P.ParallelConcat()((x[:1], y[:1]))"],
    "ops.Expand": ["P.Expand()(x[:1], (2, 3))"],
    "ops.UniformReal": ["P.UniformReal()((2, 3)).shape"],
    "ops.rand_like": ["ops.rand_like(x)", "ops.rand_like(x, dtype=ms.float16)"],
    "ops.randint": ["ops.randint(0, 5, (2,))"],
    "ops.randint_like": ["ops.randint_like(idx, 0, high=5)"],
}
# The old operator has no kernel on the CPU, or does not run at all.
ONLY_NEW = {
    "nn.MatrixDiag", "nn.MatrixDiagPart", "ops.ScatterNonAliasingAdd", "ops.ScalarToArray", "ops.DynamicShape",
    "ops.EuclideanNorm", "ops.Expand",
}  # fmt: skip
# The new function has none.
ONLY_ON_DEVICES = {"ops.rand_like", "ops.randint", "ops.randint_like"}
# Neither form has one.
ON_NO_CPU = {"nn.Roll"}
PROGRAM = """
import json, os, sys
exec(sys.argv[1])
ms.runtime.launch_blocking()
for text in json.load(sys.stdin):
    # What fails in a pipeline of operators may be told of a later one.
    if os.fork() == 0:
        try:
            value = eval(text)
            value = np.round(value.asnumpy() * 1, 5).tolist() if isinstance(value, Tensor) else value
        except Exception as error:
            value = f"{type(error).__name__}: {error}"
        print(json.dumps(str(value)), flush=True)
        os._exit(0)
    os.wait()
"""


def run(python: str, lines: list[str]) -> list[str]:
    ran = subprocess.run(
        [python, "-W", "ignore", "-c", PROGRAM, HEAD], input=json.dumps(lines), capture_output=True, text=True
    )
    found = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith('"')]
    assert len(found) == len(lines), ran.stderr
    return found


def test_every_form_is_called():
    assert {f"mindspore.{name}" for name in CALLS} == set(call_forms())


def test_the_new_form_gives_what_the_old_one_gave(tmp_path: Path, mindspore_python: str):
    old = [(name, call) for name, calls in CALLS.items() for call in calls]
    text = HEAD + "".join(f"\nr{i} = {call}" for i, (_, call) in enumerate(old)) + "\n"
    lines = written(tmp_path, text, code="GW803").splitlines()
    new = {line.partition(" = ")[0]: line.partition(" = ")[2] for line in lines if line.startswith("r")}
    calls = [new[f"r{i}"] for i in range(len(old))]
    before = run(mindspore_python, [call for _, call in old])
    after = run(mindspore_python, calls)
    for (name, call), one, other, rewritten in zip(old, before, after, calls):
        assert rewritten != call
        if name in ONLY_ON_DEVICES:
            assert other.startswith("RuntimeError") and "kernel" in other.lower(), (rewritten, other)
        elif name in ONLY_NEW:
            assert "Error:" in one and "Error:" not in other, (rewritten, one, other)
        elif name in ON_NO_CPU:
            assert one == other and "unregistered" in one, (rewritten, one, other)
        else:
            assert one == other and "Error:" not in one, (call, rewritten, one, other)


def test_a_name_without_a_rewrite_has_a_reason():
    """Every name that the newest wheel deprecates has a successor, a form of call, or advice; and only one of them."""
    for mark in LATEST.above.deprecated.values():
        entry = successors().get(mark.public)
        ways = [entry is not None, mark.public in call_forms(), bool(advice(mark.public))]
        if not mark.public.startswith("mindspore.Tensor."):
            assert sum(ways) == 1, mark


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("net = nn.Norm(axis)\ny = net(x)\n", "not known where"), ("net = nn.Norm(1)\ncells = [net]\n", "only called"),
        ("y = ops.randint(0, 5, (2,), seed=1)\n", "generator"), ("y = ops.randint(*bounds)\n", "unpacked"),
        ("y = nn.MatMul(True)(x, x)\n", "transpose_x1"), ("layer = [nn.Tril()]\n", "handed on"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_left_with_the_reason(tmp_path: Path, code: str, why: str):
    path = tmp_path / "script.py"
    path.write_text(f"from mindspore import nn, ops\n\n{code}")
    config = Config(root=tmp_path, select=("GW803",))
    ((_, finding),) = check(Workspace([path]), selected_rules(config.select, (), "2.10"), config).all_findings()
    (fix,) = finding.fixes
    assert not fix.edits and why in fix.reason


def test_an_instance_that_another_file_may_call_stays(tmp_path: Path):
    (tmp_path / "base.py").write_text(
        "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def __init__(self):\n        super().__init__()\n"
        "        self.tril = nn.Tril()\n\n    def construct(self, x):\n        return self.tril(x)\n"
    )
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "other.py").write_text(
        "from base import Net\n\n\nclass Other(Net):\n    def construct(self, x):\n        return self.tril(x, 1)\n"
    )
    config = Config(root=tmp_path, select=("GW803",))
    files = Workspace([tmp_path / "base.py", tmp_path / "other.py"])
    found = check(files, selected_rules(config.select, (), "2.10"), config).all_findings()
    assert ["other.py" in fix.reason for _, finding in found for fix in finding.fixes] == [True]
