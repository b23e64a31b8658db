"""GW418: lambdas with a default that is a variable."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix


class LambdaDefault(Rule):
    """A lambda whose default is a variable does not compile, or gives nothing.

    ## What it finds

    `lambda v, i=i: ...` in a graph region. Defaults that are literals compile, and are left alone.

    ## Why

    MindSpore 2.7 to 2.10, also in loops, where the result is silently None:

        RuntimeError: Illegal AnfNode for evaluating

    ## Example

        steps.append(lambda v, i=i: v * i)

    becomes

        steps.append(functools.partial(lambda v, i: v * i, i=i))

    ## What the rewrite assumes

    That nobody gives the parameter by position.

    ## When it is unsafe

    Always, for that reason.

    ## References

    `functools.partial`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW418"
    name = "lambda-default"
    consequence = Consequence.ERROR
    triggers = (b"lambda",)
    nodes = (ast.Lambda,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Lambda)
        arguments = node.args
        defaults = arguments.defaults
        if not any(isinstance(n, ast.Name) for d in defaults for n in ast.walk(d)) or arguments.kwonlyargs:
            return
        rewrite = context.rewrite()
        named = list(zip(arguments.args[-len(defaults) :], defaults))
        fixes: tuple[Fix, ...] = ()
        if len(named) == len(defaults) and not arguments.vararg and not arguments.posonlyargs:
            parameters = [a.arg for a in arguments.args] + ([f"**{arguments.kwarg.arg}"] if arguments.kwarg else [])
            bound = ", ".join(f"{a.arg}={context.text(d)}" for a, d in named)
            partial = rewrite.spell("functools.partial")
            text = f"{partial}(lambda {', '.join(parameters)}: {context.text(node.body)}, {bound})"
            rewrite.replace(node, text, context.parent(node))
            fixes = (rewrite.unsafe("Bind it with partial", "a call that gives the parameter by position fails"),)
        yield context.finding(self, node, "a lambda with a variable for a default does not compile", fixes=fixes)
