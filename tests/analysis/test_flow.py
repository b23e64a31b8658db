"""Kinds along the paths of a function: branches, loops, narrowing, calls, containers.

Each snippet marks expressions with `see(...)`; what is asked is the kind of the argument.
"""

from __future__ import annotations

import ast

import pytest

from graphward.analysis.kinds import NO_VALUE, Kind, Tag

from .project import project_of

PRELUDE = """
import collections
from dataclasses import dataclass
from typing import List, NamedTuple, Optional, Tuple

import mindspore as ms
import numpy as np
from elsewhere import see
from mindspore import Parameter, Tensor, mint, mutable, nn, ops

@dataclass
class Out:
    logits: Tensor
    size: int = 1

class Pair(NamedTuple):
    first: Tensor
    second: int

class Block(nn.Cell):
    def construct(self, x: Tensor, mask=None):
        if mask is not None:
            x = x + mask
        return x, x.shape

class Plain:
    scale = 3
    def twice(self, v):
        return v * 2

class Base(nn.Cell):
    def __init__(self, width: int):
        super().__init__()
        self.width = width
        self.deep = False
    def body(self, x):
        return (x, 1)
    @property
    def head(self):
        return self.dense
    @staticmethod
    def static(v):
        return v
    @classmethod
    def make(cls, v):
        return v

def first_of(*args, **kwargs):
    return args[0], kwargs["k"]
"""
NET = """
class Net(Base):
    kinds = ("a", "b")
    def __init__(self, n: int, config):
        super().__init__(n)
        size = config.hidden
        self.dense = nn.Dense(size, size)
        self.blocks = nn.CellList([Block() for _ in range(n)])
        self.grown = []
        for _ in range(n):
            self.grown.append(Block())
        self.seq = nn.SequentialCell(nn.Dense(4, 4), Block())
        self.weight = Parameter(Tensor(np.ones(3), ms.float32))
        self.plain = Plain()
        self.on = True
        self.late = None
    def body(self, x):
        return super().body(x)
    def construct(self, x: Tensor, y, flag=True, z=None, *args, **kwargs):
"""


def seen(tmp_path, body: str, signature: str = "") -> list[Kind]:
    """The kinds of the marked expressions of the body of `Net.construct`, in source order."""
    lines = "".join(f"        {line}\n" for line in body.strip("\n").split("\n"))
    text = PRELUDE + NET + lines
    if signature:
        text = text.replace("self, x: Tensor, y, flag=True, z=None, *args, **kwargs", signature)
    analysis = project_of(tmp_path, net=text)
    construct = next(f for f in analysis.reached if f.qualname == "Net.construct")
    marked = [
        n.args[0]
        for n in construct.nodes
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "see"
    ]
    return [analysis.inference.kind(construct, m) for m in marked]


def one(tmp_path, body: str) -> Kind:
    (kind,) = seen(tmp_path, body)
    return kind


@pytest.mark.parametrize(
    ("body", "tag", "variable"),
    [
        # Branches and loops
        ("if flag:\n    a = x\nelse:\n    a = y\nsee(a)", Tag.TENSOR, True),
        ("a = 1\nif x.sum() > 0:\n    a = 2\nsee(a)", Tag.SCALAR, True),
        ("a = 1\nif flag:\n    a = 2\nsee(a)", Tag.CONSTANT, False),
        ("a = 'p'\nif x.sum() > 0:\n    a = 'q'\nsee(a)", Tag.CONSTANT, True),
        ("i = 0\nwhile x.sum() > i:\n    i = i + 1\nsee(i)", Tag.SCALAR, True),
        ("i = 0\nfor _ in range(3):\n    i = i + 1\nsee(i)", Tag.CONSTANT, False),
        ("a = 0\nfor _ in range(3):\n    for v in (x, y):\n        a = a + v\nsee(a)", Tag.TENSOR, True),
        ("a = x\nfor i in range(3):\n    if i > 1:\n        break\n    a = a.asnumpy()\nsee(a)", Tag.NDARRAY, True),
        ("see(1 if x.sum() > 0 else 2)", Tag.SCALAR, True),
        ("see(1 if flag else 2)", Tag.CONSTANT, False),
        # Decided while compiling
        ("a = x\nif self.deep:\n    a = 1\nsee(a)", Tag.TENSOR, True),
        ("a = 1\nif self.on:\n    a = x\nsee(a)", Tag.TENSOR, True),
        ("if x is None:\n    a = 1\nelse:\n    a = x\nsee(a)", Tag.TENSOR, True),
        ("if isinstance(x, Tensor):\n    a = x\nelse:\n    a = 1\nsee(a)", Tag.TENSOR, True),
        ("a = 1 if len((x, y)) > 2 else x\nsee(a)", Tag.TENSOR, True),
        # Narrowing
        ("if isinstance(y, (list, tuple)):\n    see(y)", Tag.SEQUENCE, True),
        ("if isinstance(y, int):\n    see(y)", Tag.CONSTANT, False),
        ("if isinstance(y, Tensor):\n    return x\nsee(y)", Tag.UNKNOWN, True),
        ("if z is None:\n    see(z)", Tag.CONSTANT, False),
        ("if z is None:\n    z = x\nsee(z)", Tag.TENSOR, True),
        ("self.late = x\nsee(self.late)", Tag.TENSOR, True),
        # Constants and variables
        ("see(mutable(3))", Tag.SCALAR, True), ("see(mutable((1, 2)))", Tag.SEQUENCE, True),
        ("see(x.shape[0] * 2)", Tag.CONSTANT, False), ("see(int(x.shape[0] / 2))", Tag.CONSTANT, False),
        ("see(x.sum().item() + 1)", Tag.SCALAR, True), ("see(range(int(x.sum())))", Tag.SEQUENCE, True),
        ("see(x.shape[:-1] + (-1,))", Tag.SHAPE, False), ("see((1, 2, 3)[int(x.sum())])", Tag.SCALAR, True),
        ("b, n = x.shape\nsee(b)", Tag.CONSTANT, False), ("b, *rest = x.shape\nsee(rest)", Tag.SEQUENCE, False),
        # Containers
        ("a, b = (x, 3)\nsee(b)", Tag.CONSTANT, False), ("(a, b), c = (x, 3), y\nsee(a)", Tag.TENSOR, True),
        ("a, *b = (x, 3, 4)\nsee(b[0])", Tag.CONSTANT, False),
        ("d = {'a': x, 'n': 3}\nsee(d['n'])", Tag.CONSTANT, False),
        ("d = {'a': x, 'n': 3}\nsee(d.get('a'))", Tag.TENSOR, True),
        ("d = {}\nd['a'] = x\nsee(d['a'])", Tag.TENSOR, True), ("see({**{'a': x}, 'b': 1}['a'])", Tag.TENSOR, True),
        ("d = dict(a=x)\nfor k, v in d.items():\n    see(v)", Tag.TENSOR, True),
        ("d = dict(a=x)\nfor k, v in d.items():\n    see(k)", Tag.CONSTANT, False),
        ("out = []\nfor i in range(3):\n    out.append(x + i)\nsee(out[0])", Tag.TENSOR, True),
        ("see([1] * 3)", Tag.SEQUENCE, False), ("see([*[x], 1][0])", Tag.TENSOR, True),
        ("for i, v in enumerate([x, y]):\n    see(i)", Tag.CONSTANT, False),
        ("for a, b in zip([x], [1]):\n    see(b)", Tag.CONSTANT, False),
        ("see([v for v in (1, 2)])", Tag.SEQUENCE, False),
        ("see(Out(x, 3).size)", Tag.CONSTANT, False), ("see(Out(logits=x).logits)", Tag.TENSOR, True),
        ("see(Pair(x, 1).first)", Tag.TENSOR, True),
        # Functions
        ("f = lambda v: v * 2\nsee(f(x))", Tag.TENSOR, True), ("f = lambda v: v * 2\nsee(f(2))", Tag.CONSTANT, False),
        ("def f(v):\n    return v + y\nsee(f(x))", Tag.TENSOR, True),
        ("a, b = first_of(x, k=3)\nsee(b)", Tag.CONSTANT, False),
        ("a, b = first_of(*[x, 1], **{'k': 2})\nsee(a)", Tag.TENSOR, True),
        ("see(list(map(lambda v: v + 1, [x]))[0])", Tag.TENSOR, True),
        # Cells
        ("see(self.dense(x))", Tag.TENSOR, True), ("see(self.head)", Tag.CELL, False),
        ("see(self.head(x))", Tag.TENSOR, True),
        ("see(self.blocks[0](x)[1])", Tag.SHAPE, False), ("see(self.seq(x)[1])", Tag.SHAPE, False),
        ("for block in self.blocks:\n    a, b = block(x)\n    see(b)", Tag.SHAPE, False),
        ("for block in self.grown:\n    see(block(x)[0])", Tag.TENSOR, True),
        ("a, b = self.body(x)\nsee(b)", Tag.CONSTANT, False), ("see(self.static(3))", Tag.CONSTANT, False),
        ("see(self.make(x))", Tag.TENSOR, True), ("see(self.plain.twice(x))", Tag.TENSOR, True),
        ("see(self.plain.scale)", Tag.CONSTANT, False), ("see(self.kinds[0])", Tag.CONSTANT, False),
        ("see(self.width)", Tag.CONSTANT, False), ("see(self.training)", Tag.CONSTANT, False),
        # Text
        ("see('a-b'.split('-'))", Tag.SEQUENCE, False), ("see('n%d' % 3)", Tag.CONSTANT, False),
        ("see('x' in ('x', 'y'))", Tag.CONSTANT, False),
    ],
)  # fmt: skip
def test_kinds_along_paths(tmp_path, body, tag, variable):
    kind = one(tmp_path, body)
    assert (kind.tag, kind.variable) == (tag, variable), kind


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("see(2 * 3 + 1)", 7), ("see(not self.deep)", True), ("see(x is not None)", True), ("see(x.ndim)", NO_VALUE),
        ("b, n = x.shape\nsee(x.ndim)", 2), ("see(len((1, 2)))", 2), ("see(isinstance(x.shape, tuple))", True),
        ("see(isinstance(3, float))", False), ("see(isinstance(y, Tensor))", True), ("see(z is None)", NO_VALUE),
        ("see(1 if self.on else 2)", 1), ("see('a' == 'b')", False), ("see(self.late is None)", True),
        ("a = 0\nfor _ in range(3):\n    a = a + 1\nsee(a)", NO_VALUE),
    ],
)  # fmt: skip
def test_constants_are_folded_where_they_are_known(tmp_path, body, value):
    assert one(tmp_path, body).value == value


@pytest.mark.parametrize(
    ("expression", "dtype", "rank"),
    [
        ("x > 0", "bool", None), ("self.weight * 2", "float32", None), ("ops.argmax(x)", "int64", None),
        ("ops.zeros((2, 3), ms.float16)", "float16", 2),
        ("ops.zeros((2, 3), ms.float16) + self.weight", "float32", None),
        ("ops.zeros((2, 3), ms.int32) / 2", "float32", 2), ("ops.zeros((2, 3), ms.int32) + 1", "int32", 2),
        ("ops.zeros((2, 3), ms.int32)[0]", "int32", 1), ("ops.zeros((2, 3), ms.int32)[:, None]", "int32", 3),
        ("ops.topk(self.weight, 2)[1]", "int32", None), ("Tensor([1.0, 2.0])", "float32", 1), ("Tensor(3)", "int64", 0),
        ("ops.equal(x, x)", "bool", None), ("self.weight.astype(ms.int32)", "int32", None),
        ("self.weight.astype(ms.float16).sum(axis=1)", "float16", None),
        ("self.weight.astype(ms.int32).sum(axis=1)", None, None),
        ("ops.exp(self.weight.half())", "float16", None), ("x.reshape(2, 3)", None, None),
    ],
)  # fmt: skip
def test_dtypes_and_ranks(tmp_path, expression, dtype, rank):
    kind = one(tmp_path, f"see({expression})")
    assert (kind.dtype, kind.rank) == (dtype, rank)


@pytest.mark.parametrize(
    ("call", "tag"),
    [
        ("ops.split(x, 2)", Tag.SEQUENCE), ("ops.TopK()(x, 2)", Tag.SEQUENCE), ("x.split(2)", Tag.SEQUENCE),
        ("nn.LSTM(3, 4)(x)", Tag.SEQUENCE), ("nn.ReLU()(x)", Tag.TENSOR), ("mint.matmul(x, x)", Tag.TENSOR),
        ("ops.rank(x)", Tag.CONSTANT), ("x.numel()", Tag.CONSTANT), ("ops.shape(x)", Tag.SHAPE),
        ("x.size()", Tag.SHAPE),
        ("x.is_floating_point()", Tag.CONSTANT), ("ops.Shape()(x)", Tag.SHAPE), ("x.tolist()", Tag.SEQUENCE),
    ],
)  # fmt: skip
def test_what_mindspore_gives_back(tmp_path, call, tag):
    assert one(tmp_path, f"see({call})").tag is tag


@pytest.mark.parametrize(
    ("annotation", "tag", "optional"),
    [
        ("Optional[Tensor] = None", Tag.TENSOR, True), ("Tensor = None", Tag.TENSOR, True),
        ("'Tensor'", Tag.TENSOR, False),
        ("Tensor | None", Tag.TENSOR, True), ("List[Tensor]", Tag.SEQUENCE, False), ("float", Tag.CONSTANT, False),
        ("Tuple[Tensor, int]", Tag.SEQUENCE, False), ("np.ndarray", Tag.NDARRAY, False),
    ],
)  # fmt: skip
def test_annotations(tmp_path, annotation, tag, optional):
    (kind,) = seen(tmp_path, "see(w)", f"self, w: {annotation}")
    assert (kind.tag, kind.optional) == (tag, optional)
    assert "annotated" in kind.evidence


def test_how_a_parameter_is_used_tells_what_it_is(tmp_path):
    body = "for i in range(n):\n    pass\nif mode == 'max':\n    pass\na = x.reshape((b, -1))\n"
    body += "see(n)\nsee(mode)\nsee(b)"
    kinds = seen(tmp_path, body, "self, x, n, mode, b")
    assert [k.tag for k in kinds] == [Tag.CONSTANT] * 3
    assert not any(k.certain for k in kinds)
    assert "range(n)" in kinds[0].evidence


def test_a_helper_is_told_by_all_of_its_call_sites(tmp_path):
    analysis = project_of(
        tmp_path,
        net="from mindspore import Tensor, nn\n"
        "def f(a, b=None):\n    return a\n"
        "class Net(nn.Cell):\n    def construct(self, x: Tensor, y: Tensor):\n"
        "        s = f(x)\n        return f(s, y)\n",
    )
    function = next(f for f in analysis.reached if f.qualname == "f")
    kinds = analysis.inference.parameters(function)
    assert kinds["a"].is_tensor and kinds["a"].certain
    assert kinds["b"].is_tensor and kinds["b"].optional


def test_a_branch_that_no_caller_takes_is_not_compiled(tmp_path):
    analysis = project_of(
        tmp_path,
        net="from mindspore import Tensor, nn\n"
        "def f(a, b=None):\n    if b is not None:\n        a = a.asnumpy()\n    return a\n"
        "class Net(nn.Cell):\n    def construct(self, x: Tensor):\n        return f(x)\n",
    )
    function = next(f for f in analysis.reached if f.qualname == "f")
    branch = next(n for n in function.nodes if isinstance(n, ast.If))
    assert analysis.inference.decided(function, branch) is False
    assert analysis.inference.function(function).returns.is_tensor


def test_every_variable_kind_says_why(tmp_path):
    body = "a = x.asnumpy()\nsee(a)\nsee(a + 1)\nb = y * 2\nsee(b)\nsee([b])\nsee(float(b.sum()))\nsee(self.dense(x))"
    assert all(k.evidence for k in seen(tmp_path, body))


def test_loops_within_loops_are_not_run_ever_more_often(tmp_path):
    depth = 24
    lines = ["a = x"] + [f"{'    ' * i}for i{i} in range(2):" for i in range(depth)]
    lines += [f"{'    ' * depth}a = [a, i{depth - 1}][0]", "see(a)"]
    assert one(tmp_path, "\n".join(lines)).variable


def test_a_sum_longer_than_the_stack(tmp_path):
    assert one(tmp_path, f"see({' + '.join(['x'] * 800)})").is_tensor
