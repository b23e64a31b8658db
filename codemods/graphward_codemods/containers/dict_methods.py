"""GW403: methods of dicts that have no graph form."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, fresh, indent_of, insert_before, replace_statement, step_of
from .._python import is_later, read_after

_METHODS = frozenset({"pop", "popitem", "setdefault", "copy", "update"})


class DictMethods(Rule):
    """`pop`, `setdefault`, `copy` and `popitem` of a dict have no graph form.

    ## What it finds

    `d.pop(key)`, `d.setdefault(key, value)`, `d.popitem()`, `d.copy()` and `d.update(key=value)` on a dict in a graph
    region, `kwargs` of a helper among them. `get`, `keys`, `values`, `items`, `clear` and `update(other)` compile.

    ## Why

    MindSpore 2.7 to 2.10, with `fullgraph=True`:

        AttributeError: In JIT strict mode, cannot get attributes pop or the Dictionary[...] object has no attribute

    At the default syntax level `pop` silently gives something else, or fails as `setdefault` does.

    ## Example

        scale = kwargs.pop("scale", 1.0)
        return self.attend(x * scale, **kwargs)

    becomes

        scale = kwargs.get("scale", 1.0)
        kwargs = {key: value for key, value in kwargs.items() if key != "scale"}
        return self.attend(x * scale, **kwargs)

    ## What the rewrite assumes

    That no other variable holds the same dict and sees it change.

    ## When it is unsafe

    Always where the dict is bound anew, for that reason; and when the kind of the dict is not known.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW403"
    name = "dict-methods"
    consequence = Consequence.ERROR
    triggers = (b".pop(", b".popitem(", b".setdefault(", b".copy(", b".update(")
    nodes = (ast.Call,)
    names = _METHODS

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not (isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS):
            return
        method, holder = node.func.attr, node.func.value
        if method == "update" and not node.keywords:
            return
        kind = context.kind(holder)
        if kind.tag is not Tag.DICT and not (kind.tag is Tag.UNKNOWN and _is_sure(node, method)):
            return
        if isinstance(holder, ast.Attribute):
            return
        message = f"{method}() of a dict has no graph form"
        consequence = Consequence.FALLBACK if method in ("copy", "popitem") else Consequence.ERROR
        if method == "pop" and kind.variable and not read_after(_name(holder), context.statement(node), context):
            consequence = Consequence.FALLBACK
        try:
            fix = _FIXES[method](node, holder, context)
        except CannotRewrite as reason:
            fix = context.rewrite().manual("Bind a new dict", str(reason))
        yield context.finding(self, node, message, evidence=(kind.evidence,), fixes=(fix,), consequence=consequence)


def _is_sure(node: ast.Call, method: str) -> bool:
    """Whether only a dict can have been meant: `pop` with a string for a key."""
    if method == "setdefault":
        return True
    first = node.args[0] if node.args else None
    return method == "pop" and isinstance(first, ast.Constant) and isinstance(first.value, str)


def _name(holder: ast.expr) -> str:
    return holder.id if isinstance(holder, ast.Name) else ""


def _pop(node: ast.Call, holder: ast.expr, context: FunctionContext) -> Fix:
    if not node.args or node.keywords:
        raise CannotRewrite("pop is called without a key")
    name = context.text(holder)
    key = context.text(node.args[0])
    statement = context.statement(node)
    if len(node.args) > 1:
        value = f"{name}.get({key}, {context.text(node.args[1])})"
    else:
        value = f"{name}[{key}]"
    rewrite = context.rewrite()
    if not isinstance(holder, ast.Name) or not _used_again(holder, node, statement, context):
        if isinstance(statement, ast.Expr):
            value = f"{name}.get({key})" if len(node.args) == 1 else value
        rewrite.replace(node, value, context.parent(node))
        return rewrite.unsafe("Read the entry", "the dict keeps it")
    k, v = fresh(context, "key"), fresh(context, "value")
    rest = f"{name} = {{{k}: {v} for {k}, {v} in {name}.items() if {k} != {key}}}"
    title = "Bind a dict without the entry"
    reason = "another variable that holds the dict still has the entry"
    indent = indent_of(context.module, statement)
    if isinstance(statement, ast.Expr) and statement.value is node:
        replace_statement(context, rewrite, statement, [indent + rest])
    elif isinstance(statement, ast.Assign) and statement.value is node:
        targets = " = ".join(context.text(t) for t in statement.targets)
        replace_statement(context, rewrite, statement, [f"{indent}{targets} = {value}", indent + rest])
    else:
        if is_later(node, context):
            raise CannotRewrite("it stands in a lambda or comprehension")
        popped = fresh(context, "popped")
        insert_before(context, rewrite, statement, [f"{popped} = {value}", rest])
        rewrite.replace(node, popped, context.parent(node))
    return rewrite.unsafe(title, reason)


def _used_again(holder: ast.Name, node: ast.Call, statement: ast.stmt, context: FunctionContext) -> bool:
    if read_after(holder.id, statement, context):
        return True
    inside = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == holder.id and n is not holder]
    return bool(inside)


def _setdefault(node: ast.Call, holder: ast.expr, context: FunctionContext) -> Fix:
    if not node.args or node.keywords or is_later(node, context):
        raise CannotRewrite("no statement can be put before it")
    name, key = context.text(holder), context.text(node.args[0])
    value = context.text(node.args[1]) if len(node.args) > 1 else "None"
    statement = context.statement(node)
    rewrite = context.rewrite()
    lines = [f"if {key} not in {name}:", f"{step_of(context.function)}{name}[{key}] = {value}"]
    if isinstance(statement, ast.Expr) and statement.value is node:
        indent = indent_of(context.module, statement)
        replace_statement(context, rewrite, statement, [indent + line for line in lines])
    else:
        insert_before(context, rewrite, statement, lines)
        rewrite.replace(node, f"{name}[{key}]", context.parent(node))
    return rewrite.unsafe("Assign the entry if it is missing", "the value is computed only if it is missing")


def _copy(node: ast.Call, holder: ast.expr, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    # `{**d}` alone gives the compiler a dict of tuples.
    k, v = fresh(context, "key"), fresh(context, "value")
    rewrite.replace(node, f"{{{k}: {v} for {k}, {v} in {context.text(holder)}.items()}}", context.parent(node))
    title = "Copy with a comprehension"
    if context.kind(holder).tag is Tag.DICT:
        return rewrite.safe(title)
    return rewrite.unsafe(title, "it is taken for a dict")


def _update(node: ast.Call, holder: ast.expr, context: FunctionContext) -> Fix:
    parts = [f"**{context.text(a)}" for a in node.args]
    for keyword in node.keywords:
        value = context.text(keyword.value)
        parts.append(f'"{keyword.arg}": {value}' if keyword.arg else f"**{value}")
    rewrite = context.rewrite()
    rewrite.replace(node, f"{context.text(holder)}.update({{{', '.join(parts)}}})", context.parent(node))
    return rewrite.safe("Give update a dict")


def _popitem(node: ast.Call, holder: ast.expr, context: FunctionContext) -> Fix:
    raise CannotRewrite("read the entry by its key: which one is the last has to be known while compiling")


_FIXES = {"pop": _pop, "setdefault": _setdefault, "copy": _copy, "update": _update, "popitem": _popitem}
