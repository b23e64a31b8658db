"""Whether a function's graph has shapes that are known when it runs only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphward.rules.context import FunctionContext

from .._python import literal_number
from ._traced import traced_test
from ._ways import whole_pairs

_UNKNOWN_SIZE = frozenset({"mindspore.ops.nonzero", "mindspore.ops.masked_select", "mindspore.mint.nonzero",
                           "mindspore.mint.masked_select"})  # fmt: skip
_METHODS = frozenset({"nonzero", "masked_select"})


def shapes_vary(context: FunctionContext) -> bool:
    """Whether a Tensor chooses between slices of other lengths in a function, or decides how long one is."""
    return context.once(("shapes vary", context.function), lambda: any(_varies(n, context) for n in _nodes(context)))


def _nodes(context: FunctionContext) -> Iterator[ast.AST]:
    return (n for n in context.function.nodes if isinstance(n, (ast.If, ast.IfExp, ast.Call)))


def _varies(node: ast.AST, context: FunctionContext) -> bool:
    if isinstance(node, ast.Call):
        if context.resolve(node.func) in _UNKNOWN_SIZE:
            return True
        return isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS and (
            context.kind(node.func.value).is_tensor
        )  # fmt: skip
    assert isinstance(node, (ast.If, ast.IfExp))
    return any(_differ(p.first, p.second) for p in whole_pairs(node, context)) and traced_test(node.test, context)


def _differ(first: ast.expr, second: ast.expr) -> bool:
    """Whether two slices need not have one length."""
    one, other = _slices(first), _slices(second)
    if not one or not other:
        return False
    return len(one) != len(other) or any(
        ast.dump(a) != ast.dump(b) and (_length(a) is None or _length(a) != _length(b))
        for a, b in zip(one, other, strict=True)
    )


def _slices(node: ast.expr) -> list[ast.Slice]:
    if not isinstance(node, ast.Subscript):
        return []
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return [p for p in parts if isinstance(p, ast.Slice)]


def _length(node: ast.Slice) -> float | None:
    """How long a slice with literal bounds is."""
    lower = literal_number(node.lower) if node.lower is not None else 0
    upper = literal_number(node.upper)
    if node.step is not None or lower is None or upper is None or lower < 0 or upper < 0:
        return None
    return upper - lower
