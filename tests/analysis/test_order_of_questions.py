"""A function is run as far as it is asked for; what is learned does not hang on the order of the questions."""

from __future__ import annotations

import ast

from graphward.analysis.inference import Inference
from graphward.analysis.kinds import Tag
from graphward.analysis.module import FunctionInfo

from .project import project_of

NET = """
import numpy as np
import mindspore as ms
from mindspore import nn, ops

def twice(v, k):
    w = v.asnumpy()
    return w * k

class Inner(nn.Cell):
    def construct(self, x, n):
        y = x.astype(ms.float16)
        return twice(y, n), n

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def construct(self, x):
        n = x.shape[0]
        def under(v):
            return v + late
        y = ops.exp(x); z = y.sum()
        for i in range(n):
            y = y * i
            if i > 2:
                break
        host, n = self.inner(
            y,
            n,
        )
        late = host.mean()
        if n > 2:
            return under(z)
        w = host + 1
        return w, z

class Late(nn.Cell):
    def construct(self, x):
        add = lambda v: v + 1
        y = x.shape
        return add(x), add(y[0])
"""


def asked(function: FunctionInfo) -> list[ast.expr]:
    return [n for n in function.nodes if isinstance(n, ast.expr) and not isinstance(n, ast.Starred)]


def kind_of(inference: Inference, function: FunctionInfo, node: ast.expr) -> str:
    """The kind but for the reason, which names the first of several, and for nodes, which each analysis has its own."""
    return str(inference.kind(function, node)._replace(info=None, evidence=""))


def test_what_is_learned_does_not_hang_on_the_order_of_the_questions(tmp_path):
    def functions():
        analysis = project_of(tmp_path, net=NET)
        return analysis.inference, {f.qualname: f for f in analysis.reached}

    inference, reached = functions()
    told = {}
    for name, function in reached.items():
        inference.function(function)
        told[name] = [kind_of(inference, function, node) for node in asked(function)]
    assert {"Net.construct", "Inner.construct", "twice", "Late.construct"} <= told.keys()
    assert any("NDARRAY" in kind for kind in told["twice"])

    for backwards in (False, True):
        inference, reached = functions()
        for name, function in sorted(reached.items(), reverse=backwards):
            nodes = asked(function)
            order = reversed(nodes) if backwards else nodes
            kinds = {node: kind_of(inference, function, node) for node in order}
            assert [kinds[node] for node in nodes] == told[name]

    for name, kinds in told.items():
        for number, kind in enumerate(kinds):
            inference, reached = functions()
            assert kind_of(inference, reached[name], asked(reached[name])[number]) == kind


def test_what_has_no_place_in_the_file_can_be_asked_for(tmp_path):
    """Rules walk expressions with `ast.walk`, which meets operators, contexts and comprehensions as well."""
    inference = project_of(tmp_path, net=NET).inference
    for function in inference.reached:
        inference.kind(function, asked(function)[0])  # the rest is not run yet
        for node in ast.walk(function.node):
            if not hasattr(node, "lineno"):
                assert inference.kind(function, node).tag is Tag.UNKNOWN


def test_a_node_without_a_place_may_be_the_first_question_of_a_function_that_calls_itself(tmp_path):
    text = NET + """
    def construct(self, x):
        return self.down(x)

    def down(self, x):
        y = x + 1
        return self.down(y)
"""
    inference = project_of(tmp_path, net=text.replace("class Late", "class Down")).inference
    down = next(f for f in inference.reached if f.name == "down")
    add = next(node for node in ast.walk(down.node) if isinstance(node, ast.Add))
    assert inference.kind(down, add).tag is Tag.UNKNOWN
