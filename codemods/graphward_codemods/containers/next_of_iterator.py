"""GW406: `next`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import siblings
from .._python import is_builtin

_VIEWS = frozenset({"keys", "values", "items"})


class NextOfIterator(Rule):
    """`next` gives a pair in a graph, and the iterator does not move.

    ## What it finds

    `next(...)` in a graph region. `iter` in the head of a loop compiles, and is left alone.

    ## Why

    The graph form of `next` returns the element together with what is left (MindSpore 2.7 to 2.10): the value is
    silently a tuple. A second argument, or keys of a dict, do not compile.

    ## Example

        it = iter((a, b))
        first = next(it)
        second = next(it)

    becomes

        it = (a, b)
        first = it[0]
        second = it[1]

    `next(iter(values))` becomes `values[0]`, of a dict `list(values.keys())[0]`; `next(t for t in values if t)` becomes
    `[t for t in values if t][0]`.

    ## What the rewrite assumes

    That what is iterated over has an index: a tuple, list, CellList or Tensor.

    ## When it is unsafe

    When the kind of the iterable is not known, and where an IndexError takes the place of StopIteration.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW406"
    name = "next-of-iterator"
    consequence = Consequence.DIVERGENCE
    triggers = (b"next(",)
    nodes = (ast.Call,)
    names = frozenset({"next"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not (isinstance(node.func, ast.Name) and node.func.id == "next" and node.args and not node.keywords):
            return
        if not is_builtin(node.func, context):
            return
        message = "next() gives the element and the rest, and the iterator stays where it is"
        consequence = Consequence.ERROR if len(node.args) > 1 else Consequence.DIVERGENCE
        yield context.finding(self, node, message, fixes=(_fix(node, context),), consequence=consequence)


def _fix(node: ast.Call, context: FunctionContext) -> Fix:
    source = node.args[0]
    default = node.args[1] if len(node.args) > 1 else None
    if isinstance(source, ast.Name):
        fix = _counted(source, default, context)
        if fix is not None:
            return fix
    sequence, certain = _sequence(source, context)
    rewrite = context.rewrite()
    if not sequence:
        manual = "take the elements of the tuple or list by index: an iterator has no state in a graph"
        return rewrite.manual("Use an index", manual)
    text = f"{sequence}[0]"
    if default is not None:
        text = f"{text} if len({sequence}) > 0 else {context.text(default)}"
    rewrite.replace(node, text, context.parent(node))
    title = "Take the first element"
    if certain and default is None:
        return rewrite.safe(title)
    reason = "what is iterated over is taken for something with an index"
    return rewrite.unsafe(title, reason if not certain else "it is evaluated twice")


def _sequence(node: ast.expr, context: FunctionContext) -> tuple[str, bool]:
    """The text of a sequence with the elements of an iterator or iterable, and whether it surely is one; or ""."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "iter":
        if len(node.args) != 1 or not is_builtin(node.func, context):
            return "", False
        node = node.args[0]
        kind = context.kind(node)
        if kind.tag is Tag.DICT:
            return f"list({context.text(node)}.keys())", True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
            return f"list({context.text(node)})", True
        text = context.text(node)
        if isinstance(node, (ast.BinOp, ast.IfExp, ast.BoolOp, ast.Compare, ast.UnaryOp, ast.Lambda)):
            text = f"({text})"
        certain = kind.certain and (kind.is_tensor or kind.tag in (Tag.SEQUENCE, Tag.SHAPE, Tag.CELLS))
        return text, certain
    if isinstance(node, ast.GeneratorExp):
        text = context.text(node)
        inner = text[1:-1] if text.startswith("(") else text
        return f"[{inner}]", True
    return "", False


def _counted(source: ast.Name, default: ast.expr | None, context: FunctionContext) -> Fix | None:
    """`it = iter(values)` and `next(it)` in the statements that follow, without a branch or loop between them."""
    uses = [n for n in context.function.nodes if isinstance(n, ast.Name) and n.id == source.id]
    stores = [n for n in uses if isinstance(n.ctx, ast.Store)]
    if len(stores) != 1 or default is not None:
        return None
    made = context.parent(stores[0])
    if not (isinstance(made, ast.Assign) and len(made.targets) == 1):
        return None
    sequence, certain = _sequence(made.value, context)
    if not sequence:
        return None
    block = siblings(context, made)
    rewrite = context.rewrite()
    rewrite.replace(made.value, sequence, made)
    loads = sorted((n for n in uses if n is not stores[0]), key=context.module.start)
    for position, load in enumerate(loads):
        call = context.parent(load)
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "next"):
            return None
        if len(call.args) != 1 or context.statement(call) not in block:
            return None
        rewrite.replace(call, f"{source.id}[{position}]", context.parent(call))
    title = "Take the elements by index"
    if certain:
        return rewrite.safe(title)
    return rewrite.unsafe(title, "what is iterated over is taken for something with an index")
