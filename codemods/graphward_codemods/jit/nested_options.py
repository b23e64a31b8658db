"""GW615: options of a jit function that another graph takes in."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.knowledge.names import JIT_NAMES
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule


class NestedOptions(Rule):
    """A function under `jit(dynamic=1)` is called by another graph, where its option counts for nothing.

    ## What it finds

    A function under `jit` with `dynamic=`, which `construct` or another jit function calls, when the outer one does not
    say the same. `jit` inside `jit` without options is harmless, and nothing is said of it.

    ## Why

    What a graph calls becomes a part of it. Counted on MindSpore 2.10: called with five batch sizes, an outer `jit`
    around an inner `jit(dynamic=1)` compiles five times, an outer `jit(dynamic=1)` around an inner `jit` three times.

    ## Example

        @jit(dynamic=1)
        def encode(x):
            return x * 2


        @jit
        def step(x):
            return encode(x).sum()

    Say `dynamic=1` at `step`.

    ## What the rewrite assumes

    Nothing is rewritten: whether the outer graph gets several sizes is not seen.

    ## When it is unsafe

    Never, as nothing is rewritten.

    ## References

    `mindspore.jit`. Measured on MindSpore 2.10 CPU by counting compilations.
    """

    code = "GW615"
    name = "nested-jit-options"
    consequence = Consequence.INFO
    triggers = (b"dynamic",)

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        option = _dynamic(context.function.decorators)
        if option is None:
            return
        for caller, _ in context.reached.sites:
            outer = caller.region.root
            if outer is not context.function and _dynamic(outer.decorators) is None:
                message = f"dynamic counts for nothing where {outer.qualname} calls it: it compiles for each size"
                where = f"give dynamic=1 to the jit of {outer.qualname}"
                fix = context.rewrite().manual("Say it at the outer graph", where)
                yield context.finding(self, option, message, fixes=(fix,))
                return


def _dynamic(decorators: list[tuple[str, ast.expr]]) -> ast.keyword | None:
    """The option `dynamic` of the `jit` among decorators."""
    for name, node in decorators:
        if name in JIT_NAMES and isinstance(node, ast.Call):
            return next((k for k in node.keywords if k.arg == "dynamic"), None)
    return None
