"""GW509: matrix products by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Finding
from graphward.rules.rewrite import Rewrite
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, remove_statement, replace_statement
from ._loops import Product, products
from ._matches import Match
from ._native import NativeOperator, call

_NAMES = ("mindspore.ops.matmul", "mindspore.ops.MatMul", "mindspore.mint.matmul")
_ORDER = "the products are summed in another order"


class Matmul(NativeOperator):
    """A matrix product is written with loops, or with a sum over a broadcast product.

    ## What it finds

    Loops over the rows, the columns and the inner index of two matrices, whichever of them are written out: appended to
    lists that are stacked, in comprehensions, or added to the elements of a matrix of zeros. And
    `(a[:, :, None] * b[None]).sum(1)`. The loops must run over whole axes (`range(a.shape[0])`).

    ## Why

    A graph unrolls the loops: it grows with the sizes, and so does the time to compile it, until at about a thousand
    rounds it does not compile any more. The broadcast product holds a number for each triple of indices. Measured:

    {table}

    ## Example

        rows = []
        for i in range(a.shape[0]):
            rows.append((a[i].expand_dims(1) * b).sum(0))
        return ops.stack(rows)

    becomes

        return ops.matmul(a, b)

    ## What the rewrite assumes

    That a and b are matrices of floats.

    ## When it is unsafe

    Always: the products are summed in another order, which may change the last digits.

    ## References

    `mindspore.ops.matmul`. `graphward bench --ops` measures it on your machine.
    """

    code = "GW509"
    name = "native-matmul"
    triggers = (b"stack", b"Stack", b"zeros", b"Zeros", b"sum(", b"Sum(")
    operator = "matmul"
    differs = {"(a[:, :, None] * b[None]).sum(1)": _ORDER}

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        yield from super().visit_function(context)
        for product in products(context):
            place = product.result if isinstance(product.result, ast.expr) else product.statements[-1]
            message = "a matrix product as loops: the graph unrolls them and grows with the sizes"
            yield context.finding(self, place, message, fixes=(_without_loops(context, product),))

    def spelled(self, rewrite: Rewrite, style: str, match: Match) -> str:
        first, second = match.operands
        return _spelled(rewrite, style, first.text, second.text)

    def doubts(self, context: FunctionContext, match: Match) -> list[str]:
        kinds = [(o.text, context.kind(o.node)) for o in match.operands]
        return [f"{text} is taken for a matrix" for text, kind in kinds if kind.rank != 2]


def _spelled(rewrite: Rewrite, style: str, first: str, second: str) -> str:
    if style == "primitive":
        return f"{rewrite.spell(_NAMES[1])}()({first}, {second})"
    return call(rewrite, style, _NAMES, f"{first}, {second}")


def _without_loops(context: FunctionContext, product: Product) -> Fix:
    rewrite = context.rewrite()
    text = _spelled(rewrite, context.options.op_style, product.first, product.second)
    module = context.module
    try:
        if isinstance(product.result, ast.expr):
            rewrite.replace_span(module.start(product.result), module.end(product.result), text)
            for statement in product.statements:
                remove_statement(context, rewrite, statement)
        else:
            start, loop = product.statements
            indent = module.source.indent(loop.lineno)
            remove_statement(context, rewrite, start)
            replace_statement(context, rewrite, loop, [f"{indent}{product.result} = {text}"])
    except CannotRewrite as reason:
        return context.rewrite().manual("Use the native matmul", f"not changed by itself: {reason}")
    return rewrite.unsafe("Use the native matmul", f"{_ORDER}; both are taken for matrices of floats")
