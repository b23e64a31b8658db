"""Settings of environment variables in Python: `os.environ["X"] = ...`, `os.environ.update(X=...)`, `os.putenv`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphward.rules.module_context import ModuleContext


def settings(context: ModuleContext, names: frozenset[str]) -> Iterator[tuple[str, ast.expr, ast.stmt]]:
    """`(variable, value, the statement)` of each statement that sets one of `names`."""
    for node in context.nodes:
        if node.__class__ is ast.Assign:
            assert isinstance(node, ast.Assign)
            target = node.targets[0]
            if len(node.targets) == 1 and isinstance(target, ast.Subscript):
                name = _text(target.slice)
                if name in names and _is(context, target.value, "os.environ"):
                    yield name, node.value, node
        elif node.__class__ is ast.Expr and isinstance(node.value, ast.Call):
            assert isinstance(node, ast.Expr)
            call = node.value
            assert isinstance(call, ast.Call)
            if len(call.args) == 2 and not call.keywords:
                if _is(context, call.func, "os.putenv") or _is(context, call.func, "os.environ.setdefault"):
                    name = _text(call.args[0])
                    if name in names:
                        yield name, call.args[1], node


def _is(context: ModuleContext, node: ast.expr, name: str) -> bool:
    function = context.function_at(node)
    return (function.names if function else context.module.names).resolve(node) == name


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
