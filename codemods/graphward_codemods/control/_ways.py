"""The values that two ways of a condition leave, paired: what a graph has to join."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite

from .._blocks import CannotRewrite, indent_of, insert_before, remove_statement, replace_statement, siblings
from .._python import literal_number
from ._traced import assigned_before, traced_test, value_before

_LOOPS = (ast.For, ast.While)


@dataclass(frozen=True)
class Pair:
    """The values of both ways. `what` names the thing, a variable or the returned value. `loop` is the loop between a
    branch and the assignment that holds on the other way."""

    what: str
    first: ast.expr
    second: ast.expr
    loop: ast.stmt | None = None


def pairs(node: ast.If | ast.IfExp, context: FunctionContext) -> Iterator[Pair]:
    """The pairs of a condition; of tuples written out on both ways, those of their elements."""
    for pair in whole_pairs(node, context):
        yield from _spread(pair)


def _spread(pair: Pair) -> Iterator[Pair]:
    first, second = pair.first, pair.second
    if isinstance(first, (ast.Tuple, ast.List)) and isinstance(second, (ast.Tuple, ast.List)):
        starred = any(isinstance(e, ast.Starred) for e in first.elts + second.elts)
        if len(first.elts) == len(second.elts) and not starred:
            for i, (one, other) in enumerate(zip(first.elts, second.elts, strict=True)):
                yield from _spread(Pair(f"element {i} of {pair.what}", one, other, pair.loop))
        return
    yield pair


def whole_pairs(node: ast.If | ast.IfExp, context: FunctionContext) -> Iterator[Pair]:
    """The pairs of a condition, tuples as one value."""
    if isinstance(node, ast.IfExp):
        parent = context.parent(node)
        named = isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name)
        yield Pair(parent.targets[0].id if named else "the value", node.body, node.orelse)  # type: ignore[union-attr]
        return
    later = node.orelse
    first = _assigned(node.body, context)
    while len(later) == 1 and isinstance(later[0], ast.If):
        # An elif: its arm is one of the ways too.
        arm = _assigned(later[0].body, context)
        for name, value in first.items():
            if name in arm:
                yield Pair(name, value, arm[name])
        later = later[0].orelse
    second = _assigned(later, context)
    for name in sorted(first.keys() | second.keys()):
        one, other = first.get(name), second.get(name)
        if one is not None and other is not None:
            yield Pair(name, one, other)
        elif not (_leaves(later) and other is None) and not (_leaves(node.body) and one is None):
            if later is node.orelse:
                yield from _with_before(name, one, other, node, context)
    for name, value in sorted(_added(node.body).items()):
        before = assigned_before(name, node, context)
        if before is not None and literal_number(before.value) is not None and not _stores(node.orelse, name):
            yield Pair(name, value, before.value, _loop_between(before, node, context))
    yield from _both_returned(node, context)


def _with_before(
    name: str, one: ast.expr | None, other: ast.expr | None, node: ast.If, context: FunctionContext
) -> Iterator[Pair]:
    """A name that one way assigns only: on the other it keeps what it had."""
    bound = value_before(name, node, context)
    if bound is None:
        return
    before, value = bound
    loop = None
    if context.parent(before) is not context.parent(node):
        # A loop starts with what was assigned before it: that is one of the types in its first round.
        loop = _loop_between(before, node, context)
        if loop is None or literal_number(value) is None:
            return
    yield Pair(name, one or value, other or value, loop)


def _loop_between(before: ast.stmt, node: ast.stmt, context: FunctionContext) -> ast.stmt | None:
    """The outermost loop that `node` is inside and `before` is not."""
    around, found = context.parent(before), None
    current = context.parent(node)
    while current is not None and current is not around:
        if isinstance(current, _LOOPS):
            found = current
        current = context.parent(current)
    return found


def _both_returned(node: ast.If, context: FunctionContext) -> Iterator[Pair]:
    left, right = _returned(node.body), _returned(node.orelse)
    if left is None:
        return
    if right is None and not node.orelse:
        block = siblings(context, node)
        after = block[block.index(node) + 1 :]
        if len(after) == 1:
            right = _returned(after)
        elif not after and block is context.function.node.body:
            # What falls off the end of a function returns None.
            right = ast.Constant(None)
    if right is not None:
        yield Pair("what is returned", left, right)


def _assigned(body: list[ast.stmt], context: FunctionContext) -> dict[str, ast.expr]:
    """The names that a branch gives a value by a plain assignment of its own, with the last one; of a condition on a
    Tensor in it, whose ways have one type, either will do."""
    found: dict[str, ast.expr] = {}
    for statement in body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
            if isinstance(target, ast.Name):
                found[target.id] = value
                continue
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
                if all(isinstance(t, ast.Name) for t in target.elts):
                    found |= {t.id: v for t, v in zip(target.elts, value.elts, strict=True)}  # type: ignore[attr-defined]
                    continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.pop(node.id, None)
        if isinstance(statement, ast.If) and traced_test(statement.test, context):
            one, other = _assigned(statement.body, context), _assigned(statement.orelse, context)
            found |= {n: other[n] if literal_number(v) is not None else v for n, v in one.items() if n in other}
    return {} if _leaves(body) else found


def _added(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """Names that a branch does nothing with but `name += value`."""
    added = [s for s in body if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name)]
    found = {s.target.id: s.value for s in added}  # type: ignore[union-attr]
    counts = {name: sum(_stores([s], name) for s in body) for name in found}
    return {} if _leaves(body) else {name: value for name, value in found.items() if counts[name] == 1}


def _stores(body: list[ast.stmt], name: str) -> bool:
    return any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for s in body for n in ast.walk(s)
    )


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise, ast.Break, ast.Continue))


def _returned(body: list[ast.stmt]) -> ast.expr | None:
    return body[-1].value if body and isinstance(body[-1], ast.Return) else None


def keep_condition(
    pair: Pair, node: ast.If | ast.IfExp, chosen: str, context: FunctionContext, rewrite: Rewrite
) -> None:
    """Leave the condition in `chosen` in the place of the choice, and the choice away. Raises CannotRewrite."""
    test = context.text(node.test)
    if "\n" in test:
        raise CannotRewrite("the condition runs over several lines")
    statement = context.statement(node)
    line = f"{chosen} = {test}"
    if isinstance(node, ast.IfExp):
        replace_statement(context, rewrite, statement, [indent_of(context.module, statement) + line])
        return
    assignments = [context.statement(v) for v in (pair.first, pair.second)]
    outside = [s for s in assignments if s not in (*node.body, *node.orelse)]
    if len(outside) > 1 or any(isinstance(s, ast.If) for s in node.orelse):
        raise CannotRewrite("there are more than two ways")
    if len(node.body) <= 1 and len(node.orelse) <= 1:
        replace_statement(context, rewrite, node, [indent_of(context.module, node) + line])
    else:
        insert_before(context, rewrite, node, [line])
        rewrite.replace(node.test, chosen, node)
        for assignment in assignments:
            if assignment not in outside:
                remove_statement(context, rewrite, assignment)
    for assignment in outside:
        remove_statement(context, rewrite, assignment)
