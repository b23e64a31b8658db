"""Walking syntax trees quickly: `ast.walk` is generators all the way down, and regions are walked often."""

from __future__ import annotations

import ast

# Fields that hold no expression, statement or pattern.
_PLAIN = frozenset(
    {"ctx", "op", "ops", "id", "attr", "arg", "name", "names", "kind", "type_comment", "conversion", "level", "module",
     "is_async", "simple", "asname", "rest", "type_ignores", "kwd_attrs"}
)  # fmt: skip
_LEAVES = (ast.Constant, ast.MatchSingleton)
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}


def children(node: ast.AST) -> list[ast.AST]:
    """The child nodes in source order; operators, contexts and the names of imports left out."""
    kind = node.__class__
    fields = _FIELDS.get(kind)
    if fields is None:
        names = () if issubclass(kind, _LEAVES) else (f for f in kind._fields if f not in _PLAIN)
        fields = _FIELDS[kind] = tuple(names)
    found: list[ast.AST] = []
    for name in fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += value
        elif value is not None:
            found.append(value)
    if kind is ast.Dict or kind is ast.arguments:
        return [item for item in found if item is not None]  # `{**more}` has no key, `*, a` no default
    return found


def preorder(root: ast.AST) -> list[ast.AST]:
    """All nodes under `root`, itself first, in source order (see `children`)."""
    found: list[ast.AST] = []
    stack = [root]
    while stack:
        node = stack.pop()
        found.append(node)
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
