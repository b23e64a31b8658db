"""GW428: `issubclass(type(x), ...)`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from .._python import is_builtin, traced_name


class SubclassOfType(Rule):
    """`issubclass(type(x), C)` of a traced value is left to the Python interpreter.

    ## What it finds

    `issubclass(type(x), C)` and `issubclass(x.__class__, C)` in a graph region where `x` is a Tensor or holds some.
    `issubclass` of classes that the compiler knows is folded, and is left alone.

    ## Why

    MindSpore 2.7 to 2.10, with `fullgraph=True`:

        ValueError: When handling script 'issubclass(type(x), Tensor) in graph mode', the inputs should be constant

    ## Example

        if issubclass(type(x), Tensor):

    becomes

        if isinstance(x, Tensor):

    ## What the rewrite assumes

    That no class overrides `__class__` or `__instancecheck__`.

    ## When it is unsafe

    Never otherwise.

    ## References

    `isinstance`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW428"
    name = "subclass-of-type"
    consequence = Consequence.FALLBACK
    triggers = (b"issubclass(",)
    nodes = (ast.Call,)
    names = frozenset({"issubclass"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, ast.Name) or len(node.args) != 2 or node.keywords:
            return
        value = _instance(node.args[0])
        if value is None or not is_builtin(node.func, context):
            return
        traced = traced_name(value, context)
        if not traced:
            return
        rewrite = context.rewrite()
        text = f"isinstance({context.text(value)}, {context.text(node.args[1])})"
        rewrite.replace(node, text, context.parent(node))
        message = "issubclass() of a traced value's type is left to the Python interpreter"
        yield context.finding(self, node, message, evidence=(traced,), fixes=(rewrite.safe("Use isinstance"),))


def _instance(node: ast.expr) -> ast.expr | None:
    """`x` of `type(x)` and of `x.__class__`."""
    if isinstance(node, ast.Attribute) and node.attr == "__class__":
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type":
        return node.args[0] if len(node.args) == 1 and not node.keywords else None
    return None
