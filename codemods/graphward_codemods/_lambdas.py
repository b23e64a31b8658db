"""Lambdas in the body of a `for` loop, where the compiler takes the end of the lambda for the end of the function.

It does so in the part of the body that every round starts with, up to the first condition or loop in it, and in the
functions defined there (MindSpore 2.10).
"""

from __future__ import annotations

import ast

from graphward.analysis.module import FunctionInfo
from graphward.analysis.tree import around
from graphward.rules.context import FunctionContext

_BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While)


def loop_cut_by(node: ast.Lambda, context: FunctionContext) -> ast.For | None:
    """The `for` loop in which a lambda ends the function. Only the outermost of lambdas inside of each other counts."""
    if any(isinstance(a, ast.Lambda) for a in context.around(node)):
        return None
    place: ast.AST = node
    function: FunctionInfo | None = context.function
    while function is not None:
        if _is_dead(place, function, context):
            return None
        loop = _first_part_of(place, function)
        if loop is not None:
            return loop if _gives(function) else None
        place, function = function.node, function.outer
    return None


def _first_part_of(node: ast.AST, function: FunctionInfo) -> ast.For | None:
    """The innermost loop around a node, if it is a `for` loop that has it in the part that every round starts with."""
    above: list[ast.stmt] = []
    below = node
    for outer in around(node, function.parents):
        block = next((b for b in (getattr(outer, n, None) for n in ("body", "orelse")) if _holds(b, below)), None)
        if block is not None and isinstance(below, ast.stmt):
            above += block[: block.index(below)]
            if isinstance(outer, ast.While):
                return None
            if isinstance(outer, ast.For) and block is outer.body:
                ends = isinstance(block[-1], (ast.Return, ast.Raise))
                return None if ends or any(isinstance(s, _BRANCHES) for s in above) else outer
        below = outer
    return None


def _holds(block: object, node: ast.AST) -> bool:
    return isinstance(block, list) and any(s is node for s in block)


def _is_dead(node: ast.AST, function: FunctionInfo, context: FunctionContext) -> bool:
    """Whether the compiler never comes to a node."""
    below = node
    for outer in around(node, function.parents):
        if isinstance(outer, ast.If):
            decided = context.inference.decided(function, outer)
            arm = outer.body if decided else outer.orelse
            if decided is not None and below is not outer.test and not _holds(arm, below):
                return True
        below = outer
    return False


def _gives(function: FunctionInfo) -> bool:
    """Whether a function gives anything that could be lost."""
    return any(isinstance(s, ast.Return) and s.value is not None for s in function.statements)
