"""GW303: `del`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, fresh, indent_of, remove_statement, replace_statement


class DelStatement(Rule):
    """`del` does not compile.

    ## What it finds

    `del name`, `del container[key]` and `del object.attribute` in a graph region.

    ## Why

    The compiler knows no such statement (MindSpore 2.7 to 2.10): `RuntimeError: Unsupported statement 'Delete'.`

    ## Example

        y = x * 2
        z = y + 1
        del y
        return z

    becomes

        y = x * 2
        z = y + 1
        return z

    An element of a dict or list is left out of a new one: `del d["a"]` becomes
    `d = {key: value for key, value in d.items() if key != "a"}`.

    ## What the rewrite assumes

    That a deleted name is not read afterwards, which would raise.

    ## When it is unsafe

    For elements: the container is a new one, and other names for it still hold the element; a missing key does not
    raise. Attributes are left to a person.

    ## References

    Measured on MindSpore 2.10.0 CPU. A graph frees what it no longer needs by itself.
    """

    code = "GW303"
    name = "del-statement"
    consequence = Consequence.ERROR
    triggers = (b"del ", b"del(")
    nodes = (ast.Delete,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Delete)
        yield context.finding(self, node, "del does not compile", fixes=(_fix(node, context),))


def _fix(node: ast.Delete, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    targets = [t for target in node.targets for t in _flat(target)]
    title = "Drop the del" if all(isinstance(t, ast.Name) for t in targets) else "Build the container without it"
    try:
        lines = [_without(t, context) for t in targets if not isinstance(t, ast.Name)]
        if not lines:
            remove_statement(context, rewrite, node)
            return rewrite.safe(title)
        indent = indent_of(context.module, node)
        replace_statement(context, rewrite, node, [indent + line for line in lines])
    except CannotRewrite as reason:
        return context.rewrite().manual("Do without the del", f"not changed by itself: {reason}")
    return rewrite.unsafe(title, "the container is a new one: other names for it keep the element")


def _flat(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return [t for element in target.elts for t in _flat(element)]
    return [target]


def _without(target: ast.expr, context: FunctionContext) -> str:
    """The statement that gives the container's name a container without the element. Raises CannotRewrite."""
    if not isinstance(target, ast.Subscript):
        advice = "keep the value in a local variable instead"
        raise CannotRewrite(f"an attribute cannot be taken away from an object in a graph; {advice}")
    holder = target.value
    if not isinstance(holder, ast.Name):
        raise CannotRewrite(f"{context.text(holder)} is no local variable, so a graph cannot put a new container there")
    name, index = holder.id, target.slice
    tag = context.kind(holder).tag
    text = context.text(index)
    literal = index.value if isinstance(index, ast.Constant) else None
    if tag is Tag.DICT or isinstance(literal, str):
        key = fresh(context, "key")
        value = fresh(context, "value")
        return f"{name} = {{{key}: {value} for {key}, {value} in {name}.items() if {key} != {text}}}"
    if tag not in (Tag.SEQUENCE, Tag.SHAPE):
        raise CannotRewrite(f"whether {name} is a dict or a list is not seen")
    if isinstance(index, ast.Slice):
        if index.step is not None:
            raise CannotRewrite("the slice has a step")
        head = f"{name}[:{context.text(index.lower)}]" if index.lower else ""
        tail = f"{name}[{context.text(index.upper)}:]" if index.upper else ""
        return f"{name} = {' + '.join(filter(None, (head, tail))) or '[]'}"
    if isinstance(index, ast.Constant) and isinstance(literal, int):
        return f"{name} = {name}[:{literal}] + {name}[{literal + 1}:]"
    if isinstance(index, ast.UnaryOp) and text == "-1":
        return f"{name} = {name}[:-1]"
    if isinstance(index, ast.Name):
        return f"{name} = {name}[:{text}] + {name}[{text} + 1:]"
    raise CannotRewrite("the index is not simple")
