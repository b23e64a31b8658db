"""The order in which Python evaluates an expression: what comes before a part of it, and whether it comes at all."""

from __future__ import annotations

import ast

from graphward.analysis.tree import children

_LATER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def path_to(part: ast.AST, parents: dict[ast.AST, ast.AST], top: ast.AST) -> list[ast.AST]:
    """The nodes from below `top` down to `part`."""
    found = []
    node = part
    while node is not top:
        found.append(node)
        node = parents[node]
    return found[::-1]


def is_certain(part: ast.AST, parents: dict[ast.AST, ast.AST], top: ast.AST) -> bool:
    """Whether evaluating `top` evaluates `part` once: not in an arm, not after `and` or `or`, not in a lambda or in
    the repeated parts of a comprehension."""
    above = top
    for node in path_to(part, parents, top):
        if isinstance(above, ast.IfExp) and node is not above.test:
            return False
        if isinstance(above, ast.BoolOp) and node is not above.values[0]:
            return False
        if isinstance(above, ast.Compare) and node not in (above.left, above.comparators[0]):
            return False
        if isinstance(above, _LATER):
            return False
        above = node
    return True


def evaluated_before(part: ast.AST, parents: dict[ast.AST, ast.AST], top: ast.AST) -> list[ast.AST]:
    """All nodes that are evaluated before `part` when `top` is, `part` and what it is inside of left out."""
    found: list[ast.AST] = []
    above = top
    for node in path_to(part, parents, top):
        for sibling in _in_order(above):
            if sibling is node:
                break
            found += ast.walk(sibling)
        above = node
    return found


def _in_order(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.IfExp):
        return [node.test, node.body, node.orelse]
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [*([node.value] if node.value else []), *targets]
    return children(node)
