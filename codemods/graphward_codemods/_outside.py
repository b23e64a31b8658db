"""What names mean outside of graph code: the functions, classes and values behind them, over files."""

from __future__ import annotations

import ast

from graphward.analysis.module import ClassInfo, FunctionInfo, Module
from graphward.rules.module_context import ModuleContext

from ._python import values_of


def visible(context: ModuleContext, name: ast.Name) -> FunctionInfo | ClassInfo | None:
    """The project's function or class that a name means."""
    function = context.function_at(name)
    if function is not None:
        return context.project.visible(function, name.id)
    found = context.project.named(context.module, name.id)
    if found is None:
        qualified = context.module.names.lookup(name.id)
        found = context.project.definition(qualified) if qualified else None
    return found


def only_value(context: ModuleContext, name: ast.Name) -> ast.expr | None:
    """The value of a variable that one plain assignment gives, in the function around or at module level."""
    function = context.function_at(name)
    while function is not None:
        values = values_of(function.statements, name.id)
        if name.id in function.names.hidden:
            return values[0] if len(values) == 1 else None
        function = function.outer
    return context.module.assignments.get(name.id)


def assigned(context: ModuleContext, name: ast.Name) -> list[ast.expr]:
    """Everything that is assigned to a variable in the function around it, or at module level."""
    function = context.function_at(name)
    while function is not None:
        found = values_of(function.statements, name.id)
        if found:
            return found
        function = function.outer
    outside = (n for n in context.nodes if isinstance(n, ast.Assign) and context.function_at(n) is None)
    return values_of(outside, name.id)


def context_of(context: ModuleContext, module: Module) -> ModuleContext:
    """What a rule sees of another file."""
    if module is context.module:
        return context
    return context.once_here((context_of, module), lambda: ModuleContext(module, context.inference, context.options))
