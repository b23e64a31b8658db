"""GW910: default arguments that graph code changes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.names import defaults_of
from graphward.analysis.ownership import passed_arguments
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from ._mutations import MUTATORS, NODES, changed, mutation_at

_LITERALS = (ast.List, ast.Dict, ast.ListComp, ast.DictComp)


class MutableDefault(Rule):
    """A list or dict that is the default of an argument is changed.

    ## What it finds

    `def construct(self, x, seen=[])` with `seen.append(x)`, `seen[0] = x` or the like in a graph region.

    ## Why

    In PyNative the default is one object, which remembers every call. The graph starts each call from the default as it
    was written, without a word.

    ## Example

        def construct(self, x, seen=[]):
            seen.append(x)
            return seen[0] * 2

    has to say which of the two is meant: a new list at each call,

        def construct(self, x, seen=None):
            seen = [] if seen is None else seen
            seen.append(x)

    or a state of the Cell, which is a Parameter of known shape.

    ## What the rewrite assumes

    There is none: nothing says which of the two is meant, and the first changes what PyNative computes.

    ## When it is unsafe

    There is no rewrite.

    ## References

    Measured on MindSpore 2.7.0 and 2.10.0 CPU.
    """

    code = "GW910"
    name = "mutable-default"
    consequence = Consequence.DIVERGENCE
    triggers = (b"=[", b"={", b"= [", b"= {")
    nodes = NODES
    names = MUTATORS

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        defaults = _mutable_defaults(context.function.node.args)
        mutation = mutation_at(node, context) if defaults else None
        if mutation is None:
            return
        for source in changed(context, mutation).objects:
            if source.kind == "argument" and source.name in defaults and _used(context, source.name):
                message = (
                    f"the default of {source.name} remembers earlier calls in PyNative, and starts anew in the graph"
                )
                advice = (
                    f"default to None and make the list inside (`{source.name} = [] if {source.name} is None else "
                    f"{source.name}`) where each call is meant to start anew; else keep the state in a Parameter"
                )
                fix = context.rewrite().manual("Say which of the two is meant", advice)
                yield context.finding(self, node, message, fixes=(fix,))
                return


def _used(context: FunctionContext, parameter: str) -> bool:
    """Whether some call in sight leaves the default in place; of a function that nobody calls here, always."""
    sites = context.reached.sites
    calls = [caller.function.parents.get(node) for caller, node in sites]
    return not sites or any(
        isinstance(c, ast.Call) and parameter not in passed_arguments(context.function, c)
        and not any(k.arg is None for k in c.keywords) and not any(isinstance(a, ast.Starred) for a in c.args)
        for c in calls
    )  # fmt: skip


def _mutable_defaults(arguments: ast.arguments) -> set[str]:
    return {name for name, default in defaults_of(arguments).items() if isinstance(default, _LITERALS)}
