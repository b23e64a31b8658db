"""What counts as an operator written by hand: by what is computed, in whatever spelling."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from graphward.config import Config
from graphward.engine.fixpoint import fix, within
from graphward.engine.workspace import Workspace
from graphward.rules.selection import selected_rules
from graphward.source.fixes import Applicability

HEAD = "import math\n\nimport mindspore as ms\nfrom mindspore import Parameter, Tensor, mint, nn, ops\n\n\n"
NET = """\
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.exp = ops.Exp()
        self.div = ops.Div()
        self.keep = ops.ReduceSum(keep_dims=True)
        self.top = ops.ReduceMax(keep_dims=True)
        self.act = nn.Sigmoid()
        self.soft = nn.Softmax(axis=-1)
        self.w = Parameter(ops.ones((3, 6)))
        self.b = Parameter(ops.ones((3,)))
        self.slope = 0.2

    def construct(self, x: Tensor, y: Tensor):
"""


def rewritten(folder: Path, body: str, style: str = "functional") -> str:
    """What the rules of native operators make of the body of a `construct`."""
    path = folder / "net.py"
    path.write_text(HEAD + NET + indent(dedent(body).strip("\n"), " " * 8) + "\n")
    config = Config(root=folder, select=("GW5",), op_style=style)
    result = fix(Workspace([path]), selected_rules(("GW5",), (), config.target_version), config,
                 within(Applicability.UNSAFE))  # fmt: skip
    change = result.changes.get(path)
    text = change.after.text if change else path.read_text()
    return dedent(text.partition("y: Tensor):\n")[2]).strip("\n")


@pytest.mark.parametrize(
    ("body", "native"),
    [
        ("return ops.Maximum()(x, ms.Tensor(0.0))", "ops.relu(x)"),
        ("return mint.maximum(ops.zeros_like(x), x)", "ops.relu(x)"),
        ("return x.where(x > 0, 0.0)", "ops.relu(x)"),
        ("return ops.masked_fill(x, x < 0, 0.0)", "ops.relu(x)"),
        ("return (x >= 0).float() * x", "ops.relu(x)"),
        ("return ops.mul(ops.cast(ops.greater(x, 0), ms.float32), x)", "ops.relu(x)"),
        ("return (ops.abs(x) + x) * 0.5", "ops.relu(x)"),
        ("return ops.where(0 >= x, self.slope * x, x)", "ops.leaky_relu(x, self.slope)"),
        ("return ops.where(x < 0, x * 0.3, x)", "ops.leaky_relu(x, 0.3)"),
        ("return ops.reciprocal(1.0 + self.exp(-1 * x))", "ops.sigmoid(x)"),
        ("return ops.pow(ops.exp(ops.neg(x)) + 1, -1)", "ops.sigmoid(x)"),
        ("return 1 / (1 + ops.exp(y - x))", "ops.sigmoid(-(y - x))"),
        ("return 1 / (1 + 1 / ops.exp(x))", "ops.sigmoid(x)"),
        ("return self.div(self.exp(x), self.exp(x) + 1)", "ops.sigmoid(x)"),
        ("return x * (1 + (-x).exp()) ** -1", "ops.silu(x)"),
        ("return ops.exp(x) * x / (ops.exp(x) + 1)", "ops.silu(x)"),
        ("return self.exp(x) / self.keep(self.exp(x), -1)", "ops.softmax(x, -1)"),
        ("return ops.exp(x) / ops.exp(x).sum(-1).expand_dims(-1)", "ops.softmax(x, -1)"),
        ("return mint.exp(x) / mint.sum(mint.exp(x), dim=-1, keepdim=True)", "ops.softmax(x, -1)"),
        ("e = ops.exp(x - ops.stop_gradient(self.top(x, -1)))\nreturn e / e.sum(axis=-1, keepdims=True)",
         "ops.softmax(x, -1)"),
        ("e = ops.exp(x - ops.max(x, -1, keepdims=True)[0])\nreturn e * ops.reciprocal(self.keep(e, -1))",
         "ops.softmax(x, -1)"),
        ("return self.soft(x).log()", "ops.log_softmax(x, -1)"),
        ("return ops.log(ops.exp(x) / self.keep(ops.exp(x), 1))", "ops.log_softmax(x, 1)"),
        ("m = self.top(x, -1)\ns = x - m\nreturn s - ops.log(self.keep(ops.exp(s), -1))", "ops.log_softmax(x, -1)"),
        ("d = x - y\nreturn (d * d).mean()", None),
        ("return ops.pow(y - x, 2).mean()", None),
        ("return x @ self.w.swapaxes(0, 1) + self.b", "ops.dense(x, self.w, self.b)"),
        ("return self.b + ops.matmul(x, self.w.transpose(1, 0))", "ops.dense(x, self.w, self.b)"),
    ],
)  # fmt: skip
def test_one_computation_has_many_spellings(tmp_path: Path, body: str, native: str | None):
    if native is None:
        assert "ops.mse_loss(" in rewritten(tmp_path, body)
    else:
        assert f"return {native}" in rewritten(tmp_path, body)


@pytest.mark.parametrize(
    "body",
    [
        "return ops.maximum(x, y)",
        "return ops.where(x > 0, y, 0.0)",
        "return ops.where(x > 0, 0.0, x)",
        "return x * (y > 0)",
        "return ops.where(x > 0, x, y * x)",
        "return 1 / (1 + ops.exp(-x) + y)",
        "return 1 / (1 - ops.exp(-x))",
        "return x / (1 + ops.exp(-y))",
        "return ops.exp(x) / self.keep(ops.exp(y), -1)",
        "return ops.exp(x) / ops.exp(x).sum(-1)",
        "return ops.exp(x) / self.keep(x, -1)",
        "e = ops.exp(x)\nx = x + 1\nreturn e / self.keep(ops.exp(x), -1)",
        "e = ops.exp(x)\nif y.sum() > 0:\n    e = e + 1\nreturn e / self.keep(e, -1) + ops.exp(x)",
        "return x - ops.logsumexp(x, -1)",
        "return ((x - y) ** 2).sum()",
        "return ((x - 1.0) ** 2).mean()",
        "return x @ self.w.T + y",
        "return 0.5 * x * (1 + ops.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))",
        "return x * self.act(x)",
        "return ops.silu(x) + ops.softmax(x, -1) + ops.relu(x)",
    ],
)
def test_what_computes_something_else_or_gains_nothing_stays(tmp_path: Path, body: str):
    before = dedent(body).strip("\n")
    if "if y.sum()" in body:
        # Whatever the branch does, the quotient is still a softmax of nothing that can be named.
        assert "ops.softmax" not in rewritten(tmp_path, body)
    else:
        assert rewritten(tmp_path, body) == before


def test_the_style_decides_the_spelling(tmp_path: Path):
    body = "return ops.exp(x) / self.keep(ops.exp(x), -1) + ops.maximum(x, 0)"
    assert rewritten(tmp_path, body, "primitive") == "return ops.Softmax(-1)(x) + ops.ReLU()(x)"
    assert rewritten(tmp_path, body, "mint") == (
        "return mint.nn.functional.softmax(x, -1) + mint.nn.functional.relu(x)"
    )


def test_assignments_go_only_when_nothing_else_reads_them(tmp_path: Path):
    body = """
        e = self.exp(x)
        total = self.keep(e, -1)  # of the row
        p = e / total
        return p, total
    """
    assert rewritten(tmp_path, body) == dedent("""
        e = self.exp(x)
        total = self.keep(e, -1)  # of the row
        p = ops.softmax(x, -1)
        return p, total
    """).strip("\n")


def test_loops_over_parts_of_a_matrix_stay(tmp_path: Path):
    body = """
        rows = []
        for i in range(2):
            rows.append(ops.matmul(x[i], y))
        first = ops.stack(rows)
        others = []
        for i in range(x.shape[0]):
            others.append(ops.matmul(x[i], y) + i)
        return first, ops.stack(others), len(others)
    """
    assert rewritten(tmp_path, body) == dedent(body).strip("\n")
