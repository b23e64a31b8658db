"""What evaluating an expression may change: what decides whether two may change places."""

from __future__ import annotations

import ast

from graphward.analysis.kinds import Tag
from graphward.analysis.module import FunctionInfo
from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext

from .._python import is_builtin, self_attribute

# Parts of the names of operators and methods that write somewhere, or draw random numbers.
_ACTING = (
    "assign", "scatter", "index_add", "inplace", "apply_", "set_", "register", "print", "rand", "normal", "uniform",
    "dropout", "bernoulli", "multinomial", "poisson", "gamma", "laplace", "shuffle", "choice", "sampler",
)  # fmt: skip
_QUIET = frozenset({"len", "int", "float", "bool", "abs", "min", "max", "sum", "isinstance", "tuple", "range", "any",
                    "all", "round", "getattr", "hasattr", "type", "str"})  # fmt: skip
_WRITES = (ast.Attribute, ast.Subscript)
_MAX_DEPTH = 3


def may_act(node: ast.AST, context: FunctionContext, depth: int = 0) -> bool:
    """Whether evaluating an expression may change anything, or draw a random number. Of calls only those of
    operators and of methods of Tensors, and of the project's functions which only make such, are known not to."""
    return any(
        isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))
        or (isinstance(part, ast.Call) and _call_acts(part, context, depth))
        for part in preorder(node)
    )


def _call_acts(call: ast.Call, context: FunctionContext, depth: int) -> bool:
    resolved = context.resolve(call.func)
    if resolved is not None and resolved.startswith(("mindspore.ops.", "mindspore.mint.")):
        return _acts_by_name(resolved.rpartition(".")[2])
    called = context.kind(call.func)
    if called.tag is Tag.PRIMITIVE and called.name.startswith("mindspore.ops."):
        return _acts_by_name(called.name.rpartition(".")[2])
    if is_builtin(call.func, context):
        return not (isinstance(call.func, ast.Name) and call.func.id in _QUIET)
    info = _callee(call.func, context)
    if info is not None:
        return depth >= _MAX_DEPTH or _function_acts(info, context, depth)
    if isinstance(call.func, ast.Attribute) and resolved is None:
        return not context.kind(call.func.value).is_tensor or _acts_by_name(call.func.attr)
    return True


def _callee(func: ast.expr, context: FunctionContext) -> FunctionInfo | None:
    """The function of the project that is called."""
    found: object = context.kind(func).info
    if isinstance(func, ast.Name):
        found = context.inference.visible(context.function, func.id)
    elif self_attribute(func, context.function.receiver) and context.cell is not None:
        assert isinstance(func, ast.Attribute)
        found = context.inference.method(context.cell, func.attr)
    return found if isinstance(found, FunctionInfo) else None


def _function_acts(info: FunctionInfo, context: FunctionContext, depth: int) -> bool:
    """Whether a function of the project does more than to compute."""
    reached = context.inference.reached.get(info)
    if reached is None or info.node.decorator_list:
        return True
    if any(isinstance(n, (ast.Global, ast.Nonlocal, ast.Delete, ast.Raise, ast.Assert)) for n in info.nodes):
        return True
    if any(isinstance(n, _WRITES) and not isinstance(n.ctx, ast.Load) for n in info.nodes):
        return True
    if any(isinstance(n, ast.AugAssign) for n in info.nodes):
        return True
    inner = FunctionContext(reached, context.inference, context.options)
    return any(may_act(statement, inner, depth + 1) for statement in info.node.body)


def _acts_by_name(name: str) -> bool:
    return name.endswith("_") or any(part in name.lower() for part in _ACTING)
