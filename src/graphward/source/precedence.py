"""Parentheses where a replacement would otherwise bind differently than what it replaces."""

from __future__ import annotations

import ast

_BINARY: dict[type[ast.operator], int] = {
    ast.BitOr: 7, ast.BitXor: 8, ast.BitAnd: 9, ast.LShift: 10, ast.RShift: 10, ast.Add: 11, ast.Sub: 11,
    ast.Mult: 12, ast.MatMult: 12, ast.Div: 12, ast.FloorDiv: 12, ast.Mod: 12, ast.Pow: 14,
}  # fmt: skip
_ATOM = 16


def strength(node: ast.expr) -> int:
    """How tightly an expression binds; an atom binds tightest."""
    if isinstance(node, ast.NamedExpr):
        return 0
    if isinstance(node, (ast.Lambda, ast.Yield, ast.YieldFrom)):
        return 1
    if isinstance(node, ast.IfExp):
        return 2
    if isinstance(node, ast.BoolOp):
        return 3 if isinstance(node.op, ast.Or) else 4
    if isinstance(node, ast.UnaryOp):
        return 5 if isinstance(node.op, ast.Not) else 13
    if isinstance(node, ast.Compare):
        return 6
    if isinstance(node, ast.BinOp):
        return _BINARY[type(node.op)]
    if isinstance(node, ast.Await):
        return 15
    if isinstance(node, ast.Starred):
        return 0
    return _ATOM


def guarded(text: str, old: ast.expr, parent: ast.AST | None) -> str:
    """`text` in parentheses when it binds less tightly than `old`'s place in `parent` asks.

    A tuple without parentheses gets them too. Raises SyntaxError when `text` is no expression.
    """
    new = ast.parse(f"({text}\n)", mode="eval").body  # a text over several lines parses only in parentheses
    if isinstance(new, ast.Tuple) and new.col_offset == 0:
        return f"({text})"
    if isinstance(new, ast.Constant) and isinstance(new.value, (int, float)) and isinstance(parent, ast.Attribute):
        return f"({text})"
    return f"({text})" if strength(new) < _needed(old, parent) else text


def _needed(old: ast.expr, parent: ast.AST | None) -> int:
    if isinstance(parent, (ast.Attribute, ast.Await)):
        return _ATOM
    if isinstance(parent, (ast.Subscript, ast.Call)) and old in (
        getattr(parent, "value", None),
        getattr(parent, "func", None),
    ):
        return _ATOM
    if isinstance(parent, ast.BinOp):
        own = _BINARY[type(parent.op)]
        left = old is parent.left
        if isinstance(parent.op, ast.Pow):
            return own + 1 if left else 13
        return own if left else own + 1
    if isinstance(parent, ast.UnaryOp):
        return 5 if isinstance(parent.op, ast.Not) else 13
    if isinstance(parent, ast.Compare):
        return 7
    if isinstance(parent, ast.BoolOp):
        return strength(parent) + 1
    if isinstance(parent, ast.IfExp):
        return 2 if old is parent.orelse else 3
    if isinstance(parent, ast.Starred):
        return 7
    if isinstance(parent, ast.comprehension):
        return 3
    if isinstance(parent, (ast.FormattedValue, ast.keyword, ast.Call)):
        return 1
    return 0
