"""Writes of a Parameter that become `ops.assign`."""

from __future__ import annotations

import ast

from graphward.rules.context import FunctionContext
from graphward.rules.module_context import ModuleContext
from graphward.rules.rewrite import Rewrite
from graphward.source.fixes import Fix

WRITERS = frozenset({"set_data", "assign_value"})
"""Methods of a Parameter that give it other data."""

_TITLE = "Use ops.assign"


def assigned_call(
    context: FunctionContext | ModuleContext, rewrite: Rewrite, node: ast.Call, parameter: ast.expr, reason: str
) -> Fix:
    """`parameter.set_data(value)` as `ops.assign(parameter, value)`."""
    statement = context.parent(node)
    values = [*node.args, *(k.value for k in node.keywords if k.arg in ("data", "new_data"))]
    if not values or not isinstance(statement, ast.Expr):
        return rewrite.manual(_TITLE, "not changed by itself: assign the new value in a statement of its own")
    value = values[0]
    module = context.module
    assign = rewrite.spell("mindspore.ops.assign")
    # What stands around the value stays, so that it keeps its lines and comments.
    gap = module.source.utf8[module.end(parameter) : module.start(value)]
    lines = gap[gap.index(b"(") + 1 :].decode()
    rewrite.insert(module.start(node), f"{assign}(")
    between = f",{lines}" if "\n" in lines and not lines.strip() else ", "
    rewrite.replace_span(module.end(parameter), module.start(value), between)
    return rewrite.unsafe(_TITLE, reason)


def assigned_data(
    context: FunctionContext | ModuleContext, rewrite: Rewrite, node: ast.Assign, target: ast.Attribute, reason: str
) -> Fix:
    """`parameter.data = value` as `ops.assign(parameter, value)`."""
    module = context.module
    rewrite.insert(module.start(node), f"{rewrite.spell('mindspore.ops.assign')}(")
    # A value in brackets keeps them: only what stands between the two is replaced.
    gap = module.source.utf8[module.end(target.value) : module.start(node.value)]
    equals = module.end(target.value) + gap.index(b"=") + 1
    space = len(module.source.utf8[equals:]) - len(module.source.utf8[equals:].lstrip(b" "))
    rewrite.replace_span(module.end(target.value), equals + space, ", ")
    rewrite.insert(module.end(node), ")")
    return rewrite.unsafe(_TITLE, reason)
