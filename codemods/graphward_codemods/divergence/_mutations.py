"""Lists and dicts that change in place in graph code."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from graphward.analysis.kinds import Tag
from graphward.analysis.ownership import Holder, Value, ownership
from graphward.rules.context import FunctionContext

from ._writes import CONTAINERS, seen_by

MUTATORS = frozenset(
    {"append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort", "update", "setdefault", "popitem"}
)
NODES = (ast.Call, ast.Assign, ast.AugAssign)


@dataclass(frozen=True)
class Mutation:
    """`base` is what is changed, `how` the method, `[]=` or `+=`."""

    node: ast.AST
    statement: ast.stmt
    base: ast.expr
    how: str

    @property
    def name(self) -> str | None:
        return self.base.id if isinstance(self.base, ast.Name) else None


def mutation_at(node: ast.AST, context: FunctionContext) -> Mutation | None:
    """The change that a node makes to a list or dict, None when it makes none."""
    if isinstance(node, ast.Call):
        func = node.func
        if not (isinstance(func, ast.Attribute) and func.attr in MUTATORS):
            return None
        base, how = func.value, func.attr
    elif isinstance(node, ast.AugAssign) and not isinstance(node.target, ast.Subscript):
        base, how = node.target, "+="
        if not isinstance(node.op, (ast.Add, ast.Mult)):
            return None
    elif isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        written = [t for t in targets if isinstance(t, ast.Subscript)]
        if len(written) != 1:
            return None
        base, how = written[0].value, "[]="
    else:
        return None
    root = base
    while isinstance(root, (ast.Subscript, ast.Attribute)):
        root = root.value
    if not isinstance(root, ast.Name) or not _is_list_or_dict(context, base, how):
        return None
    return Mutation(node, context.statement(node), base, how)


def _is_list_or_dict(context: FunctionContext, base: ast.expr, how: str) -> bool:
    kind = context.kind(base)
    if kind.tag not in CONTAINERS or kind.name == "tuple":
        return False
    if how == "+=" and kind.tag is Tag.SEQUENCE:
        return kind.name == "list" or _made_as_list(context, base)
    return True


def _made_as_list(context: FunctionContext, base: ast.expr) -> bool:
    """Whether everything that the value may be was written as a list."""
    objects = ownership(context.inference, context.function).value(base).objects
    return bool(objects) and all(isinstance(s.node, (ast.List, ast.ListComp)) for s in objects)


def changed(context: FunctionContext, mutation: Mutation) -> Value:
    """The containers that a mutation changes."""
    return ownership(context.inference, context.function).value(mutation.base)


def holders_of(context: FunctionContext, mutation: Mutation) -> list[Holder]:
    """Who besides the written name sees the change."""
    written = changed(context, mutation)
    return seen_by(context, mutation.statement, written, mutation.name, views=False, by_user=False)
