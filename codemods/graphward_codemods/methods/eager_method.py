"""GW112: methods of Tensors that exist in PyNative only."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

_OPERATORS = {"approximate_equal": "mindspore.ops.approximate_equal"}


class EagerMethod(Rule):
    """A method of Tensor that a graph does not have is left to the Python interpreter.

    ## What it finds

    `x.approximate_equal(y)` on a Tensor in a graph region.

    ## Why

    MindSpore 2.7 to 2.10, with `fullgraph=True`:

        AttributeError: In JIT strict mode, cannot get attributes approximate_equal

    At the default syntax level it is called at run time. The operator of the same name compiles.

    ## Example

        return x.approximate_equal(y)

    becomes

        return ops.approximate_equal(x, y)

    ## What the rewrite assumes

    Nothing: the method calls the operator.

    ## When it is unsafe

    When it is not known that the object is a Tensor.

    ## References

    `mindspore.ops.approximate_equal`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW112"
    name = "eager-method"
    consequence = Consequence.FALLBACK
    triggers = tuple(f".{name}(".encode() for name in sorted(_OPERATORS))
    nodes = (ast.Call,)
    names = frozenset(_OPERATORS)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not (isinstance(node.func, ast.Attribute) and node.func.attr in _OPERATORS):
            return
        kind = context.kind(node.func.value)
        if not (kind.is_tensor or kind.variable) or context.resolve(node.func) is not None:
            return
        rewrite = context.rewrite()
        operator = rewrite.spell(_OPERATORS[node.func.attr])
        parts = [node.func.value, *node.args]
        texts = [context.text(p) for p in parts] + [context.text(k) for k in node.keywords]
        rewrite.replace(node, f"{operator}({', '.join(texts)})", context.parent(node))
        title = "Use the operator"
        fix = rewrite.safe(title) if kind.is_tensor else rewrite.unsafe(title, "the object is taken for a Tensor")
        message = f"{node.func.attr}() is no method of Tensors in a graph"
        yield context.finding(self, node, message, evidence=(kind.evidence,), fixes=(fix,))
