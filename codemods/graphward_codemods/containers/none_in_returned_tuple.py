"""GW411: None in a tuple that a graph returns."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, own_nodes
from .._call_side import check_call_side, insert_call_side


class NoneInReturnedTuple(Rule):
    """None is left out of a tuple that a graph returns.

    ## What it finds

    `return x, None` in the `construct` of a Cell, where every `return` of it has None at the same places and no graph
    of the project calls it. Between functions of a graph None is kept, and is left alone.

    ## Why

    With `fullgraph=True` the elements that are None are gone, silently, from what Python gets (MindSpore 2.7 to 2.10):
    `(x, None)` becomes `(x,)`. At the default syntax level they are kept.

    ## Example

        def construct(self, x):
            return self.dense(x), None

    becomes

        def __call__(self, *args, **kwargs):
            first = super().__call__(*args, **kwargs)
            return first, None

        def construct(self, x):
            return self.dense(x)

    ## What the rewrite assumes

    That the Cell is called from Python, where `__call__` is.

    ## When it is unsafe

    Always: a graph of another package that calls the Cell gets fewer values.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW411"
    name = "none-in-returned-tuple"
    consequence = Consequence.DIVERGENCE
    triggers = (b"None",)

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        function = context.function
        if context.reached.region.root is not function or function.name != "construct" or context.reached.sites:
            return
        returns = [n for n in own_nodes(function.node.body) if isinstance(n, ast.Return)]
        values = [n.value for n in returns if isinstance(n.value, ast.Tuple)]
        if not values or len(values) != len(returns):
            return
        shapes = {tuple(isinstance(e, ast.Constant) and e.value is None for e in v.elts) for v in values}
        if len(shapes) != 1:
            return
        shape = shapes.pop()
        if not any(shape) or all(shape):
            return
        message = "None is left out of a tuple that a graph returns with fullgraph=True"
        try:
            fix = _fix(values, shape, context)
        except CannotRewrite as reason:
            fix = context.rewrite().manual("Add None in __call__", str(reason))
        for value in values:
            yield context.finding(self, value, message, fixes=(fix,))


def _fix(values: list[ast.Tuple], shape: tuple[bool, ...], context: FunctionContext) -> Fix:
    check_call_side(context)
    rewrite = context.rewrite()
    for value in values:
        if any(isinstance(e, ast.Starred) for e in value.elts):
            raise CannotRewrite("how many elements the tuple has is not seen")
        kept = [context.text(e) for e, gone in zip(value.elts, shape) if not gone]
        rewrite.replace(value, kept[0] if len(kept) == 1 else f"({', '.join(kept)})", context.parent(value))
    names = iter(("first", "second", "third", "fourth", *(f"value_{i}" for i in range(5, len(shape) + 1))))
    every = ["None" if gone else next(names) for gone in shape]
    receiver = context.function.receiver or "self"
    left = ", ".join(n for n in every if n != "None")
    body = [f"{left} = super().__call__(*args, **kwargs)", f"return {', '.join(every)}"]
    insert_call_side(context, rewrite, f"{receiver}, *args, **kwargs", body)
    return rewrite.unsafe("Add None in __call__", "a graph that calls the Cell gets fewer values")
