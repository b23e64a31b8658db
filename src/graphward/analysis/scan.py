"""One pass over the body of a function."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from .names import FunctionNode
from .tree import children, fields_backwards


@dataclass(slots=True)
class Scan:
    """What one pass over the body of a function tells: `nodes` are all its nodes in source order (see `tree.preorder`),
    `loads` the names that it reads and its attribute accesses in source order, `calls` its calls by the node of the
    callee; all with those of nested scopes."""

    nodes: list[ast.AST]
    loads: list[ast.AST]
    calls: dict[ast.AST, ast.Call]


def scan(function: FunctionNode) -> Scan:
    """See `Scan`. Every function of every graph region is scanned, so the kinds of nodes that are most of any tree
    come first, and nothing is walked twice."""
    nodes: list[ast.AST] = []
    loads: list[ast.AST] = []
    calls: dict[ast.AST, ast.Call] = {}
    stack: list[Any] = list(reversed(function.body))
    pop, push, keep, note = stack.pop, stack.append, nodes.append, loads.append
    backwards: dict[type[ast.AST], tuple[str, ...]] = {}
    name, attribute, constant, call, load = ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Load
    while stack:
        node = pop()
        keep(node)
        kind = node.__class__
        if kind is name:
            if node.ctx.__class__ is load:
                note(node)
        elif kind is attribute:
            note(node)
            push(node.value)
        elif kind is constant:
            continue
        elif kind is call:
            calls[node.func] = node
            if node.keywords:
                stack += node.keywords[::-1]
            stack += node.args[::-1]
            push(node.func)
        else:
            fields = backwards.get(kind) or fields_backwards(kind)
            if fields is None:
                stack += reversed(children(node))
                continue
            backwards[kind] = fields
            for field in fields:
                value = getattr(node, field, None)
                if value.__class__ is list:
                    stack += value[::-1]
                elif value is not None:
                    push(value)
    return Scan(nodes, loads, calls)
