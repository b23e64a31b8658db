"""GW506: log-softmax by hand."""

from __future__ import annotations

from graphward.rules.rewrite import Rewrite

from ._matches import Match
from ._native import NativeOperator, call


class LogSoftmax(NativeOperator):
    """The logarithm of softmax is written by hand where MindSpore has it as one operator.

    ## What it finds

    `ops.log(ops.softmax(x))`, `x - ops.log(ops.exp(x).sum(-1, keepdims=True))`, the same of `x - max(x)`, and
    `x - ops.logsumexp(x, -1, True)` in a graph region, over any axis and in any spelling.

    ## Why

    Several operators instead of one; and the logarithm of a softmax is minus infinity where the probability is too
    small for a float, with a gradient of NaN. Measured:

    {table}

    ## Example

        return ops.log(ops.softmax(x, -1))

    becomes

        return ops.log_softmax(x, -1)

    ## What the rewrite assumes

    That x is a Tensor of floats.

    ## When it is unsafe

    When that is not known, and where the hand-written form overflows or rounds to minus infinity: the native one is
    right.

    ## References

    `mindspore.ops.log_softmax`. `graphward bench --ops` measures it on your machine.
    """

    code = "GW506"
    name = "native-log-softmax"
    triggers = (b"log", b"Log")
    operator = "log_softmax"
    differs = {
        "log(softmax(x))": "where the probability is too small for a float it was minus infinity and becomes a number",
        "x - log(exp(x).sum(-1))": "where exp overflows the value was minus infinity and becomes right",
    }

    def spelled(self, rewrite: Rewrite, style: str, match: Match) -> str:
        names = ("mindspore.ops.log_softmax", "mindspore.ops.LogSoftmax", "mindspore.mint.nn.functional.log_softmax")
        axis = str(match.found.axis)
        return call(rewrite, style, names, f"{match.operands[0].text}, {axis}", axis)
