"""GW423: a Tensor as the key of a dict."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule


class DictTensorKey(Rule):
    """A Tensor of the graph cannot be a key of a dict.

    ## What it finds

    `{x: value}` in a graph region where `x` is a Tensor of the graph.

    ## Why

    The compiler has to know the keys (MindSpore 2.7 to 2.10):

        RuntimeError: make_dict evaluator key only supports string, number, type, none, constant tensor and tuple

    ## Example

        cache = {x: self.embed(x)}
        return cache[x]

    has no rewrite: Python tells Tensors apart by their identity there. Give the entries names:

        cache = {"x": self.embed(x)}
        return cache["x"]

    ## What the rewrite assumes

    There is none.

    ## When it is unsafe

    There is none.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW423"
    name = "dict-tensor-key"
    consequence = Consequence.ERROR
    triggers = (b"{",)
    nodes = (ast.Dict,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Dict)
        for key in node.keys:
            if isinstance(key, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp)):
                kind = context.kind(key)
                if kind.is_tensor and kind.variable:
                    manual = "give the entry a constant key: Python tells Tensors apart by identity, a graph cannot"
                    fix = context.rewrite().manual("Use a constant key", manual)
                    yield context.finding(self, key, "a Tensor of the graph is the key of a dict",
                                          evidence=(kind.evidence,), fixes=(fix,))  # fmt: skip
