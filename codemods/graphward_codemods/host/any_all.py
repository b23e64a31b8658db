"""GW114: `any` and `all` of traced values."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix
from graphward.source.precedence import guarded

from .._python import is_builtin, split_comprehension, traced_name

_TRUTHS = frozenset({"isinstance", "hasattr", "callable", "issubclass", "bool"})


class AnyAll(Rule):
    """`any` and `all` are left to the Python interpreter.

    ## What it finds

    `any(...)` and `all(...)` in a graph region whose argument names a Tensor or a container of Tensors, also where
    only shapes or `is None` are asked for. Of constants they are folded, and are left alone.

    ## Why

    The Python interpreter calls them with every name in the argument as an input (MindSpore 2.7 to 2.10):

        ValueError: When handling script 'any(s == 2 for s in x.shape) in graph mode', the inputs should be constant,
        but found variable 'x' to be nonconstant

    At the default syntax level they are called at run time, and a condition on them is no longer known.

    ## Example

        if all([x.shape[0] == 2, x.shape[1] == 3]):
        if any(s == 2 for s in x.shape):

    becomes

        if x.shape[0] == 2 and x.shape[1] == 3:
        if True in [s == 2 for s in x.shape]:

    `any(tensor)` becomes `tensor.any()`; conditions on Tensors in a comprehension become a sum of them.

    ## What the rewrite assumes

    That the result is asked for its truth.

    ## When it is unsafe

    When elements are not known to be `True` or `False`.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW114"
    name = "any-all"
    consequence = Consequence.FALLBACK
    triggers = (b"any(", b"all(")
    nodes = (ast.Call,)
    names = frozenset({"all", "any"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not (isinstance(node.func, ast.Name) and node.func.id in ("any", "all") and len(node.args) == 1):
            return
        if not is_builtin(node.func, context):
            return
        traced = traced_name(node.args[0], context)
        if traced:
            message = f"{node.func.id}() of a traced value is left to the Python interpreter"
            fix = _fix(node, node.args[0], node.func.id == "any", context)
            yield context.finding(self, node, message, evidence=(traced,), fixes=(fix,))


def _fix(node: ast.Call, value: ast.expr, is_any: bool, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    parent = context.parent(node)
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)) and value.elts:
        operator = ast.Or() if is_any else ast.And()
        place = ast.BoolOp(operator, [])
        parts = [guarded(context.text(e), e, place) for e in value.elts]
        text = f" {'or' if is_any else 'and'} ".join(parts)
        rewrite.replace(node, text if len(parts) > 1 else f"bool({parts[0]})", parent)
        if all(_is_truth(e, context) for e in value.elts):
            return rewrite.safe(f"Use {'or' if is_any else 'and'}")
        return rewrite.unsafe(f"Use {'or' if is_any else 'and'}", "the result is an element, not True or False")
    kind = context.kind(value)
    if kind.is_tensor and not isinstance(value, (ast.GeneratorExp, ast.ListComp)):
        text = guarded(context.text(value), value, ast.Attribute(value, "x", ast.Load()))
        rewrite.replace(node, f"{text}.{'any' if is_any else 'all'}()", parent)
        return rewrite.unsafe("Use the Tensor's own method", "the elements of each row are taken together")
    if isinstance(value, (ast.GeneratorExp, ast.ListComp)):
        element, rest = split_comprehension(value, context)
        if context.kind(value.elt).is_tensor:
            text = f"sum([{element} {rest}]) > 0" if is_any else f"sum([1 - ({element}) {rest}]) == 0"
            rewrite.replace(node, text, parent)
            return rewrite.unsafe("Count them", "each condition is taken for a Tensor of one bool")
        if not _is_truth(value.elt, context):
            element = f"bool({element})"
        text = f"True in [{element} {rest}]" if is_any else f"False not in [{element} {rest}]"
        rewrite.replace(node, text, parent)
        return rewrite.safe("Look it up in a list")
    text = f"True in [bool(value) for value in {context.text(value)}]"
    if not is_any:
        text = text.replace("True in", "False not in", 1)
    rewrite.replace(node, text, parent)
    return rewrite.unsafe("Look it up in a list", "the elements are taken for constants of the compiler")


def _is_truth(node: ast.expr, context: FunctionContext) -> bool:
    """Whether an expression is True or False of Python's."""
    if context.kind(node).is_tensor:
        return False
    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.BoolOp):
        return all(_is_truth(v, context) for v in node.values)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in _TRUTHS
    return context.kind(node).tag is Tag.CONSTANT and isinstance(context.kind(node).value, bool)
