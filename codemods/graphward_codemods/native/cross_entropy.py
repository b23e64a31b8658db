"""GW510: cross entropy by hand."""

from __future__ import annotations

from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite

from ._matches import Match
from ._native import NativeOperator


class CrossEntropy(NativeOperator):
    """The cross entropy of labels is written by hand where MindSpore has it as one operator.

    ## What it finds

    The mean of `-log_softmax(x)` at the labels in a graph region: by `gather_elements`, by a product with `one_hot`, or
    as `nll_loss(log_softmax(x), labels)`, in any spelling; the logarithm of the softmax may be written by hand too.

    ## Why

    The operator computes softmax, logarithm, choice and gradient in one. It is faster than `ops.cross_entropy` as well,
    which is made of the same parts. Measured:

    {table}

    ## Example

        picked = ops.gather_elements(ops.log_softmax(logits, -1), 1, labels.expand_dims(1))
        return -picked.mean()

    becomes

        return ops.SparseSoftmaxCrossEntropyWithLogits()(logits, labels)

    In a Cell, GW203 then makes the Primitive in `__init__`.

    ## What the rewrite assumes

    That the logits are a matrix, samples by classes, and the labels a vector of int32 or int64.

    ## When it is unsafe

    Where these ranks are not known; of labels outside of the classes (an index to be ignored) neither form makes sense,
    but not the same.

    ## References

    `mindspore.ops.SparseSoftmaxCrossEntropyWithLogits`. `graphward bench --ops` measures it on your machine.
    """

    code = "GW510"
    name = "native-cross-entropy"
    triggers = (b"nll_loss", b"og_softmax", b"ogSoftmax", b"logsumexp", b"softmax")
    operator = "sparse cross entropy"

    def spelled(self, rewrite: Rewrite, style: str, match: Match) -> str:
        logits, labels = match.operands
        return f"{rewrite.spell('mindspore.ops.SparseSoftmaxCrossEntropyWithLogits')}()({logits.text}, {labels.text})"

    def doubts(self, context: FunctionContext, match: Match) -> list[str]:
        found = ["of labels outside of the classes it gives something else"]
        for operand, rank, what in zip(match.operands, (2, 1), ("matrix", "vector of labels"), strict=True):
            if context.kind(operand.node).rank != rank:
                found.append(f"{operand.text} is taken for a {what}")
        return found
