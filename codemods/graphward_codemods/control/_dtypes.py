"""The dtypes of two ways, where the analysis knows only one of them."""

from __future__ import annotations

import ast

from graphward.rules.context import FunctionContext

_CASTS = frozenset({"astype", "to", "half", "float", "int", "long", "bool", "double", "short", "byte", "type"})
_CAST_CALLS = frozenset({"mindspore.ops.cast"})
_FILLED = frozenset({"mindspore.ops.ones", "mindspore.ops.zeros", "mindspore.mint.ones", "mindspore.mint.zeros"})
_DESCRIBED = frozenset({"shape", "dtype", "ndim", "size"})
_COMPARED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def dtype_of(node: ast.expr, context: FunctionContext) -> str | None:
    """MindSpore's name of a Tensor's dtype; that of `ops.ones(shape)` is float32."""
    known = context.kind(node).dtype
    if known is None and isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        if context.resolve(node.func) in _FILLED:
            return "float32"
    return known


def is_changed(known: ast.expr, plain: ast.expr, context: FunctionContext) -> bool:
    """Whether `known` is a cast or an ordering of the values that `plain` is made of without one: a half of x beside
    `x * 2`, the mask `x > 1` beside zeros like x."""
    operands = _cast(known, context) or _ordered(known)
    if not operands:
        return False
    names = {n.id for o in operands for n in ast.walk(o) if isinstance(n, ast.Name) and context.kind(n).is_tensor}
    # What is asked for its shape only passes on no dtype.
    asked = {id(n.value) for n in ast.walk(plain) if isinstance(n, ast.Attribute) and n.attr in _DESCRIBED}
    read = {n.id for n in ast.walk(plain) if isinstance(n, ast.Name) and id(n) not in asked}
    return bool(names & read) and _keeps_dtype(plain, context)


def _cast(node: ast.expr, context: FunctionContext) -> list[ast.expr]:
    if not isinstance(node, ast.Call):
        return []
    if context.resolve(node.func) in _CAST_CALLS:
        return node.args[:1]
    if isinstance(node.func, ast.Attribute) and node.func.attr in _CASTS and context.resolve(node.func) is None:
        return [node.func.value]
    return []


def _ordered(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Compare) and all(isinstance(op, _COMPARED) for op in node.ops):
        return [node.left, *node.comparators]
    return []


def _keeps_dtype(plain: ast.expr, context: FunctionContext) -> bool:
    """Whether an expression holds no cast, no comparison and no layer, whose dtype may be anything."""
    for node in ast.walk(plain):
        if isinstance(node, (ast.Compare, ast.BoolOp, ast.Lambda)):
            return False
        if isinstance(node, ast.Call):
            if _cast(node, context) or any(k.arg == "dtype" for k in node.keywords):
                return False
            name = context.resolve(node.func)
            if name is None and not (isinstance(node.func, ast.Attribute) and context.kind(node.func.value).is_tensor):
                return False
            if name is not None and not name.startswith("mindspore."):
                return False
    return True
