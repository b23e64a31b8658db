"""GW434: `+=` of a list with something that is no list."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Kind, Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from .._python import is_builtin, values_of

_LAZY = frozenset({"range", "zip", "map", "enumerate", "reversed", "filter"})


class ListPlusOther(Rule):
    """`+=` of a list takes nothing but a list.

    ## What it finds

    `parts += (a, b)`, `sizes += x.shape` and `sizes += range(3)` in a graph region, where `parts` and `sizes` were made
    as lists. With a list on the right side it compiles, and is left alone.

    ## Why

    In Python the statement extends the list with the elements of anything; the compiler adds the two values, as `a + b`
    would (MindSpore 2.7 to 2.10):

        TypeError: can only concatenate list (not "tuple") to list
        ValueError: When handling script '__input_key_0__ + __input_key_1__ in graph mode', the inputs should be

    ## Example

        sizes += x.shape

    becomes

        sizes += list(x.shape)

    ## What the rewrite assumes

    Nothing.

    ## When it is unsafe

    Never.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW434"
    name = "list-plus-other"
    consequence = Consequence.ERROR
    triggers = (b"+=",)
    nodes = (ast.AugAssign,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.AugAssign)
        if not (isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name)):
            return
        value = node.value
        if isinstance(value, (ast.List, ast.ListComp, ast.Constant)):
            return
        kind = context.kind(node.target)
        if kind.tag not in (Tag.SEQUENCE, Tag.SHAPE) or kind.name == "tuple":
            return
        if not _is_no_list(value, context.kind(value), context) or not _is_list(node.target, context):
            return
        module = context.module
        rewrite = context.rewrite()
        if isinstance(value, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in value.elts):
            elements = ", ".join(context.text(e).strip() for e in value.elts)
            rewrite.replace_span(module.start(value), module.end(value), f"[{elements}]")
        else:
            rewrite.insert(module.start(value), "list(")
            rewrite.insert(module.end(value), ")")
        message = "+= of a list in a graph takes a list on its right side only"
        yield context.finding(self, node, message, evidence=(kind.evidence,), fixes=(rewrite.safe("Add a list"),))


def _is_list(target: ast.Name, context: FunctionContext) -> bool:
    """Whether all that the function binds to a name is a list, as it is written."""
    bound = values_of(context.function.nodes, target.id)
    stores = [n for n in context.function.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    others = [n for n in stores if n.id == target.id and not isinstance(context.parent(n), (ast.Assign, ast.AugAssign))]
    return bool(bound) and not others and all(_makes_a_list(v, context) for v in bound)


def _makes_a_list(value: ast.expr, context: FunctionContext) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "list":
        return is_builtin(value.func, context)
    return isinstance(value, (ast.List, ast.ListComp))


def _is_no_list(value: ast.expr, kind: Kind, context: FunctionContext) -> bool:
    if isinstance(value, ast.Tuple):
        return True
    if kind.tag is Tag.SHAPE:
        # `list(x.shape)` is a shape to the analysis too.
        while isinstance(value, ast.Subscript):
            value = value.value
        return isinstance(value, ast.Attribute) and value.attr == "shape"
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _LAZY:
        return is_builtin(value.func, context)
    return kind.tag is Tag.SEQUENCE and kind.name == "tuple"
