"""GW504: silu by hand."""

from __future__ import annotations

from graphward.rules.rewrite import Rewrite

from ._matches import Match
from ._native import NativeOperator, call


class Silu(NativeOperator):
    """The sigmoid-weighted linear unit (swish) is written by hand where MindSpore has it as one operator.

    ## What it finds

    `x / (1 + ops.exp(-x))` in a graph region, in any spelling. `x * ops.sigmoid(x)` is as fast as the native operator,
    faster with its gradient, and left alone.

    ## Why

    Four operators instead of one, and more in the gradient, which becomes NaN where `exp` overflows. Measured:

    {table}

    ## Example

        return x / (1 + ops.exp(-x))

    becomes

        return ops.silu(x)

    ## What the rewrite assumes

    That x is a Tensor of floats.

    ## When it is unsafe

    Always: where `exp(-x)` overflows the hand-written gradient is NaN, the native one 0.

    ## References

    `mindspore.ops.silu`. `graphward bench --ops` measures it on your machine.
    """

    code = "GW504"
    name = "native-silu"
    triggers = (b"exp", b"Exp")
    operator = "silu"
    differs = {"x / (1 + exp(-x))": "where exp(-x) overflows the gradient was NaN and becomes 0"}

    def spelled(self, rewrite: Rewrite, style: str, match: Match) -> str:
        names = ("mindspore.ops.silu", "", "mindspore.mint.nn.functional.silu")
        return call(rewrite, style, names, match.operands[0].text)
