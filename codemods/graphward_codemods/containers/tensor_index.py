"""GW412: a tuple or list indexed by a Tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Kind, Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

_NO_TENSORS = (ast.Constant, ast.Slice, ast.Tuple, ast.UnaryOp)
_CALLED = (Tag.CELL, Tag.FUNCTION, Tag.PRIMITIVE)


class TensorIndex(Rule):
    """A tuple or list cannot be indexed by a Tensor.

    ## What it finds

    `values[i]` in a graph region where `values` is a tuple, list or shape and `i` a Tensor. A tuple of Cells or
    functions may be indexed so, and is left alone.

    ## Why

    MindSpore 2.7 to 2.10, with `fullgraph=True`:

        TypeError: When JIT_SYNTAX_LEVEL is STRICT, using Tensor index to get value from tuple requires that all
        elements in tuple should be function

    At the default syntax level the Python interpreter looks the element up at run time.

    ## Example

        parts = (a, b, a + b)
        return parts[i]

    becomes

        parts = (a, b, a + b)
        return ops.stack(parts)[i]

    and `self.sizes[i]`, of numbers, `self.sizes[int(i)]`.

    ## What the rewrite assumes

    That the Tensors have one shape and one dtype.

    ## When it is unsafe

    Always: all elements are computed and copied into one Tensor; of different shapes they cannot be.

    ## References

    `mindspore.ops.stack`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW412"
    name = "tensor-index"
    consequence = Consequence.FALLBACK
    triggers = (b"[",)
    nodes = (ast.Subscript,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Subscript)
        if not isinstance(node.ctx, ast.Load) or isinstance(node.slice, _NO_TENSORS):
            return
        index = context.kind(node.slice)
        if not (index.is_tensor and index.variable):
            return
        held = context.kind(node.value)
        if held.tag not in (Tag.SEQUENCE, Tag.SHAPE):
            return
        elements = held.elements or ()
        if elements and all(e.tag in _CALLED for e in elements):
            return
        ranks = {e.rank for e in elements if e.is_tensor and e.rank is not None}
        message = "a tuple or list is indexed by a Tensor"
        evidence = (index.evidence, held.evidence)
        consequence = Consequence.ERROR if len(ranks) > 1 else Consequence.FALLBACK
        yield context.finding(self, node, message, evidence=evidence, fixes=_fixes(node, held, context),
                              consequence=consequence)  # fmt: skip


def _fixes(node: ast.Subscript, held: Kind, context: FunctionContext) -> tuple[Fix, ...]:
    by_number = context.rewrite()
    by_number.replace(node.slice, f"int({context.text(node.slice)})", node)
    number = by_number.unsafe("Index with int()", "the index becomes a number that is known at run time only")
    elements = held.elements or ()
    if held.tag is Tag.SHAPE or not held.variable or (elements and not all(e.is_tensor for e in elements)):
        return (number,)
    stacked = context.rewrite()
    text = f"{stacked.spell('mindspore.ops.stack')}({context.text(node.value)})"
    stacked.replace(node.value, text, node)
    reason = "all elements are copied into one Tensor, and need one shape and dtype"
    return (stacked.unsafe("Index a Tensor of all elements", reason), number)
