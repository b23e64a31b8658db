"""GW611: `jit(...)` called inside a graph."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.knowledge.names import JIT_NAMES
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule


class JitInGraph(Rule):
    """`jit` is called in code that a graph region compiles.

    ## What it finds

    `jit(function)(x)`, `jit(fullgraph=True)(function)` and `step = jit(function)` inside `construct`, a jit function,
    or a function that one of them reaches. A *decorator* `@jit` on a function that a graph calls is accepted: the
    function becomes a part of the graph, as if it had none.

    ## Why

    The compiler would have to compile `jit` itself (MindSpore 2.7 and 2.10):

        RuntimeError: Unsupported statement 'Delete'.

    ## Example

        return jit(self.head)(x)

    becomes

        return self.head(x)

    ## What the rewrite assumes

    Nothing: what a graph calls is part of it.

    ## When it is unsafe

    When options are given, `jit(function, jit_level="O1")`: they are those of the graph around.

    ## References

    `mindspore.jit`. Measured on MindSpore 2.7 and 2.10 CPU.
    """

    code = "GW611"
    name = "jit-in-graph"
    consequence = Consequence.ERROR
    triggers = (b"jit", b"ms_function")
    nodes = (ast.Call,)
    names = frozenset({"jit", "ms_function"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if context.resolve(node.func) not in JIT_NAMES:
            return
        whole: ast.Call = node
        inner = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "function"), None)
        options = [k for k in node.keywords if k.arg != "function"]
        if inner is None:
            outer = context.parent(node)
            if not (isinstance(outer, ast.Call) and outer.func is node and len(outer.args) == 1):
                return  # a decorator, which is no call in the body
            whole, inner = outer, outer.args[0]
        rewrite = context.rewrite()
        rewrite.replace(whole, context.text(inner), context.parent(whole))
        title = "Call the function itself"
        fix = rewrite.unsafe(title, "its options count for nothing inside a graph") if options else rewrite.safe(title)
        message = "jit is called inside a graph: the compiler cannot compile jit itself"
        yield context.finding(self, whole, message, fixes=(fix,))
