"""Parts of a statement that are computed in a statement of their own above it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite

from .._blocks import CannotRewrite, fresh, insert_before
from .._python import is_later


class Part(NamedTuple):
    """`node` gives its place to `use`, in which `{}` stands for the new variable; this gets `value`."""

    node: ast.expr
    value: str
    use: str = "{}"


def take_ahead(
    context: FunctionContext, rewrite: Rewrite, statement: ast.stmt, parts: Sequence[Part], wanted: str
) -> None:
    """Give each part, in the order in which they are written, a variable called like `wanted` above the statement.
    Raises CannotRewrite where a part runs under a condition or many times over."""
    module = context.module
    lines: list[str] = []
    taken: set[str] = set()
    for part in parts:
        must_run_once(part.node, statement, context)
        number = 2
        name = first = fresh(context, wanted)
        while name in taken:
            name, number = fresh(context, f"{first}_{number}"), number + 1
        taken.add(name)
        lines.append(f"{name} = {part.value}")
        rewrite.replace_span(module.start(part.node), module.end(part.node), part.use.replace("{}", name))
    insert_before(context, rewrite, statement, lines)


def evaluated_once(statement: ast.stmt) -> list[ast.expr]:
    """The expressions of a statement before which a line can be put: not the blocks in it, not the head of `while`."""
    if isinstance(statement, ast.While):
        raise CannotRewrite("the head of a `while` is computed again in each turn")
    parts = ast.iter_child_nodes(statement)
    found = [n for n in parts if isinstance(n, ast.expr)]
    if isinstance(statement, ast.With):
        found += [i.context_expr for i in statement.items]
    return found


def must_run_once(part: ast.expr, statement: ast.stmt, context: FunctionContext) -> None:
    """Raises CannotRewrite where a part of a statement runs under a condition or many times over."""
    if is_later(part, context):
        raise CannotRewrite("it stands in a lambda or comprehension")
    node: ast.AST = part
    while node is not statement:
        parent = context.parent(node)
        assert parent is not None
        if isinstance(parent, ast.IfExp) and node is not parent.test:
            raise CannotRewrite("it runs under a condition")
        if isinstance(parent, ast.BoolOp) and node is not parent.values[0]:
            raise CannotRewrite("it runs under a condition")
        node = parent
