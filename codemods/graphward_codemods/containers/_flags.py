"""Flags that keep a statement from running unless a caller asks for it."""

from __future__ import annotations

import ast

from graphward.analysis.module import FunctionInfo
from graphward.analysis.names import all_arguments, defaults_of
from graphward.analysis.regions import Reached
from graphward.rules.context import FunctionContext

# Chains of graphs that hand a flag on are short; the bound keeps recursion from running away.
_DEEPEST = 6


def opted_into(node: ast.AST, context: FunctionContext) -> str | None:
    """The parameter whose default keeps `node` from running in every region that comes here. None when there is no
    such parameter, or when what it is in a call is not seen."""
    return _kept_from(node, context.function, context.reached)


def opted_into_when_made(node: ast.AST, initializer: FunctionInfo) -> str | None:
    """The same for a node of `__init__`, where the object is made with the defaults."""
    return _kept_from(node, initializer, None)


def _kept_from(node: ast.AST, function: FunctionInfo, reached: Reached | None) -> str | None:
    child, parent = node, function.parents.get(node)
    while parent is not None and child is not function.node:
        for block in (getattr(parent, "body", None), getattr(parent, "orelse", None)):
            if isinstance(block, list) and child in block:
                for test, value in _conditions(parent, block, child):
                    if _value(test, function, reached, _DEEPEST) is (not value):
                        return test.id
        child, parent = parent, function.parents.get(parent)
    return None


def _conditions(parent: ast.AST, block: list[ast.stmt], child: ast.AST) -> list[tuple[ast.Name, bool]]:
    """Flags, and what each must be for `child`, a statement of the block, to run."""
    tests = [(parent.test, block is parent.body)] if isinstance(parent, ast.If) else []
    for before in block:
        if before is child:
            break
        if isinstance(before, ast.If) and not before.orelse and _leaves(before.body):
            tests.append((before.test, False))
    found = []
    while tests:
        test, value = tests.pop()
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, value = test.operand, not value
        if isinstance(test, ast.Name):
            found.append((test, value))
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is value:
            tests += [(part, value) for part in test.values]  # every part must be so
    return found


def _leaves(block: list[ast.stmt]) -> bool:
    last = block[-1] if block else None
    if isinstance(last, ast.If):
        return _leaves(last.body) and _leaves(last.orelse)
    return isinstance(last, (ast.Return, ast.Raise))


def _value(name: ast.Name, function: FunctionInfo, reached: Reached | None, depth: int) -> bool | None:
    """What a flag is where callers leave it at its default; None when that is not seen."""
    if depth == 0 or name.id not in {a.arg for a in all_arguments(function.node.args)}:
        return None
    for use in function.nodes:
        if isinstance(use, ast.Name) and use.id == name.id and not isinstance(use.ctx, ast.Load):
            if not _fills_none(function.parents.get(use), name.id):
                return None
    default = _default(function, name.id)
    if reached is None or not reached.sites:
        return default
    values = {_passed(caller, site, function, name.id, default, depth) for caller, site in reached.sites}
    return values.pop() if len(values) == 1 else None


def _passed(
    caller: Reached, site: ast.AST, function: FunctionInfo, name: str, default: bool | None, depth: int
) -> bool | None:
    call = caller.function.calls.get(site)
    if call is None or any(k.arg is None for k in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    given = next((k.value for k in call.keywords if k.arg == name), None)
    if given is None:
        positional = [a.arg for a in function.node.args.posonlyargs + function.node.args.args]
        if name in positional and len(call.args) + (not function.is_static) > positional.index(name):
            return None
        return default
    if isinstance(given, ast.Constant):
        return given.value if isinstance(given.value, bool) else None
    return _value(given, caller.function, caller, depth - 1) if isinstance(given, ast.Name) else None


def _fills_none(statement: ast.AST | None, name: str) -> bool:
    """Whether an assignment is `flag = flag if flag is not None else ...`: a flag that is True or False stays."""
    return (
        isinstance(statement, ast.Assign)
        and isinstance(choice := statement.value, ast.IfExp)
        and ast.unparse(choice.test) == f"{name} is not None"
        and isinstance(choice.body, ast.Name)
        and choice.body.id == name
    )


def _default(function: FunctionInfo, name: str) -> bool | None:
    default = defaults_of(function.node.args).get(name)
    return default.value if isinstance(default, ast.Constant) and isinstance(default.value, bool) else None
