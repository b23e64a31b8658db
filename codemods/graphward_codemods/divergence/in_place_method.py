"""GW903: in-place methods that change nothing in PyNative on the CPU."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.ownership import ownership
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._writes import named, seen_by

# Measured on MindSpore 2.10 CPU: PyNative gives back the result and leaves the Tensor as it was. The other in-place
# methods either write in both modes (`sub_`, `copy_`) or have no kernel on the CPU (`fill_`, `masked_fill_`...).
_METHODS = {
    "add_": "add", "mul_": "mul", "div_": "div", "floor_divide_": "floor_divide", "remainder_": "remainder",
}  # fmt: skip


class InPlaceMethod(Rule):
    """An in-place method writes in the graph and not in PyNative on the CPU.

    ## What it finds

    `x.add_(...)`, `mul_`, `div_`, `floor_divide_` and `remainder_` of a Tensor in a graph region, where the Tensor is
    read afterwards, under this or another name, or belongs to the caller. Where only the result is used it is the same
    in both modes, and left alone.

    ## Why

    PyNative on the CPU gives back the result and leaves the Tensor as it was; the graph, and Ascend in both modes,
    write into it. Since MindSpore 2.8; 2.7 agrees with PyNative.

    ## Example

        y.add_(1)
        return y

    becomes what PyNative computes on the CPU,

        y.add(1)
        return y

    or, the second alternative, what the graph and Ascend compute:

        y = y.add(1)
        return y

    ## What the rewrite assumes

    The first alternative, that the CPU's PyNative is right, against which every proof here is made; the second, that
    the write is meant. Whoever wrote the code for Ascend wants the second.

    ## When it is unsafe

    Always: the two devices disagree, so one of the alternatives changes the result on each.

    ## References

    `mindspore.Tensor.add_`. Measured on MindSpore 2.7.0 and 2.10.0 CPU.
    """

    code = "GW903"
    name = "in-place-method"
    consequence = Consequence.DIVERGENCE
    triggers = tuple(f".{name}(".encode() for name in _METHODS)
    targets = ">=2.8"
    nodes = (ast.Call,)
    names = frozenset(_METHODS)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        func = node.func
        if not (isinstance(func, ast.Attribute) and func.attr in _METHODS and context.kind(func.value).is_tensor):
            return
        own = ownership(context.inference, context.function)
        statement = context.statement(node)
        holders = seen_by(context, statement, own.value(func.value), None, views=False)
        if not holders:
            return
        message = f"{func.attr} changes {named(holders)} in the graph and on Ascend, and not in PyNative on the CPU"
        evidence = (context.kind(func.value).evidence,)
        yield context.finding(self, node, message, evidence=evidence, fixes=_fixes(context, node, func))


def _fixes(context: FunctionContext, node: ast.Call, func: ast.Attribute) -> tuple[Fix, ...]:
    module = context.module
    method = _METHODS[func.attr]
    end = module.end(func)
    begin = end - len(func.attr)
    rewrite = context.rewrite()
    rewrite.replace_span(begin, end, method)
    reason = f"{context.text(func.value)} stays as it was, as in PyNative on the CPU; on Ascend it would have changed"
    kept = rewrite.unsafe(f"Use {method}, which changes nothing", reason)
    statement = context.parent(node)
    if not (isinstance(statement, ast.Expr) and isinstance(func.value, ast.Name)):
        return (kept,)
    rewrite = context.rewrite()
    rewrite.insert(module.start(node), f"{func.value.id} = ")
    rewrite.replace_span(begin, end, method)
    reason = "the result is bound to the name, as the graph and Ascend have it; PyNative on the CPU changes nothing"
    return kept, rewrite.unsafe(f"Bind the result of {method}", reason)
