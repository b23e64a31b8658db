"""One dict of the entries of several, as the compiler takes it."""

from __future__ import annotations

import ast

from graphward.rules.context import FunctionContext

from .._blocks import fresh

_LOOSE = (ast.BoolOp, ast.IfExp, ast.BinOp, ast.Lambda, ast.UnaryOp, ast.Compare)


def union_of(parts: list[ast.expr | str], context: FunctionContext) -> str:
    """The text of a dict with the entries of all parts, of which later ones win. Parts are expressions, or the text of
    a display in braces. Unpacking (`{**a, **b}`) compiles between displays only."""
    if all(isinstance(p, (str, ast.Dict)) for p in parts):
        return "{" + ", ".join(f"**{_text(p, context)}" for p in parts) + "}"
    k, v = fresh(context, "key"), fresh(context, "value")
    items = [f"{_text(p, context)}.items()" for p in parts]
    entries = items[0] if len(items) == 1 else " + ".join(f"list({i})" for i in items)
    return f"{{{k}: {v} for {k}, {v} in {entries}}}"


def _text(part: ast.expr | str, context: FunctionContext) -> str:
    if isinstance(part, str):
        return part
    text = context.text(part)
    return f"({text})" if isinstance(part, _LOOSE) else text
