"""GW502: leaky relu by hand."""

from __future__ import annotations

from graphward.rules.rewrite import Rewrite

from ._matches import Match
from ._native import NativeOperator, call


class LeakyRelu(NativeOperator):
    """The leaky rectifier is written by hand where MindSpore has it as one operator.

    ## What it finds

    `ops.where(x > 0, x, a * x)` with a number or a constant a in a graph region, in any spelling.
    `ops.maximum(x, a * x)` computes the same, is as fast as the native operator, and is left alone.

    ## Why

    A comparison, a product and a choice each go over the whole Tensor. Measured:

    {table}

    ## Example

        return ops.where(x > 0, x, 0.1 * x)

    becomes

        return ops.leaky_relu(x, 0.1)

    ## What the rewrite assumes

    That x is a Tensor of floats and a below 1: the native operator takes the larger of x and a * x.

    ## When it is unsafe

    Always: where x is exactly 0 the hand-written gradient is a, the native one lies between a and 1.

    ## References

    `mindspore.ops.leaky_relu`. `graphward bench --ops` measures it on your machine.
    """

    code = "GW502"
    name = "native-leaky-relu"
    triggers = (b">", b"<", b"reater", b"ess")
    operator = "leaky_relu"
    differs = {
        "where(x > 0, x, a * x)": "where x is exactly 0 its gradient was the slope and becomes the mean of slope and 1",
    }

    def spelled(self, rewrite: Rewrite, style: str, match: Match) -> str:
        names = ("mindspore.ops.leaky_relu", "", "mindspore.mint.nn.functional.leaky_relu")
        x, slope = match.operands
        return call(rewrite, style, names, f"{x.text}, {slope.text}")
