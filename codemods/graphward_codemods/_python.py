"""What the rules on Python's own names and values share: built-in functions, and what the compiler cannot fold."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from graphward.analysis.kinds import NO_VALUE, Kind, Tag
from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext

_MESSAGES = frozenset(
    {"print", "warn", "debug", "info", "warning", "warning_once", "error", "critical", "exception", "log"}
)
_LATER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def is_builtin(name: ast.expr, context: FunctionContext) -> bool:
    """Whether a bare name, which Python has built in, is hidden by nothing here."""
    if not isinstance(name, ast.Name):
        return False
    module, names = context.module, context.function.names
    if name.id in module.definitions or name.id in module.assignments:
        return False
    return names.lookup(name.id) is None and not names.is_local(name.id)


def traced_name(node: ast.AST, context: FunctionContext) -> str:
    """The first variable or attribute in an expression that is a traced value, and what is known of it; else "".

    What Python's own functions are called with goes to the interpreter as a script, which takes part in compiling
    only while every name in it is a constant: `any([x.ndim == 2])` is refused for `x`, although `x.ndim` is known.
    """
    for part in preorder(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            kind = context.kind(part)
            if kind.variable or kind.tag is Tag.PARAMETER:
                return kind.evidence or f"{part.id} is a {kind.tag.value} of the graph"
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            kind = context.kind(part)
            if part.value.id == context.function.receiver and (kind.is_tensor or kind.variable):
                return kind.evidence or f"self.{part.attr} is a {kind.tag.value}"
    return ""


def literal_number(node: ast.expr | None) -> int | float | bool | None:
    """The value of a literal number, a sign included."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = literal_number(node.operand)
        return None if inner is None or isinstance(inner, bool) else -inner
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    return None


def is_string(kind: Kind, node: ast.expr) -> bool:
    """Whether an expression is a string of Python's that the compiler knows."""
    if isinstance(node, ast.JoinedStr):
        return True
    return kind.tag is Tag.CONSTANT and (isinstance(kind.value, str) or (kind.value is NO_VALUE and kind.name == "str"))


def is_message(node: ast.AST, context: FunctionContext) -> bool:
    """Whether an expression only makes text for people: it stands in a `raise`, `assert`, `print`, log or warning."""
    parent = context.parent(node)
    while parent is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, ast.Call):
            func = parent.func
            called = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
            if called in _MESSAGES:
                return True
        parent = context.parent(parent)
    return isinstance(parent, (ast.Raise, ast.Assert))


def self_attribute(node: ast.AST, receiver: str | None) -> str | None:
    """`name` of `self.name`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == receiver:
        return node.attr
    return None


def values_of(nodes: Iterable[ast.AST], name: str) -> list[ast.expr]:
    """What the plain assignments among nodes give a variable."""
    return [
        n.value for n in nodes
        if isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in n.targets)
    ]  # fmt: skip


def display(items: Sequence[str]) -> str:
    """What stands between the parentheses of a tuple: `a, b`, and `a,` of one."""
    return f"{', '.join(items)}{',' if len(items) == 1 else ''}"


def is_later(node: ast.AST, context: FunctionContext) -> bool:
    """Whether an expression stands in a lambda or comprehension: no statement can be put before it."""
    parent = context.parent(node)
    while parent is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, _LATER):
            return True
        parent = context.parent(parent)
    return False


def read_after(name: str, statement: ast.stmt, context: FunctionContext) -> bool:
    """Whether a local variable may be read after a statement: below it, or anywhere in a loop around it."""
    parent = context.parent(statement)
    while parent is not None:
        if isinstance(parent, (ast.For, ast.While)):
            return True
        parent = context.parent(parent)
    end = context.module.end(statement)
    return any(
        isinstance(n, ast.Name) and n.id == name and context.module.start(n) >= end for n in context.function.nodes
    )


def split_comprehension(node: ast.GeneratorExp | ast.ListComp, context: FunctionContext) -> tuple[str, str]:
    """The text of the element, brackets around it included, and the rest from the first `for` on."""
    module = context.module
    data = module.source.utf8
    start, end = module.start(node) + 1, module.end(node) - 1
    first = data.rindex(b"for", start, module.start(node.generators[0].target))
    return data[start:first].decode().strip(), data[first:end].decode().strip()
