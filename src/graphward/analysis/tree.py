"""Walking syntax trees quickly: `ast.walk` is generators all the way down, and regions are walked often."""

from __future__ import annotations

import ast

_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


def children(node: ast.AST) -> list[ast.AST]:
    """The child nodes in source order; operators and contexts left out."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
            found.append(value)
    return found


def preorder(root: ast.AST) -> list[ast.AST]:
    """All nodes under `root`, itself first, in source order; operators and contexts left out."""
    found: list[ast.AST] = []
    stack = [root]
    while stack:
        node = stack.pop()
        found.append(node)
        kind = node.__class__
        if kind is not ast.Name and kind is not ast.Constant:
            inner = children(node)
            inner.reverse()
            stack += inner
    return found


def parents(root: ast.AST) -> dict[ast.AST, ast.AST]:
    """The parent of each node under `root`."""
    found: dict[ast.AST, ast.AST] = {}
    for node in preorder(root):
        for child in children(node):
            found[child] = node
    return found
