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
_MOST_CHOICES = 8
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

    and `self.sizes[i]`, of numbers, `self.sizes[int(i)]`. Of elements with different shapes, which the default syntax
    level refuses too, one is picked by a condition: `parts[0] if i == 0 else parts[1]`.

    ## What the rewrite assumes

    That the Tensors have one shape and one dtype.

    ## When it is unsafe

    Always: all elements are computed and copied into one Tensor; by a condition, an index from behind is not seen.

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
        dtypes = {e.dtype for e in elements if e.is_tensor and e.dtype is not None}
        shapes = len(ranks) > 1 or _rows_beside_wholes(node.value, context)
        message = "a tuple or list is indexed by a Tensor"
        evidence = (index.evidence, held.evidence)
        if not shapes and len(dtypes) <= 1:
            yield context.finding(self, node, message, evidence=evidence, fixes=_fixes(node, held, context))
            return
        fix = _choice(node, held, len(dtypes) > 1, context)
        yield context.finding(self, node, message, evidence=evidence, fixes=(fix,),
                              consequence=Consequence.ERROR if shapes else None)  # fmt: skip


def _display(node: ast.expr, context: FunctionContext) -> list[ast.expr]:
    """The elements of a tuple or list as they are written, there or where its name is assigned; else none."""
    if isinstance(node, ast.Name):
        stores = [n for n in context.function.nodes
                  if isinstance(n, ast.Name) and n.id == node.id and isinstance(n.ctx, ast.Store)]  # fmt: skip
        holder = context.parent(stores[0]) if len(stores) == 1 else None
        if not isinstance(holder, ast.Assign) or holder.targets != stores:
            return []
        node = holder.value
    return node.elts if isinstance(node, (ast.Tuple, ast.List)) else []


def _rows_beside_wholes(node: ast.expr, context: FunctionContext) -> bool:
    """Whether a Tensor stands beside a row of it, as in `(x, x[0])`: their shapes differ, whatever they are."""
    elements = _display(node, context)
    names = {e.id for e in elements if isinstance(e, ast.Name)}
    return any(
        isinstance(e, ast.Subscript) and isinstance(e.value, ast.Name) and e.value.id in names
        and isinstance(e.slice, ast.Constant) and isinstance(e.slice.value, int)
        for e in elements
    )  # fmt: skip


def _choice(node: ast.Subscript, held: Kind, other_dtypes: bool, context: FunctionContext) -> Fix:
    """`parts[0] if i == 0 else parts[1]`: the branches of a condition may have different shapes, not dtypes."""
    rewrite = context.rewrite()
    if other_dtypes:
        manual = "a graph has one dtype for what an index picks: convert the elements to one, then stack or compare"
        return rewrite.manual("Convert the elements to one dtype", manual)
    count = len(held.elements or ()) if held.exact else len(_display(node.value, context))
    simple = all(isinstance(n, (ast.Name, ast.Attribute)) for n in (node.value, node.slice))
    if not simple or not 1 < count <= _MOST_CHOICES:
        manual = "pick with a condition on the index, parts[0] if i == 0 else parts[1]: the shapes differ"
        return rewrite.manual("Pick with a condition", manual)
    values, index = context.text(node.value), context.text(node.slice)
    choices = [f"{values}[{k}] if {index} == {k} else" for k in range(count - 1)]
    rewrite.replace(node, f"{' '.join(choices)} {values}[{count - 1}]", context.parent(node))
    reason = f"an index below 0 or beyond {count - 1} is taken for {count - 1}"
    return rewrite.unsafe("Pick with a condition", reason)


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
