"""The kind of each value, as far as the compiler would tell them apart."""

from __future__ import annotations

import ast

import pytest

from graphward.analysis.kinds import Kind, Tag

from .project import project_of

PRELUDE = """
import math
import numpy as np
import mindspore as ms
from mindspore import nn, ops, mint, Tensor, Parameter
W = Tensor(np.ones((2, 3)), ms.float32)
A = np.ones((2, 3))

def helper(v, n=2):
    return v * n

class Net(nn.Cell):
    def __init__(self, width: int = 4):
        super().__init__()
        self.dense = nn.Dense(4, 4)
        self.blocks = nn.CellList([nn.Dense(4, 4)])
        self.relu = ops.ReLU()
        self.weight = Parameter(Tensor(np.ones(3), ms.float32))
        self.table = np.arange(3)
        self.width = width
        self.shape_of = ops.Shape()

    def construct(self, x, y: Tensor, k: int, flag=True, z=None, *args):
        n, m = x.shape
        items = [x, y]
        return EXPRESSION
"""


def kind_of(tmp_path, expression: str) -> Kind:
    analysis = project_of(tmp_path, net=PRELUDE.replace("EXPRESSION", expression))
    construct = next(f for f in analysis.reached if f.qualname == "Net.construct")
    returned = next(n for n in construct.nodes if isinstance(n, ast.Return))
    return analysis.inference.kind(construct, returned.value)


@pytest.mark.parametrize(
    ("expression", "tag", "variable"),
    [
        ("x", Tag.TENSOR, True), ("y", Tag.TENSOR, True), ("k", Tag.CONSTANT, False), ("flag", Tag.CONSTANT, False),
        ("x.shape", Tag.SHAPE, False), ("x.shape[0]", Tag.CONSTANT, False), ("n", Tag.CONSTANT, False),
        ("x.ndim", Tag.CONSTANT, False), ("len(x)", Tag.CONSTANT, False), ("x + 1", Tag.TENSOR, True),
        ("x.asnumpy()", Tag.NDARRAY, True), ("np.exp(x)", Tag.NDARRAY, True), ("np.exp(3.0)", Tag.NDARRAY, False),
        ("np.zeros(x.shape)", Tag.NDARRAY, False), ("np.pi", Tag.CONSTANT, False), ("np.sqrt(n)", Tag.NDARRAY, False),
        ("Tensor(np.exp(x))", Tag.TENSOR, True), ("Tensor(np.ones(3))", Tag.TENSOR, False), ("W", Tag.TENSOR, False),
        ("A", Tag.NDARRAY, False), ("self.dense", Tag.CELL, False), ("self.dense(x)", Tag.TENSOR, True),
        ("self.blocks", Tag.CELLS, False), ("self.blocks[0]", Tag.CELL, False), ("self.relu(x)", Tag.TENSOR, True),
        ("self.weight", Tag.PARAMETER, True), ("self.table", Tag.NDARRAY, False), ("self.width", Tag.CONSTANT, False),
        ("self.shape_of(x)", Tag.SHAPE, False), ("ops.exp(x)", Tag.TENSOR, True), ("ops.shape(x)", Tag.SHAPE, False),
        ("mint.exp(x)", Tag.TENSOR, True), ("ops.Exp()", Tag.PRIMITIVE, False), ("helper(x)", Tag.TENSOR, True),
        ("helper(k)", Tag.CONSTANT, False), ("items", Tag.SEQUENCE, True), ("items[0]", Tag.TENSOR, True),
        ("x.sum().item()", Tag.SCALAR, True), ("float(x.sum())", Tag.SCALAR, True),
        ("math.sqrt(n)", Tag.CONSTANT, False),
        ("x > 0", Tag.TENSOR, True), ("x is None", Tag.CONSTANT, False), ("x if flag else y", Tag.TENSOR, True),
        ("[v * 2 for v in items]", Tag.SEQUENCE, True), ("(lambda: x)", Tag.FUNCTION, False),
        ("args", Tag.SEQUENCE, True),
        ("isinstance(x, Tensor)", Tag.CONSTANT, False), ("f'{x}'", Tag.CONSTANT, False), ("args[0]", Tag.TENSOR, True),
    ],
)  # fmt: skip
def test_kinds(tmp_path, expression, tag, variable):
    kind = kind_of(tmp_path, expression)
    assert (kind.tag, kind.variable) == (tag, variable), kind


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        ("x.astype(ms.float16)", "float16"), ("Tensor(A, dtype=ms.int32)", "int32"), ("x.float()", "float32"),
        ("ops.exp(x.half())", "float16"), ("ops.zeros((2,), ms.float64)", "float64"), ("x > 0", "bool"), ("x", None),
        ("x.astype(np.float32)", "float32"), ("W * 2", "float32"),
    ],
)  # fmt: skip
def test_dtypes(tmp_path, expression, dtype):
    assert kind_of(tmp_path, expression).dtype == dtype


def test_an_assumption_says_so(tmp_path):
    kind = kind_of(tmp_path, "x")
    assert not kind.certain and "taken for a Tensor" in kind.evidence
    assert kind_of(tmp_path, "y").certain


def test_call_sites_tell_a_helpers_parameters(tmp_path):
    analysis = project_of(
        tmp_path,
        net="from mindspore import nn\n"
        "def f(a, b): return a\n"
        "class Net(nn.Cell):\n    def construct(self, x): return f(x, 3)\n",
    )
    function = next(f for f in analysis.reached if f.qualname == "f")
    kinds = analysis.inference.parameters(function)
    assert kinds["a"].is_tensor and "Net.construct passes" in kinds["a"].evidence
    assert kinds["b"].tag is Tag.CONSTANT


def test_a_call_site_that_tells_nothing_leaves_the_annotation(tmp_path):
    analysis = project_of(
        tmp_path,
        net="from mindspore import Tensor, nn\nfrom elsewhere import mix\n"
        "def f(a: Tensor): return a\n"
        "class Net(nn.Cell):\n    def construct(self, x): return f(mix(x))\n",
    )
    function = next(f for f in analysis.reached if f.qualname == "f")
    assert analysis.inference.parameters(function)["a"].is_tensor


def test_a_method_of_an_unknown_traced_value_is_traced(tmp_path):
    analysis = project_of(
        tmp_path,
        net="from mindspore import nn\nfrom elsewhere import mix\n"
        "class Net(nn.Cell):\n    def construct(self, x): return mix(x).view(2).flip(0)\n",
    )
    construct = next(f for f in analysis.reached if f.qualname == "Net.construct")
    returned = next(n for n in construct.nodes if isinstance(n, ast.Return))
    assert analysis.inference.kind(construct, returned.value).variable
