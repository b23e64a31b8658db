"""GW313: `range` over a Tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, block_lines, indent_of, own_nodes, replace_statement, step_of
from ._evidence import is_evident


class RangeOfTensor(Rule):
    """`range` does not take a Tensor.

    ## What it finds

    `range(n)` in a graph region where an argument is a Tensor: by annotation, by what it is made with (`n = x.max()`),
    by what else is done with it (`n.astype(...)`), or by what all callers of a helper pass. A parameter of which
    nothing else is seen is left alone: it may be a number.

    ## Why

    The compiler asks for numbers, where PyNative takes a Tensor of one element (MindSpore 2.7 to 2.10):

        TypeError: For 'make_range', the 0th input should be a int scalar but got AbstractTensor

    ## Example

        for i in range(n):
            x = x + i

    becomes

        for i in range(int(n)):
            x = x + i

    The other alternative is a `while` that counts with a Tensor. Where the number of rounds has a bound that is known,
    a loop up to it with `ops.where(i < n, new, old)` unrolls, and takes any types.

    ## What the rewrite assumes

    That the loop carries nothing that changes its type: the graph holds the loop.

    ## When it is unsafe

    `range(int(n))` never; in a `while` the number of the round is a Tensor.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW313"
    name = "range-of-tensor"
    consequence = Consequence.ERROR
    triggers = (b"range(", b"arange(")
    nodes = (ast.Call,)
    names = frozenset({"range"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not (isinstance(node.func, ast.Name) and node.func.id == "range") or not node.args:
            return
        traced = [a for a in node.args if is_evident(a, context)]
        if not traced:
            return
        rewrite = context.rewrite()
        for argument in traced:
            rewrite.replace(argument, f"int({context.text(argument)})", node)
        fixes = [rewrite.safe("Make an int of it")]
        counted = _counted(node, traced, context)
        if counted is not None:
            fixes.append(counted)
        yield context.finding(self, node, "range does not take a Tensor", fixes=tuple(fixes),
                              evidence=(context.kind(traced[0]).evidence,))  # fmt: skip


def _counted(node: ast.Call, traced: list[ast.expr], context: FunctionContext) -> Fix | None:
    """A `while` over a Tensor that counts, for `for i in range(n)`."""
    loop = context.parent(node)
    if not (isinstance(loop, ast.For) and loop.iter is node and len(node.args) == 1 and not loop.orelse):
        return None
    if not isinstance(loop.target, ast.Name) or "\n" in context.text(traced[0]):
        return None
    if any(isinstance(n, ast.Continue) for n in own_nodes(loop.body, loops=False)):
        return None
    rewrite = context.rewrite()
    name, indent = loop.target.id, indent_of(context.module, loop)
    made, dtype = rewrite.spell("mindspore.Tensor"), rewrite.spell("mindspore.int32")
    inner = indent + step_of(context.function)
    lines = [
        f"{indent}{name} = {made}(0, {dtype})",
        f"{indent}while {name} < {context.text(traced[0])}:",
        *block_lines(context.module, loop.body, inner, node.end_lineno or loop.lineno),
        f"{inner}{name} = {name} + 1",
    ]
    try:
        replace_statement(context, rewrite, loop, lines)
    except CannotRewrite:
        return None
    return rewrite.unsafe("Count with a Tensor", f"{name} is a Tensor")
