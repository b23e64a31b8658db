"""GW118: a `map`, `filter`, `zip` or `enumerate` that leaves the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from .._python import is_builtin

_LAZY = frozenset({"map", "filter", "zip", "enumerate", "iter"})


class MapReturned(Rule):
    """An iterator that a graph returns is a tuple.

    ## What it finds

    `return map(...)`, `filter`, `zip`, `enumerate` or `iter`, also through a variable, from a graph region itself.
    Inside of the graph they compile, and are left alone.

    ## Why

    The graph forms make tuples (MindSpore 2.7 to 2.10): what the caller gets has a length and an index, and can be
    iterated over more than once, where PyNative gives an iterator.

    ## Example

        return map(self.act, (x, y))

    becomes

        return tuple(map(self.act, (x, y)))

    ## What the rewrite assumes

    That the caller iterates once, or takes the elements apart.

    ## When it is unsafe

    It is shown and never applied: the caller gets another type in PyNative.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW118"
    name = "map-returned"
    consequence = Consequence.DIVERGENCE
    triggers = (b"map(", b"filter(", b"zip(", b"enumerate(", b"iter(")
    nodes = (ast.Return,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Return)
        if context.reached.region.root is not context.function or node.value is None:
            return
        value: ast.expr | None = node.value
        if isinstance(value, ast.Name):
            value = _only_value(value.id, context)
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _LAZY):
            return
        if not is_builtin(value.func, context):
            return
        rewrite = context.rewrite()
        rewrite.replace(node.value, f"tuple({context.text(node.value)})", node)
        fix = rewrite.manual("Return a tuple", "the caller has to do with a tuple in PyNative too")
        yield context.finding(self, node, f"{value.func.id}() becomes a tuple in a graph", fixes=(fix,))


def _only_value(name: str, context: FunctionContext) -> ast.expr | None:
    stores = [
        n for n in context.function.nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
    ]
    made = context.parent(stores[0]) if len(stores) == 1 else None
    return made.value if isinstance(made, ast.Assign) and made.targets == stores else None
