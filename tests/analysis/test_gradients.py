"""Which functions a graph takes the gradient of by itself."""

from __future__ import annotations

import pytest

from graphward.analysis.gradients import differentiated

from .project import project_of

NET = """
import mindspore as ms
from mindspore import nn, ops

def loss(x):
    return inner(x)

def inner(x):
    return x.sum()

slope = ms.grad(loss)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.by_operation = ops.GradOperation(get_all=True)
        self.made = ms.value_and_grad(self.own)

    def own(self, x):
        return loss(x)

    def construct(self, x):
        {body}
"""


@pytest.mark.parametrize(
    "body",
    [
        "return ms.grad(loss)(x)",
        "return slope(x)",
        "return ops.GradOperation()(loss)(x)",
        "return self.by_operation(self.own)(x)",
        "return self.made(x)",
        "f = ms.grad(self.own, 0)\n        return f(x)",
        "def f(x):\n            return loss(x)\n        return ms.value_and_grad(f)(x)",
    ],
)
def test_a_function_and_what_it_calls(tmp_path, body):
    assert "inner" in found(tmp_path, body)


@pytest.mark.parametrize("body", ["return loss(x)", "return self.own(x)", "return ms.jit(loss)(x)"])
def test_a_plain_call_is_none(tmp_path, body):
    assert found(tmp_path, body) == set()


def test_the_caller_is_none(tmp_path):
    assert "Net.construct" not in found(tmp_path, "return ms.grad(loss)(x)")


def found(root, body):
    analysis = project_of(root, net=NET.replace("{body}", body))
    inference = analysis.inference
    return {f.qualname for f in analysis.reached if differentiated(inference, f)}
