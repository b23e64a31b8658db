"""GW315: shapes that grow in a loop over a Tensor condition."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import own_nodes
from .._python import literal_number
from ._traced import assigned_before, is_traced_loop

_JOINERS = frozenset({"cat", "concat", "concatenate", "Concat", "hstack", "vstack", "dstack", "append", "column_stack"})


class GrowingShape(Rule):
    """A Tensor grows in a loop that a Tensor ends.

    ## What it finds

    `out = ops.cat((out, x))` and the like in the body of a `while` whose condition is a Tensor, or of a
    `for ... in range(int(n))` over one.

    ## Why

    The loop stays a loop in the graph, and a shape that is another in each round has no end for the compiler
    (MindSpore 2.7 to 2.10): `RuntimeError: Exceed function call depth limit 1000`, or `ValueError: Shape should have
    only one -2 for normal tensor`.

    ## Example

        i = Tensor(0)
        while i < 2:
            x = ops.cat((x, x))
            i = i + 1

    becomes a loop that the compiler unrolls,

        i = 0
        while i < 2:
            x = ops.cat((x, x))
            i = i + 1

    ## What the rewrite assumes

    That the counter is only counted and compared with numbers.

    ## When it is unsafe

    Always: the counter is a Python number, and the graph holds each round. Where the number of rounds is not known,
    make a Tensor of the largest size before the loop and write into it, or build the result outside the graph.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW315"
    name = "growing-shape"
    consequence = Consequence.ERROR
    triggers = (b"while", b"range(")
    nodes = (ast.While, ast.For)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, (ast.While, ast.For))
        grown = [(n, v) for s in own_nodes(node.body) if isinstance(s, ast.Assign) for n, v in _grows(s)]
        if not grown or not is_traced_loop(node, context):
            return
        for name, value in grown:
            if not context.kind(value).is_tensor:
                continue
            message = f"{name} grows in each round of a loop that a Tensor ends"
            yield context.finding(self, value, message, fixes=(_fix(node, context),))


def _grows(statement: ast.Assign) -> list[tuple[str, ast.expr]]:
    """`(name, value)` of `name = cat((name, ...))`."""
    target, call = statement.targets[0], statement.value
    if not isinstance(target, ast.Name) or not isinstance(call, ast.Call):
        return []
    func = call.func
    inner = func.func if isinstance(func, ast.Call) else func
    last = inner.attr if isinstance(inner, ast.Attribute) else inner.id if isinstance(inner, ast.Name) else ""
    if last not in _JOINERS or not call.args:
        return []
    pieces = call.args[0].elts if isinstance(call.args[0], (ast.Tuple, ast.List)) else call.args
    return [(target.id, call)] if any(isinstance(p, ast.Name) and p.id == target.id for p in pieces) else []


def _fix(node: ast.While | ast.For, context: FunctionContext) -> Fix:
    title = "Count with a Python number"
    rewrite = context.rewrite()
    start = _counter_start(node, context) if isinstance(node, ast.While) else None
    if start is None:
        advice = "make a Tensor of the largest size before the loop and write into it, or join outside the graph"
        return rewrite.manual("Keep the shape", f"not changed by itself: {advice}")
    call, value = start
    rewrite.replace(call, context.text(value), context.parent(call))
    return rewrite.unsafe(title, "the counter is no Tensor any more, and the graph holds each round of the loop")


def _counter_start(node: ast.While, context: FunctionContext) -> tuple[ast.Call, ast.expr] | None:
    """`Tensor(0)` that a counter starts with, and the number in it, where numbers decide how often the loop runs."""
    test = node.test
    if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and len(test.ops) == 1):
        return None
    name = test.left.id
    if literal_number(test.comparators[0]) is None:
        return None
    before = assigned_before(name, node, context)
    call = before.value if before is not None else None
    if not (isinstance(call, ast.Call) and call.args and literal_number(call.args[0]) is not None):
        return None
    if context.resolve(call.func) not in ("mindspore.Tensor", "mindspore.tensor"):
        return None
    parents = context.function.parents
    for use in context.function.nodes:
        if isinstance(use, ast.Name) and use.id == name:
            parent = parents[use]
            if isinstance(parent, ast.BinOp):
                other = parent.right if parent.left is use else parent.left
                plain = literal_number(other) is not None and isinstance(parents[parent], ast.Assign)
            else:
                plain = parent is test or isinstance(parent, ast.Assign) or (
                    isinstance(parent, ast.AugAssign) and literal_number(parent.value) is not None
                )
            if not plain:
                return None
    return call, call.args[0]
