"""Where a graph takes the gradient of one of its own functions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .module import FunctionInfo
from .regions import Reached

if TYPE_CHECKING:
    from .inference import Inference

_NAMES = frozenset(
    {"mindspore.grad", "mindspore.value_and_grad", "mindspore.ops.grad", "mindspore.ops.value_and_grad",
     "mindspore.jacfwd", "mindspore.jacrev", "mindspore.jvp", "mindspore.vjp"}
)  # fmt: skip


def differentiated(inference: Inference, function: FunctionInfo) -> bool:
    """Whether a graph takes the gradient of `function`, or of one that calls it: then the gradient is part of what
    the graph gives back, and a rewrite that has one where the original cuts it changes the results."""
    seen = {function}
    queue = [function]
    while queue:
        reached = inference.reached.get(queue.pop())
        for caller, node in reached.sites if reached is not None else ():
            if _taken(inference, caller, node):
                return True
            if caller.function not in seen:
                seen.add(caller.function)
                queue.append(caller.function)
    return False


def _taken(inference: Inference, caller: Reached, node: ast.AST) -> bool:
    """Whether a function is named at `node` only for its gradient: in `ms.grad(self.forward)`, or where a variable or
    an attribute holds what such a call gave."""
    function = caller.function
    outer = function.parents.get(node)
    if isinstance(outer, ast.Call) and node in outer.args[:1] and _differentiates(inference, caller, function, outer):
        return True
    if isinstance(node, ast.Name):
        value = function.module.assignments.get(node.id)
        return isinstance(value, ast.Call) and _differentiates(inference, caller, function, value)
    return any(
        isinstance(value, ast.Call) and _differentiates(inference, caller, method, value)
        for method, value in _held(inference, caller, node)
    )


def _differentiates(inference: Inference, caller: Reached, function: FunctionInfo, call: ast.Call) -> bool:
    """Whether a call makes the gradient of its first argument: `ms.grad(f)`, `ops.GradOperation()(f)`, `self.grad(f)`
    where that attribute is a GradOperation."""
    if function.names.resolve(call.func) in _NAMES:
        return True
    makers = [(function, call.func), *_held(inference, caller, call.func)]
    return any(
        isinstance(maker, ast.Call) and where.names.resolve(maker.func) == "mindspore.ops.GradOperation"
        for where, maker in makers
    )


def _held(inference: Inference, caller: Reached, node: ast.AST) -> list[tuple[FunctionInfo, ast.expr]]:
    """What is assigned to `self.<name>`, with the methods that do."""
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    if caller.cell is None or not own or node.value.id != caller.function.receiver:  # type: ignore[attr-defined]
        return []
    return inference.project.attribute_values(caller.cell).get(node.attr, [])  # type: ignore[attr-defined]
