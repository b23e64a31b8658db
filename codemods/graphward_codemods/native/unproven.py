"""GW520: operators by hand whose native form was not faster where it was measured."""

from __future__ import annotations

from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from ._matches import matches
from ._measured import is_faster, quoted, speedup

_OPERATORS = (
    "gelu", "gelu tanh", "silu", "layer_norm", "L2Normalize", "leaky_relu", "sigmoid", "log_softmax", "mse_loss",
)  # fmt: skip


class UnprovenOperator(Rule):
    """An operator is written by hand, and MindSpore's own was not faster where it was measured.

    ## What it finds

    Only when asked for by its code: gelu in both forms, layer norm, RMS norm, L2 normalisation, attention, and those
    spellings of other operators that the table below does not show to be slower. Nothing is offered.

    ## Why

    A native operator is not always the better one. The tanh form of gelu by hand took a fifth of the time of the native
    one on CPU, the gradient of `L2Normalize` takes time and memory with the square of the size, and RMS norm and
    attention (`flash_attention_score`) have no CPU kernel in Graph Mode. On other devices this may be otherwise:
    measure there with `graphward bench --ops`. Measured:

    {table}

    ## Example

        return 0.5 * x * (1 + ops.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))

    ## What the rewrite assumes

    There is none.

    ## When it is unsafe

    Never, as nothing is rewritten.

    ## References

    `mindspore.ops`. `graphward bench --ops` measures the table on your machine.
    """

    code = "GW520"
    name = "unproven-operator"
    consequence = Consequence.INFO
    opt_in = True
    triggers = (b"mindspore",)

    @classmethod
    def page(cls) -> str:
        return super().page().replace("{table}", quoted(*_OPERATORS))

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        for match in matches(context, everything=True):
            found = match.found
            if not is_faster(found):
                message = f"{found.operator} by hand; the native one: {speedup(found)}. Nothing is offered"
                yield context.finding(self, match.root, message, evidence=(f"it computes {found.form}",))
