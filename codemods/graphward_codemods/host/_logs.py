"""Logs as `print`, which a graph has."""

from __future__ import annotations

import ast
import re

from graphward.rules.context import FunctionContext
from graphward.source.fixes import Fix

LEVELS = frozenset(
    {"debug", "info", "warning", "warn", "error", "critical", "exception", "log", "info_once", "warning_once"}
)
_PLACE = re.compile(r"%(?:\(\w+\))?[-+ 0#]*\d*(?:\.\d+)?[a-zA-Z]|%%")


def printed(node: ast.Call, context: FunctionContext) -> Fix:
    """The log call as `print`, which is an operator of the graph."""
    rewrite = context.rewrite()
    level = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    arguments = node.args[1:] if level == "log" else node.args
    if not isinstance(context.parent(node), ast.Expr) or any(isinstance(a, ast.Starred) for a in arguments):
        return rewrite.manual("Print it", "print is an operator of the graph: print(x)")
    parts = _parts(arguments, context)
    if parts is None:
        return rewrite.manual("Print it", "print is an operator of the graph, which takes text and Tensors: print(x)")
    rewrite.replace(node, f"print({', '.join(parts)})", context.parent(node))
    return rewrite.unsafe("Print it", "print writes to standard output, whatever the level of the log")


def _parts(arguments: list[ast.expr], context: FunctionContext) -> list[str] | None:
    """The arguments of `print` that show the same, text and values in turn; None where they are not seen."""
    if not arguments:
        return None
    first, values = arguments[0], arguments[1:]
    if isinstance(first, ast.JoinedStr) and not values:
        shown: list[str] = []
        for part in first.values:
            if isinstance(part, ast.FormattedValue):
                shown.append(context.text(part.value))
            elif isinstance(part, ast.Constant):
                shown += _words(str(part.value))
        return shown
    if isinstance(first, ast.BinOp) and isinstance(first.op, ast.Mod) and not values:
        values = list(first.right.elts) if isinstance(first.right, ast.Tuple) else [first.right]
        first = first.left
    if not isinstance(first, ast.Constant):
        return [context.text(first)] if not values and context.kind(first).is_tensor else None
    pieces = _PLACE.split(str(first.value))
    places = _PLACE.findall(str(first.value))
    if len(places) != len(values) or any(p == "%%" or "(" in p for p in places):
        return None
    parts = _words(pieces[0])
    for piece, value in zip(pieces[1:], values):
        parts += [context.text(value), *_words(piece)]
    return parts


def _words(text: str) -> list[str]:
    text = text.strip()
    quoted = repr(text)
    return [f'"{quoted[1:-1]}"' if '"' not in text and quoted[0] == "'" else quoted] if text else []
