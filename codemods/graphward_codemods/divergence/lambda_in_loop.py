"""GW913: lambdas in the body of a `for` loop."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, fresh, indent_of, insert_before, own_nodes, replace_statement, step_of
from .._lambdas import loop_cut_by
from ._closures import COMPREHENSIONS, free_names


class LambdaInLoop(Rule):
    """A lambda in the body of a `for` loop ends the function.

    ## What it finds

    A lambda in the body of a `for` loop of a graph region, called or not, also inside of a `def` in that body. Left
    alone are lambdas behind a condition or a loop in the same body, which compile, and those of `while` loops.

    ## Why

    The compiler takes the end of the lambda for the end of the function around it: without a word, the graph gives None
    or something else than what is returned below the loop. Under a condition, or with `break`, it does not compile:

        RuntimeError: Failure: have return node!

    A `def` in the same place is compiled well.

    ## Example

        for i in range(3):
            f = lambda v: v + i
            x = f(x)
        return x

    becomes

        for i in range(3):
            def f(v):
                return v + i
            x = f(x)
        return x

    ## What the rewrite assumes

    Nothing: both make the same function.

    ## When it is unsafe

    Never: a lambda that reads the variable of a comprehension around it is left to a person.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW913"
    name = "lambda-in-loop"
    consequence = Consequence.DIVERGENCE
    triggers = (b"lambda",)
    nodes = (ast.Lambda,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Lambda)
        loop = loop_cut_by(node, context)
        if loop is None:
            return
        statement = context.statement(node)
        breaks = any(isinstance(n, ast.Break) for n in own_nodes(loop.body, loops=False))
        branch = any(isinstance(a, ast.If) for a in context.around(statement) if loop in context.around(a))
        refused = breaks or branch
        message = "a lambda in a `for` loop " + (
            "does not compile here" if refused else "ends the function in the graph"
        )
        consequence = Consequence.ERROR if refused else Consequence.DIVERGENCE
        yield context.finding(self, node, message, fixes=(_fix(node, statement, context),), consequence=consequence)


def _fix(node: ast.Lambda, statement: ast.stmt, context: FunctionContext) -> Fix:
    try:
        return _defined(node, statement, context).safe("Write a def")
    except CannotRewrite as reason:
        advice = f"not changed by itself: {reason}; write a `def` in its place, or make the function above the loop"
        return context.rewrite().manual("Write a def", advice)


def _defined(node: ast.Lambda, statement: ast.stmt, context: FunctionContext) -> Rewrite:
    """A `def` instead of the lambda. Raises CannotRewrite."""
    module = context.module
    start, end = module.start(node), module.end(node)
    data = module.source.utf8
    if b"\n" in data[start:end] or b"\r" in data[start:end]:
        raise CannotRewrite("it stands on several lines")
    colon = data.rindex(b":", start, module.start(node.body))
    arguments = data[start + len("lambda") : colon].decode().strip()
    body = data[colon + 1 : end].decode().strip()
    rewrite = context.rewrite()
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    step = step_of(context.function)
    if isinstance(statement, ast.Assign) and statement.value is node and isinstance(target, ast.Name):
        indent = indent_of(module, statement)
        lines = [f"{indent}def {target.id}({arguments}):", f"{indent}{step}return {body}"]
        replace_statement(context, rewrite, statement, lines)
        return rewrite
    parent = context.parent(node)
    if isinstance(parent, ast.keyword) and parent.arg == "key":
        raise CannotRewrite("what takes a key is left to Python, which knows no function of the graph")
    if isinstance(parent, ast.Call) and parent.keywords and context.resolve(parent.func) == "functools.partial":
        raise CannotRewrite("what `partial` binds by keyword in a loop is the value of another round")
    if isinstance(statement, ast.While):
        raise CannotRewrite("it is made in every round of a loop")
    for outer in context.around(node):
        if isinstance(outer, COMPREHENSIONS):
            names = {n.id for g in outer.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
            if names & free_names(node):
                raise CannotRewrite("it reads the variable of a comprehension")
    name = fresh(context, "step")
    insert_before(context, rewrite, statement, [f"def {name}({arguments}):", f"{step}return {body}"])
    rewrite.replace_span(start, end, name)
    return rewrite
