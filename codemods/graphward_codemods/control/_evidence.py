"""Evidence that an expression is a Tensor, beyond the assumption that what nothing is said of is one."""

from __future__ import annotations

import ast

from graphward.analysis.names import all_arguments
from graphward.analysis.parameters import TENSOR_ATTRIBUTES
from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext

from .._python import values_of

# Names that lead to each other, and callers of callers, are followed this deep.
_MAX_DEPTH = 6


def is_evident(node: ast.expr, context: FunctionContext, depth: int = 0) -> bool:
    """Whether a value is known to be a Tensor, by what it is made with or by what is done with it."""
    kind = context.kind(node)
    if not kind.is_tensor or depth > _MAX_DEPTH:
        return False
    if kind.certain:
        return True
    if isinstance(node, ast.Call):
        # The method of an assumed Tensor: no number and no tuple has `max` or `sum`.
        return isinstance(node.func, ast.Attribute) and (
            context.resolve(node.func) is not None or node.func.attr in TENSOR_ATTRIBUTES
        )
    if isinstance(node, ast.BinOp):
        return is_evident(node.left, context, depth + 1) or is_evident(node.right, context, depth + 1)
    if isinstance(node, ast.UnaryOp):
        return is_evident(node.operand, context, depth + 1)
    if isinstance(node, ast.Compare):
        return any(is_evident(side, context, depth + 1) for side in (node.left, *node.comparators))
    if isinstance(node, ast.IfExp):
        return is_evident(node.body, context, depth + 1) and is_evident(node.orelse, context, depth + 1)
    return isinstance(node, ast.Name) and _is_evident_name(node.id, context, depth)


def _is_evident_name(name: str, context: FunctionContext, depth: int) -> bool:
    """Whether something gives the name a Tensor: which of its values it has is in its kind."""
    # `n = n - 1` says nothing about n that the other assignments do not.
    return any(
        is_evident(value, context, depth + 1) for value in values_of(context.function.nodes, name)
        if not any(isinstance(n, ast.Name) and n.id == name for n in preorder(value))
    ) or _is_passed(name, context, depth)  # fmt: skip


def _is_passed(name: str, context: FunctionContext, depth: int) -> bool:
    """Whether a parameter is used as only a Tensor can be, or all callers of a helper pass one."""
    reached = context.reached
    arguments = context.function.node.args
    if not any(name == a.arg for a in all_arguments(arguments)):
        return False
    used = (n.value for n in context.function.nodes if isinstance(n, ast.Attribute) and n.attr in TENSOR_ATTRIBUTES)
    if any(isinstance(holder, ast.Name) and holder.id == name for holder in used):
        return True
    if reached.region.root is context.function or not reached.sites:
        return False
    names = [a.arg for a in arguments.posonlyargs + arguments.args]
    if context.function.receiver is not None:
        names = names[1:]
    for caller, callee in reached.sites:
        call = caller.function.calls.get(callee)
        if call is None or any(isinstance(a, ast.Starred) for a in call.args):
            return False
        given = {k.arg: k.value for k in call.keywords if k.arg} | dict(zip(names, call.args))
        value = given.get(name)
        if value is None:
            return False
        if not is_evident(value, FunctionContext(caller, context.inference, context.options), depth + 1):
            return False
    return True
