"""GW809: methods that a Tensor has lost."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.knowledge.renames import version
from graphward.knowledge.renames_calls import advice
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

_GONE = frozenset({"to_tensor", "stub_sync"})
_DEPRECATED = frozenset(
    {"ptp", "approximate_equal", "unique_with_pad", "scatter_div", "scatter_max", "scatter_min", "scatter_mul",
     "scatter_sub"}
)  # fmt: skip
_METHODS = frozenset({"item"}) | _GONE | _DEPRECATED


class TensorMethod(Rule):
    """A Tensor does not have this method any more, or warns of it.

    ## What it finds

    `x.item(index)`, `x.to_tensor()` and `x.stub_sync()`, which have gone; where `--target-version` warns of them (2.8
    and 2.9 on) `x.ptp()`, `x.approximate_equal(y)`, `x.unique_with_pad(n)`, `x.scatter_div(i, u)` and likewise `_max`,
    `_min`, `_mul` and `_sub`; on what is known to be a Tensor.

    ## Why

        TypeError: Tensor.item() takes 1 positional argument but 2 were given
        [WARNING] 'Tensor.ptp' is deprecated from version 2.8.0

    ## Example

        return x.item(0), x.ptp()

    becomes

        return x.flatten()[0].item(), x.max() - x.min()

    ## What the rewrite assumes

    That the index of `item` is a constant, and that `ptp` is asked for without an axis.

    ## When it is unsafe

    Never where there is a rewrite.

    ## References

    API of `mindspore.Tensor`. Measured on MindSpore 2.7 and 2.10 CPU.
    """

    code = "GW809"
    name = "tensor-method"
    consequence = Consequence.ERROR
    triggers = tuple(sorted(name.encode() for name in _METHODS))
    nodes = (ast.Call,)
    names = _METHODS

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        func = node.func
        if not isinstance(func, ast.Attribute) or (func.attr == "item" and len(node.args) != 1):
            return
        if not context.kind(func.value).is_tensor:
            return
        name = f"mindspore.Tensor.{func.attr}"
        warns = version(context.options.target_version).deprecation(name) if func.attr in _DEPRECATED else None
        if func.attr in _DEPRECATED and warns is None:
            return
        message = f"Tensor.{func.attr} " + (
            f"is deprecated since MindSpore {warns.since.removesuffix('.0')}" if warns
            else "takes no index any more" if func.attr == "item" else "has gone"
        )  # fmt: skip
        said = advice(name)
        message += f": {said}" if said else ""
        yield context.finding(self, node, message, fixes=tuple(_fixes(node, func, context)),
                              consequence=Consequence.DEPRECATED if warns else None)  # fmt: skip


def _fixes(node: ast.Call, func: ast.Attribute, context: FunctionContext) -> Iterable[Fix]:
    rewrite = context.rewrite()
    receiver = context.text(func.value)
    new = ""
    if func.attr == "item":
        index = node.args[0]
        if isinstance(index, ast.Tuple) and all(_constant(e) for e in index.elts):
            new = f"{receiver}[{', '.join(context.text(e) for e in index.elts)}].item()"
        elif _constant(index):
            new = f"{receiver}.flatten()[{context.text(index)}].item()"
    elif func.attr == "ptp" and not node.args and not node.keywords and isinstance(func.value, ast.Name):
        new = f"{receiver}.max() - {receiver}.min()"
    elif func.attr in _GONE and not node.args:
        new = receiver
    if new:
        rewrite.replace(node, new, context.parent(node))
        yield rewrite.safe("Write what takes its place")


def _constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int
