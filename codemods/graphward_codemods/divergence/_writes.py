"""Writes into Tensors and containers: who else sees the written object, and how others are told."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.analysis.module import FunctionInfo
from graphward.analysis.ownership import Holder, Value, ownership, passed_arguments
from graphward.analysis.regions import Reached
from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite

from .._blocks import CannotRewrite, indent_of, last_line, stands_alone

CONTAINERS = frozenset({Tag.SEQUENCE, Tag.DICT})
_MAX_CALLERS = 5


def seen_by(
    context: FunctionContext, statement: ast.stmt, written: Value, name: str | None, *, views: bool,
    by_user: bool = True,
) -> list[Holder]:  # fmt: skip
    """Who besides `name` still sees what `statement` writes into. An argument of a helper counts where some caller
    keeps what it passes; one of a function that nobody in sight calls is the user's, and counts unless `by_user` is
    off."""
    own = ownership(context.inference, context.function)
    return [
        holder for holder in own.holders(statement, written, name, views=views)
        if holder.kind != "argument" or _kept_by_callers(context, context.reached, holder.name, views, by_user)
    ]  # fmt: skip


def _kept_by_callers(
    context: FunctionContext, reached: Reached, parameter: str, views: bool, by_user: bool, depth: int = 0
) -> bool:
    """Whether somebody outside still holds what `parameter` is given."""
    if not reached.sites:
        return by_user
    if depth >= _MAX_CALLERS:
        return False
    for caller, node in reached.sites:
        call = caller.function.parents.get(node)
        if not (isinstance(call, ast.Call) and call.func is node):
            continue
        argument = passed_arguments(reached.function, call).get(parameter)
        if argument is None:
            continue
        own = ownership(context.inference, caller.function)
        holders = own.holders(
            statement_of(caller.function, call), own.value(argument), None, views=views, at=call
        )
        inner = context.inference.reached.get(caller.function, caller)
        for holder in holders:
            if holder.kind != "argument" or _kept_by_callers(context, inner, holder.name, views, by_user, depth + 1):
                return True
    return False


def statement_of(function: FunctionInfo, node: ast.AST) -> ast.stmt:
    """The innermost statement of `function` that holds `node`."""
    current = node
    while not isinstance(current, ast.stmt):
        current = function.parents[current]
    return current


def named(holders: Iterable[Holder]) -> str:
    """The holders in words."""
    words = []
    for holder in holders:
        if holder.kind == "argument":
            words.append(f"the caller's {holder.name}")
        elif holder.kind == "global":
            words.append(f"the global {holder.name}")
        else:
            words.append(holder.name)
    return " and ".join(dict.fromkeys(words))


def insert_after(context: FunctionContext, rewrite: Rewrite, statement: ast.stmt, lines: list[str]) -> None:
    """Insert lines, given without indentation, below a statement. Raises CannotRewrite where no line can stand."""
    module = context.module
    if not stands_alone(module, statement):
        raise CannotRewrite("it shares its line with others")
    source = module.source
    indent, newline = indent_of(module, statement), source.newline
    starts, last = source.line_starts, last_line(statement)
    if last < len(starts) and (starts[last] < len(source.utf8) or source.utf8.endswith((b"\n", b"\r"))):
        rewrite.insert(starts[last], "".join(f"{indent}{line}{newline}" for line in lines))
    else:
        rewrite.insert(len(source.utf8), "".join(f"{newline}{indent}{line}" for line in lines))
