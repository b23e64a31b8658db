"""Where `jit` is written: its calls, the functions under it, and the names that compiled functions have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.analysis.names import dotted
from graphward.knowledge.names import JIT_NAMES
from graphward.rules.module_context import ModuleContext

from .._outside import only_value, visible

LOOPS = (ast.For, ast.While, ast.AsyncFor)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def is_jit(context: ModuleContext, node: ast.expr) -> bool:
    """Whether an expression is `jit` itself, by any import."""
    name = dotted(node)
    if name is None:
        return False
    return context.names_at(node, name.partition(".")[0]).resolve(node) in JIT_NAMES


def wrapping_calls(context: ModuleContext) -> Iterator[tuple[ast.Call, ast.expr]]:
    """`(call, function)` of each `jit(function, ...)` and `jit(...)(function)` that is no decorator."""
    for use in context.uses:
        if use.name not in JIT_NAMES or use.call is None:
            continue
        call = use.call
        given = call.args[:1] or [k.value for k in call.keywords if k.arg == "function"]
        if given:
            yield call, given[0]
            continue
        outer = context.parent(call)
        if isinstance(outer, ast.Call) and outer.func is call and len(outer.args) == 1 and not outer.keywords:
            yield outer, outer.args[0]


def is_compiled(function: FunctionInfo) -> bool:
    """Whether a function is under `jit`."""
    return any(name in JIT_NAMES for name, _ in function.decorators)


def compiled(context: ModuleContext, func: ast.expr) -> FunctionInfo | None:
    """The function that a callee compiles: one under `jit`, a variable that holds `jit(function)`, or the instance of a
    class with such a `construct`."""
    if not isinstance(func, ast.Name):
        return None
    found = visible(context, func)
    if isinstance(found, FunctionInfo):
        return found if is_compiled(found) else None
    value = only_value(context, func)
    if not isinstance(value, ast.Call):
        return None
    if is_jit(context, value.func) and value.args and isinstance(value.args[0], ast.Name):
        inner = visible(context, value.args[0])
        return inner if isinstance(inner, FunctionInfo) else None
    made = visible(context, value.func) if isinstance(value.func, ast.Name) else None
    construct = context.project.method(made, "construct") if isinstance(made, ClassInfo) else None
    return construct if construct is not None and is_compiled(construct) else None


def loop_around(context: ModuleContext, node: ast.AST) -> ast.stmt | None:
    """The innermost loop whose body runs `node` in each round, in the same function; None where a condition is in
    between, which may run it once."""
    inner: ast.AST = node
    for outer in context.around(node):
        if isinstance(outer, SCOPES) and inner is not node:
            return None
        if isinstance(outer, (ast.If, ast.Try, ast.IfExp, ast.ExceptHandler)):
            return None
        if isinstance(outer, LOOPS):
            return outer if inner in outer.body else None
        inner = outer
    return None


def loops_around(context: ModuleContext, node: ast.AST) -> Iterator[ast.For | ast.While | ast.AsyncFor]:
    """The loops around a node in the same function, the innermost first."""
    inner = node
    for outer in context.around(node):
        if isinstance(outer, SCOPES):
            return
        if isinstance(outer, LOOPS) and inner in outer.body:
            yield outer
        inner = outer


def bound_in(loop: ast.AST) -> set[str]:
    """The names that a loop gives values."""
    found = {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    found |= {n.name for n in ast.walk(loop) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    return found


def reads(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
