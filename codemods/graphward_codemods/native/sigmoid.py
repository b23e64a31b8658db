"""GW503: sigmoid by hand."""

from __future__ import annotations

from graphward.rules.rewrite import Rewrite

from ._matches import Match
from ._native import NativeOperator, call


class Sigmoid(NativeOperator):
    """The logistic function is written by hand where MindSpore has it as one operator.

    ## What it finds

    `1 / (1 + ops.exp(-x))` and `ops.exp(x) / (1 + ops.exp(x))` in a graph region, in any spelling: functions, methods
    and Primitives, through local variables, in functions and Cells of the project that do nothing else. The form with
    `tanh` is as fast as the native operator and left alone.

    ## Why

    Three operators instead of one, and more in the gradient, which becomes NaN where `exp` overflows. Measured:

    {table}

    ## Example

        return 1 / (1 + ops.exp(-x))

    becomes

        return ops.sigmoid(x)

    ## What the rewrite assumes

    That x is a Tensor of floats.

    ## When it is unsafe

    Always: where `exp` overflows the hand-written gradient is NaN (and of the second form the value), the native one is
    right.

    ## References

    `mindspore.ops.sigmoid`. `graphward bench --ops` measures it on your machine.
    """

    code = "GW503"
    name = "native-sigmoid"
    triggers = (b"exp", b"Exp")
    operator = "sigmoid"
    differs = {
        "1 / (1 + exp(-x))": "where exp(-x) overflows the gradient was NaN and becomes 0",
        "exp(x) / (1 + exp(x))": "where exp(x) overflows the value was NaN and becomes 1",
    }

    def spelled(self, rewrite: Rewrite, style: str, match: Match) -> str:
        names = ("mindspore.ops.sigmoid", "mindspore.ops.Sigmoid", "mindspore.mint.nn.functional.sigmoid")
        return call(rewrite, style, names, match.operands[0].text)
