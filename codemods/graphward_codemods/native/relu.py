"""GW501: relu by hand."""

from __future__ import annotations

from graphward.rules.rewrite import Rewrite

from ._matches import Match
from ._native import NativeOperator, call


class Relu(NativeOperator):
    """The rectifier is written by hand where MindSpore has it as one operator.

    ## What it finds

    `ops.maximum(x, 0)`, `ops.where(x > 0, x, 0)`, `x * (x > 0)` and `(x + ops.abs(x)) / 2` in a graph region, in any
    spelling: functions, methods and Primitives, sides exchanged, through local variables, in functions and Cells of
    the project that do nothing else.

    ## Why

    Several operators, each of which goes over the whole Tensor, and some more in the gradient. Measured:

    {table}

    ## Example

        return ops.where(x > 0, x, ops.zeros_like(x))

    becomes

        return ops.relu(x)

    ## What the rewrite assumes

    That x is a Tensor of floats.

    ## When it is unsafe

    When that is not known. `maximum` gives half of the gradient to x where it is exactly 0, the mask and `abs` turn an
    infinity into NaN; the native operator does neither. `where` is the same in all of this, NaN included.

    ## References

    `mindspore.ops.relu`. `graphward bench --ops` measures it on your machine.
    """

    code = "GW501"
    name = "native-relu"
    triggers = (b">", b"<", b"maximum", b"Maximum", b"abs", b"Abs", b"reater", b"ess")
    operator = "relu"
    differs = {
        "maximum(x, 0)": "where x is exactly 0 its gradient was 0.5 and becomes 0",
        "x * (x > 0)": "of an infinity or NaN the mask makes NaN, the native operator 0",
        "(x + abs(x)) / 2": "where x is exactly 0 its gradient was 0.5 and becomes 0; of minus infinity it made NaN",
    }

    def spelled(self, rewrite: Rewrite, style: str, match: Match) -> str:
        names = ("mindspore.ops.relu", "mindspore.ops.ReLU", "mindspore.mint.nn.functional.relu")
        return call(rewrite, style, names, match.operands[0].text)
