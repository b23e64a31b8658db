"""Statements of `__init__` that a flag keeps from running wherever the project makes the Cell."""

from __future__ import annotations

import ast

from graphward.analysis.module import FunctionInfo
from graphward.analysis.names import defaults_of
from graphward.rules.context import CellContext

from ..containers._flags import opted_into_when_made


def switched_off(statement: ast.stmt, method: FunctionInfo, context: CellContext) -> str | None:
    """The flag whose default keeps a statement from running, when no call in the project gives it another value."""
    flag = opted_into_when_made(statement, method) if method.name == "__init__" else None
    if flag is None or any(_may_set(call, flag, method, context) for call in _makers(context)):
        return None
    return flag


def _makers(context: CellContext) -> list[ast.Call]:
    """The calls in the project that may run the `__init__` of the Cell."""
    cell = context.cell

    def found() -> list[ast.Call]:
        return [
            call
            for module in list(context.project.modules.values())  # looking a name up may read more
            for function in module.functions
            for call in function.calls.values()
            if _is_init(call.func) or context.project.called_class(function, call) is cell
        ]

    return context.once((_makers, cell), found)


def _is_init(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "__init__"


def _may_set(call: ast.Call, flag: str, method: FunctionInfo, context: CellContext) -> bool:
    given = next((k.value for k in call.keywords if k.arg == flag), None)
    if given is not None:
        default = defaults_of(method.node.args).get(flag)
        same = isinstance(given, ast.Constant) and isinstance(default, ast.Constant) and given.value is default.value
        return not same
    if _is_init(call.func):
        return False  # that of another class, as far as is seen
    if any(k.arg is None for k in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
        return True
    positional = [a.arg for a in (*method.node.args.posonlyargs, *method.node.args.args)][1:]
    return flag in positional and len(call.args) > positional.index(flag)
