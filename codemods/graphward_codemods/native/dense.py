"""GW508: a linear layer by hand."""

from __future__ import annotations

from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite

from ._matches import Match
from ._native import NativeOperator, call


class Dense(NativeOperator):
    """A linear layer is written by hand where MindSpore has it as one operator.

    ## What it finds

    `ops.matmul(x, w.T) + b`, `x @ w.swapaxes(-1, -2) + b` and `ops.MatMul(transpose_b=True)(x, w) + b` in a graph
    region, with a matrix w and a vector b; and the same as `(x[:, None] * w).sum(-1) + b`.

    ## Why

    A transposition, a product and a sum instead of one operator. Measured:

    {table}

    ## Example

        return ops.matmul(x, self.weight.T) + self.bias

    becomes

        return ops.dense(x, self.weight, self.bias)

    ## What the rewrite assumes

    That w is a matrix and b a vector of as many numbers as w has rows.

    ## When it is unsafe

    Where these ranks are not known; sums are added in another order, too.

    ## References

    `mindspore.ops.dense`. `graphward bench --ops` measures it on your machine.
    """

    code = "GW508"
    name = "native-dense"
    triggers = (b"matmul", b"MatMul", b"@", b"sum(", b"Sum(")
    operator = "dense"
    differs = {
        "matmul(x, w.T) + b": "the products are summed in another order",
        "(x[:, None] * w).sum(-1) + b": "the products are summed in another order, and x is taken for a matrix",
    }

    def spelled(self, rewrite: Rewrite, style: str, match: Match) -> str:
        names = ("mindspore.ops.dense", "", "mindspore.mint.nn.functional.linear")
        return call(rewrite, style, names, ", ".join(operand.text for operand in match.operands))

    def doubts(self, context: FunctionContext, match: Match) -> list[str]:
        found = []
        for operand, rank, what in zip(match.operands[1:], (2, 1), ("matrix", "vector"), strict=True):
            if context.kind(operand.node).rank != rank:
                found.append(f"{operand.text} is taken for a {what}")
        return found
