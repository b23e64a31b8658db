"""GW905: lists and dicts on self that graph code changes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.ownership import Source
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite
from .._python import self_attribute
from ._grown import move_appends
from ._mutations import MUTATORS, NODES, changed, mutation_at
from ._state import writes_in


class ContainerOnSelf(Rule):
    """A list or dict on self is changed in a graph, and stays as it is.

    ## What it finds

    `self.seen.append(x)`, `extend`, `insert`, `pop`, `clear`, `update`... in a graph region, and the same through
    another name (`seen = self.seen`). An item written with `self.seen[0] = x` is GW904's, and so is a list that the
    same function makes.

    ## Why

    What self holds is a constant of the compiled graph. A change makes a new list inside of the graph, of one call; the
    list on self never grows, `len(self.seen)` is the same at each call, without a word.

    ## Example

        self.seen.append(x)
        return x * len(self.seen)

    becomes

        item = x
        ops.assign_add(self.seen_length, 1)
        return x * self.seen_length, item

    with a Parameter for the length, and a `__call__` that appends the item to the list.

    ## What the rewrite assumes

    That the list is asked for its length only, within the graph, and the Cell is called and not its `construct`.

    ## When it is unsafe

    Always: the length is a Tensor, and the list grows when the call is over. Anything else than `append`, or
    `extend` by a literal list, has no rewrite: give the values back and keep the list in the caller.

    ## References

    Measured on MindSpore 2.7.0 and 2.10.0 CPU.
    """

    code = "GW905"
    name = "container-on-self"
    consequence = Consequence.DIVERGENCE
    triggers = (b"self.",)
    nodes = NODES
    names = MUTATORS

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        mutation = mutation_at(node, context)
        if mutation is None or context.function.name == "__init__":
            return
        if mutation.how in ("[]=", "+=") and self_attribute(mutation.base, context.function.receiver):
            return
        found = [s for s in changed(context, mutation).objects if s.kind == "attribute"]
        for source in found[:1]:
            attribute = source.name.rpartition(".")[2]
            if writes_in(context.function, attribute):
                return
            message = f"{source.name} stays as it is: the graph changes a list of its own"
            yield context.finding(self, node, message, fixes=(_fix(context, source),))


def _fix(context: FunctionContext, source: Source) -> Fix:
    try:
        return move_appends(context, source)
    except CannotRewrite as reason:
        advice = f"{reason}; give the values back and keep {source.name} in the caller, or count in a Parameter"
        return context.rewrite().manual("Keep the list outside of the graph", advice)
