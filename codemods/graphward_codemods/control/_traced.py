"""Conditions and loops that depend on a Tensor: the graph holds both ways, and joins what they leave."""

from __future__ import annotations

import ast

from graphward.analysis.kinds import Kind, Tag
from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite
from graphward.source.precedence import guarded

from .._blocks import siblings
from .._python import values_of
from ._evidence import is_evident

_FLOATS = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}


def is_traced(kind: Kind) -> bool:
    """Whether a value is known to the device only: a Tensor, or a number read off one."""
    return kind.is_tensor or (kind.variable and kind.tag is Tag.SCALAR)


def parts(test: ast.expr) -> list[ast.expr]:
    """The conditions that `and`, `or` and `not` make a condition of."""
    if isinstance(test, ast.BoolOp):
        return [p for v in test.values for p in parts(v)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return parts(test.operand)
    return [test]


def traced_test(test: ast.expr, context: FunctionContext) -> bool:
    """Whether a Tensor decides. A bare name or element counts only where it is known to be one: its truth may be asked
    of anything."""
    return any(is_traced(context.kind(p)) and is_believed(p, context) for p in parts(test))


def is_believed(node: ast.expr, context: FunctionContext) -> bool:
    """Whether what is known of an expression is more than the assumption that a parameter is a Tensor. A flag that
    starts as a number is a Tensor where something gives it one."""
    if context.kind(node).certain or not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return True
    return isinstance(node, ast.Name) and any(
        is_evident(value, context) for value in values_of(context.function.nodes, node.id)
        if isinstance(value, (ast.Call, ast.Compare))
    )  # fmt: skip


def is_traced_loop(node: ast.stmt, context: FunctionContext) -> bool:
    """Whether how often a loop runs depends on a Tensor."""
    if isinstance(node, ast.While):
        return traced_test(node.test, context)
    if not isinstance(node, ast.For):
        return False
    call = node.iter
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
        return False
    inner = [i for a in call.args for i in _unwrapped(a)]
    return any(is_traced(context.kind(i)) and is_believed(i, context) for i in inner)


def _unwrapped(node: ast.expr) -> list[ast.expr]:
    """`n`, and of `int(n)` also `n`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int" and node.args:
        return [node, node.args[0]]
    return [node]


def assigned_before(name: str, statement: ast.stmt, context: FunctionContext) -> ast.Assign | None:
    """The plain assignment that gives `name` its value at the start of `statement`: the last one before it, in its
    block or in one around it."""
    found = _bound_before(name, statement, context)
    if isinstance(found, ast.Assign) and len(found.targets) == 1 and isinstance(found.targets[0], ast.Name):
        return found
    return None


def value_before(name: str, statement: ast.stmt, context: FunctionContext) -> tuple[ast.Assign, ast.expr] | None:
    """The assignment that gives `name` its value at the start of `statement`, `a, b = 1, 2` among them, and the
    value."""
    found = _bound_before(name, statement, context)
    if not isinstance(found, ast.Assign) or len(found.targets) != 1:
        return None
    target, value = found.targets[0], found.value
    if isinstance(target, ast.Name):
        return found, value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        if not any(isinstance(e, ast.Starred) for e in target.elts + value.elts):
            pairs = zip(target.elts, value.elts, strict=True)
            given = [v for t, v in pairs if isinstance(t, ast.Name) and t.id == name]
            return (found, given[0]) if len(given) == 1 else None
    return None


def _bound_before(name: str, statement: ast.stmt, context: FunctionContext) -> ast.stmt | None:
    """The last statement before `statement`, in its block or in one around it, that binds `name`."""
    node: ast.stmt = statement
    while True:
        block = siblings(context, node)
        for other in reversed(block[: block.index(node)]):
            if any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in preorder(other)):
                return other
        parent = context.parent(node)
        if not isinstance(parent, ast.stmt) or parent is context.function.node:
            return None
        node = parent


def dtype_text(value: ast.expr, context: FunctionContext, spell: str) -> str:
    """How the dtype of a Tensor is written: by its name, where that is known, else `value.dtype`."""
    dtype = context.kind(value).dtype
    if dtype is not None:
        return f"{spell}.{dtype}"
    text = context.text(value)
    return f"{guarded(text, value, ast.Attribute(value=value, attr='dtype', ctx=ast.Load()))}.dtype"


def wider(first: str, second: str) -> str:
    """Which of two dtypes can hold the values of both: a float before an integer, then the larger."""
    return max(first, second, key=_width)


def _width(dtype: str) -> tuple[int, int]:
    if dtype in _FLOATS:
        return 2, _FLOATS[dtype]
    digits = "".join(c for c in dtype if c.isdigit())
    return (0, 0) if dtype.startswith("bool") else (1, int(digits or 0))


def other_side(value: ast.expr, name: str) -> ast.expr | None:
    """`E` of `name + E` or `E + name`; the whole where the name is not in it."""
    if isinstance(value, ast.BinOp):
        if isinstance(value.left, ast.Name) and value.left.id == name:
            return value.right
        if isinstance(value.right, ast.Name) and value.right.id == name:
            return value.left
    return None if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value)) else value


def spell_out(name: str, context: FunctionContext, rewrite: Rewrite) -> None:
    """`i += 1` as `i = i + 1`: a Tensor is changed in place, and the constant that it starts as would keep that from
    one call of the graph to the next."""
    module = context.module
    for node in context.function.nodes:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            between = module.source.utf8[module.end(node.target) : module.start(node.value)].decode()
            operator = between[: between.index("=")].strip()
            rewrite.replace_span(module.end(node.target), module.start(node.value), f" = {name} {operator} ")
            place = ast.BinOp(left=node.target, op=node.op, right=node.value)
            text = context.text(node.value)
            if "\n" not in text:
                rewrite.replace_span(module.start(node.value), module.end(node.value), guarded(text, node.value, place))
