"""Which functions can be handed arrays, by the text of their callers."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphward.engine.check import analyse
from graphward.engine.workspace import Workspace
from graphward_codemods.host._array_flow import given_arrays

NET = """
import numpy as np
import mindspore as ms
from mindspore import nn, ops

def taker(a, n=1, **more):
    return further(a)

def further(b):
    return b

def maker(x):
    return np.exp(x.asnumpy())

def bystander(x):
    return x

class Net(nn.Cell):
    def construct(self, x, names, *rest):
        y = bystander(ops.exp(x))
        BODY
        return y
"""


def given(folder: Path, body: str) -> set[str]:
    net = folder / "net.py"
    net.write_text(NET.replace("BODY", body), encoding="utf-8")
    return {function.name for function in given_arrays(analyse(Workspace([net])).inference)}


@pytest.mark.parametrize(
    "body",
    [
        "return taker(x.asnumpy())", "return taker(1, n=np.exp(x.asnumpy()))", "a = x.asnumpy(); return taker(a + 1)",
        "a, b = np.exp(x.asnumpy()), 1; return taker(b, more=[b, (a,)])", "a = b = np.abs(x); return taker(b)",
        "parts = []; parts.append(np.abs(x)); return taker(parts)", "d = {}; d['a'] = np.abs(x); return taker(d)",
        "for a in np.abs(x): y = taker(a)", "return [taker(a) for a in np.abs(x)]",
        "a = maker(x); np.abs(a); y = taker(a)",
        "self.kept = x.asnumpy(); y = taker(self.kept)", "(a := np.abs(x)); return taker(a.T[0])",
        "a = 1; a += np.abs(x); return taker(a)",
    ],
)  # fmt: skip
def test_arrays_reach_a_function_and_what_it_calls(tmp_path, body):
    assert given(tmp_path, body) - {"maker"} == {"taker", "further"}


@pytest.mark.parametrize(
    "body",
    [
        "a = x.asnumpy(); return taker(x)", "a = np.abs(x); return taker(a.shape, n=a.dtype)", "return taker(x)",
        "b = np.abs(x).shape[0]; return taker(b)", "return taker(np.finfo(np.float32).min)",
        "return taker(np.zeros(3))", "self.kept = x.asnumpy(); y = taker(self.other)",
        "for n in names: y = taker(n, np.pi)",
    ],
)  # fmt: skip
def test_what_an_array_tells_of_itself_is_none(tmp_path, body):
    assert not given(tmp_path, body)
