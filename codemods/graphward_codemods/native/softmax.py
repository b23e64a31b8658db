"""GW505: softmax by hand."""

from __future__ import annotations

from graphward.rules.rewrite import Rewrite

from ._matches import Match
from ._native import NativeOperator, call


class Softmax(NativeOperator):
    """Softmax is written by hand where MindSpore has it as one operator.

    ## What it finds

    `e / e.sum(-1, keepdims=True)` with `e = ops.exp(x)`, or `e = ops.exp(x - x.max(-1, keepdims=True))`, and
    `ops.exp(x - ops.logsumexp(x, -1, True))` in a graph region, over any axis and in any spelling: functions, methods
    and Primitives, through local variables, which go if nothing else reads them, in functions and Cells of the project
    that do nothing else.

    ## Why

    Up to five operators, two of them reductions, instead of one. Measured:

    {table}

    ## Example

        e = ops.exp(x - ops.amax(x, -1, keepdims=True))
        return e / ops.sum(e, -1, keepdim=True)

    becomes

        return ops.softmax(x, -1)

    ## What the rewrite assumes

    That x is a Tensor of floats. The native operator takes the maximum away by itself.

    ## When it is unsafe

    When it is not known that x is one. Without the maximum taken away `exp` overflows for numbers above 88 (float16:
    11), and the hand-written form gives NaN where the native one does not.

    ## References

    `mindspore.ops.softmax`. `graphward bench --ops` measures it on your machine.
    """

    code = "GW505"
    name = "native-softmax"
    triggers = (b"exp", b"Exp")
    operator = "softmax"
    differs = {"exp(x) / exp(x).sum(-1)": "where exp overflows the value was NaN and becomes right"}

    def spelled(self, rewrite: Rewrite, style: str, match: Match) -> str:
        names = ("mindspore.ops.softmax", "mindspore.ops.Softmax", "mindspore.mint.nn.functional.softmax")
        axis = str(match.found.axis)
        return call(rewrite, style, names, f"{match.operands[0].text}, {axis}", axis)
