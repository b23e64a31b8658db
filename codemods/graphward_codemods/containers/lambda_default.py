"""GW418: lambdas with a default that is a variable."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import put_call
from .._python import is_later

_ADVICE = "write a function that makes it (`def scaled(i): def step(v): return v * i` and `return step`) and call that"


class LambdaDefault(Rule):
    """A lambda whose default is a variable does not compile, or gives nothing.

    ## What it finds

    `lambda v, i=i: ...` in a graph region. Defaults that are literals compile, and are left alone.

    ## Why

    MindSpore 2.7 to 2.10, also in loops, where the result is silently None:

        RuntimeError: Illegal AnfNode for evaluating

    ## Example

        step = lambda v, i=i: v * i
        steps = [lambda v, i=i: v * i for i in range(3)]

    becomes

        step = functools.partial(lambda v, i: v * i, i=i)
        steps = [(lambda i: lambda v: v * i)(i) for i in range(3)]

    Where a `for` loop collects them (`steps.append(lambda v, i=i: ...)`) the compiler takes neither, and the finding
    has no rewrite: a named function that makes the lambda compiles.

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
        if _is_kept_by_loop(node, context):
            message = "lambdas with a variable for a default, kept by a loop, are all the same"
            fix, consequence = context.rewrite().manual("Make it in a function", _ADVICE), Consequence.DIVERGENCE
        else:
            message = "a lambda with a variable for a default does not compile"
            fix, consequence = _fix(node, context), Consequence.ERROR
        yield context.finding(self, node, message, fixes=(fix,), consequence=consequence)


def _fix(node: ast.Lambda, context: FunctionContext) -> Fix:
    arguments, defaults = node.args, node.args.defaults
    bound = arguments.args[len(arguments.args) - len(defaults) :]
    rewrite = context.rewrite()
    if len(bound) != len(defaults) or arguments.vararg or arguments.posonlyargs:
        return rewrite.manual("Make it in a function", _ADVICE)
    names, values = [a.arg for a in bound], [context.text(d) for d in defaults]
    free = [a.arg for a in arguments.args[: len(arguments.args) - len(defaults)]]
    rest = [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    body = context.text(node.body)
    if is_later(node, context):
        # In a comprehension every partial gets the last of the values.
        inner = f"lambda {', '.join(free + rest)}".rstrip()
        text = f"(lambda {', '.join(names)}: {inner}: {body})({', '.join(values)})"
        put_call(context, rewrite, node, text)
        return rewrite.unsafe("Bind it with a lambda around it", "a call that gives the parameter fails")
    given = ", ".join(f"{n}={v}" for n, v in zip(names, values, strict=True))
    text = f"{rewrite.spell('functools.partial')}(lambda {', '.join(free + names + rest)}: {body}, {given})"
    rewrite.replace(node, text, context.parent(node))
    return rewrite.unsafe("Bind it with partial", "a call that gives the parameter by position fails")


def _is_kept_by_loop(node: ast.Lambda, context: FunctionContext) -> bool:
    """Whether the lambda outlives the turn of the loop that makes it."""
    parent = context.parent(node)
    if not (isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and node in parent.args):
        return False
    if parent.func.attr not in ("append", "insert"):
        return False
    return any(isinstance(a, (ast.For, ast.While)) for a in context.around(parent))
