"""GW401: sets."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._python import is_builtin, traced_name


class SetInGraph(Rule):
    """A set in braces does not compile.

    ## What it finds

    `{1, 2}` and `{f(i) for i in values}` in a graph region. `set((1, 2))`, `frozenset(...)` and sets made outside of
    the graph compile, and are left alone.

    ## Why

    The compiler knows no such expression (MindSpore 2.7 to 2.10):

        RuntimeError: Unsupported expression 'Set'.
        RuntimeError: Unsupported expression 'SetComp'.

    ## Example

        if self.kind in {"relu", "gelu"}:

    becomes

        if self.kind in ("relu", "gelu"):

    and elsewhere `{1, 2}` becomes `set((1, 2))`, which Python makes while the graph is compiled.

    ## What the rewrite assumes

    That the elements are constants: a set of Tensors stays unknown to the compiler, and becomes a tuple.

    ## When it is unsafe

    When an element depends on a Tensor: the tuple may hold equal elements twice.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW401"
    name = "set-in-graph"
    consequence = Consequence.ERROR
    triggers = (b"{",)
    nodes = (ast.Set, ast.SetComp)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, (ast.Set, ast.SetComp))
        what = "a set in braces" if isinstance(node, ast.Set) else "a set comprehension"
        yield context.finding(self, node, f"{what} does not compile", fixes=(_fix(node, context),))


def _fix(node: ast.Set | ast.SetComp, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    parent = context.parent(node)
    inner = context.text(node)[1:-1].strip()
    traced = traced_name(node, context)
    if isinstance(node, ast.Set):
        comma = "," if len(node.elts) == 1 and not inner.endswith(",") else ""
        sequence = f"({inner}{comma})"
    else:
        sequence = f"[{inner}]"
    if isinstance(parent, ast.Compare) and node in parent.comparators and _tests_membership(parent, node):
        rewrite.replace(node, sequence, parent)
        return rewrite.safe("Test membership in a sequence")
    if not traced and is_builtin(ast.Name("set", ast.Load()), context):
        if isinstance(parent, ast.Call) and parent.args == [node] and isinstance(parent.func, ast.Name):
            if parent.func.id in ("set", "frozenset") and is_builtin(parent.func, context):
                rewrite.replace(node, sequence, parent)
                return rewrite.safe("Make it of a sequence")
        rewrite.replace(node, f"set({sequence})", parent)
        return rewrite.safe("Make it with set()")
    rewrite.replace(node, sequence, parent)
    return rewrite.unsafe("Use a sequence", "equal elements are not merged, and a tuple has no methods of a set")


def _tests_membership(parent: ast.Compare, node: ast.expr) -> bool:
    return isinstance(parent.ops[parent.comparators.index(node)], (ast.In, ast.NotIn))
