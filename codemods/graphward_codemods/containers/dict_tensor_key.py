"""GW423: a Tensor as the key of a dict."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix


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

    becomes

        cache = {"x": self.embed(x)}
        return cache["x"]

    where the dict is only asked for entries of these names. Elsewhere give the entries constant keys by hand.

    ## What the rewrite assumes

    That each name stands for a Tensor of its own, since Python tells Tensors apart by their identity.

    ## When it is unsafe

    Always: two names of one Tensor were one entry.

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
        fix: Fix | None = None
        for key in node.keys:
            if isinstance(key, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp)):
                kind = context.kind(key)
                if kind.is_tensor and kind.variable:
                    fix = fix or _fix(node, context)
                    yield context.finding(self, key, "a Tensor of the graph is the key of a dict",
                                          evidence=(kind.evidence,), fixes=(fix,))  # fmt: skip


def _fix(node: ast.Dict, context: FunctionContext) -> Fix:
    """The names of the Tensors as keys, where the dict is a variable that is only subscripted with these names."""
    rewrite = context.rewrite()
    parent = context.parent(node)
    names = {key.id for key in node.keys if isinstance(key, ast.Name)}
    places: list[ast.expr] = [key for key in node.keys if key is not None]
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    plain = len(names) == len(node.keys) and isinstance(target, ast.Name)
    for other in context.function.nodes:
        if not plain:
            break
        if not isinstance(other, ast.Name) or not isinstance(target, ast.Name):
            continue
        if other.id in names:
            # Bound again, a name means another Tensor than the entry's.
            plain = isinstance(other.ctx, ast.Load) or other.lineno < node.lineno
        elif other.id == target.id and other is not target:
            use = context.parent(other)
            plain = isinstance(use, ast.Subscript) and isinstance(use.slice, ast.Name) and use.slice.id in names
            if plain and isinstance(use, ast.Subscript):
                places.append(use.slice)
    if not plain or any(isinstance(a, (ast.For, ast.While)) for a in context.around(node)):
        advice = "give the entry a constant key: Python tells Tensors apart by identity, a graph cannot"
        return rewrite.manual("Use a constant key", advice)
    for place in places:
        rewrite.replace(place, f'"{context.text(place)}"', context.parent(place))
    return rewrite.unsafe("Use the names as keys", "two names of one Tensor were one entry")
