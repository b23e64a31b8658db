"""GW507: mean-squared error by hand."""

from __future__ import annotations

from graphward.rules.rewrite import Rewrite

from ._matches import Match
from ._native import NativeOperator, call


class MseLoss(NativeOperator):
    """The mean-squared error is written by hand where MindSpore has it as one function.

    ## What it finds

    `((a - b) ** 2).mean()` in a graph region, in any spelling but `ops.square(a - b).mean()`, which is as fast as the
    native function.

    ## Why

    A power is slower than the square that the native function takes. Measured:

    {table}

    ## Example

        return ((prediction - target) ** 2).mean()

    becomes

        return ops.mse_loss(prediction, target)

    ## What the rewrite assumes

    That both are Tensors of floats of one dtype.

    ## When it is unsafe

    When that is not known.

    ## References

    `mindspore.ops.mse_loss`. `graphward bench --ops` measures it on your machine.
    """

    code = "GW507"
    name = "native-mse-loss"
    triggers = (b"mean", b"Mean")
    operator = "mse_loss"

    def spelled(self, rewrite: Rewrite, style: str, match: Match) -> str:
        names = ("mindspore.ops.mse_loss", "", "mindspore.mint.nn.functional.mse_loss")
        first, second = sorted(match.operands, key=lambda o: (o.node.lineno, o.node.col_offset))
        return call(rewrite, style, names, f"{first.text}, {second.text}")
