"""Walking syntax trees quickly: `ast.walk` is generators all the way down, and regions are walked often."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

# Fields that hold no expression, statement or pattern.
_PLAIN = frozenset(
    {"ctx", "op", "ops", "id", "attr", "arg", "name", "names", "kind", "type_comment", "conversion", "level", "module",
     "is_async", "simple", "asname", "rest", "type_ignores", "kwd_attrs"}
)  # fmt: skip
_LEAVES = (ast.Constant, ast.MatchSingleton)
# Their lists hold None: `{**more}` has no key, `*, a` no default.
_GAPPED = frozenset({ast.Dict, ast.arguments})
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}
_BACKWARDS: dict[type[ast.AST], tuple[str, ...] | None] = {}


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
    if kind in _GAPPED:
        return [item for item in found if item is not None]
    return found


def fields_backwards(kind: type[ast.AST]) -> tuple[str, ...] | None:
    """The fields of a type of nodes that hold its children, the last first; None where a list among them has gaps."""
    if kind not in _BACKWARDS:
        names = () if issubclass(kind, _LEAVES) else tuple(f for f in reversed(kind._fields) if f not in _PLAIN)
        _BACKWARDS[kind] = None if kind in _GAPPED else names
    return _BACKWARDS[kind]


def preorder(*roots: ast.AST) -> list[ast.AST]:
    """All nodes under `roots`, themselves included, in source order (see `children`)."""
    found: list[ast.AST] = []
    stack: list[Any] = list(reversed(roots))
    pop, push, keep = stack.pop, stack.append, found.append
    # Names, constants, attributes and calls are most of any tree.
    name, constant, attribute, call = ast.Name, ast.Constant, ast.Attribute, ast.Call
    known: dict[type[ast.AST], tuple[str, ...]] = {}
    while stack:
        node = pop()
        keep(node)
        kind = node.__class__
        if kind is name or kind is constant:
            continue
        if kind is attribute:
            push(node.value)
            continue
        if kind is call:
            stack += reversed(node.keywords)
            stack += reversed(node.args)
            push(node.func)
            continue
        fields = known.get(kind) or fields_backwards(kind)
        if fields is None:
            stack += reversed(children(node))
            continue
        known[kind] = fields
        for field in fields:
            value = getattr(node, field, None)
            if value.__class__ is list:
                stack += value[::-1]
            elif value is not None:
                push(value)
    return found


def around(node: ast.AST, known: Mapping[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    """What a node stands in by its `parents`, the innermost first."""
    outer = known.get(node)
    while outer is not None:
        yield outer
        outer = known.get(outer)


def parents(root: ast.AST, nodes: list[ast.AST]) -> dict[ast.AST, ast.AST]:
    """The parent of each of `nodes`, which are all those under `root`."""
    found: dict[ast.AST, ast.AST] = dict.fromkeys(children(root), root)
    # `children` written out, as in `preorder`.
    for node in nodes:
        fields = _FIELDS.get(node.__class__)
        if fields is None or node.__class__ in _GAPPED:
            for child in children(node):
                found[child] = node
            continue
        for name in fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                for child in value:
                    found[child] = node
            elif value is not None:
                found[value] = node
    return found
