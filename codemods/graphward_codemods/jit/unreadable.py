"""GW614: what `jit` cannot read."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.names import all_arguments
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, comments_of, insert_before, replace_statement
from ._wrappers import wrapping_calls


class UnreadableFunction(Rule):
    """`jit` is given a lambda, whose source it cannot read.

    ## What it finds

    `jit(lambda x: x + 1)`, wherever it stands. `double = lambda x: x * 2` and then `jit(double)` is read.

    ## Why

    The compiler asks Python for the lines of the function and expects them to be a function or an assignment of one
    lambda (MindSpore 2.7 and 2.10):

        TypeError: Parse Lambda Function Fail. Node type must be Lambda, but got Call.

    ## Example

        step = jit(lambda x: net(x) * 2)

    becomes

        @jit
        def step(x):
            return net(x) * 2

    ## What the rewrite assumes

    Nothing: a function that returns the lambda's value is the same function.

    ## When it is unsafe

    Never. Where no statement can stand before it (in a comprehension, or after `else` on one line) it is left to you.

    ## References

    `mindspore.jit`. Measured on MindSpore 2.7 and 2.10 CPU.
    """

    code = "GW614"
    name = "unreadable-function"
    consequence = Consequence.ERROR
    triggers = (b"lambda",)

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        for call, function in wrapping_calls(context):
            if isinstance(function, ast.Lambda):
                message = "jit cannot read a lambda in its own call: it does not compile"
                yield context.finding(self, function, message, fixes=(_fix(context, call, function),))


def _fix(context: ModuleContext, call: ast.Call, function: ast.Lambda) -> Fix:
    title = "Make it a function"
    rewrite = context.rewrite()
    statement = context.statement(call)
    module = context.module
    try:
        if any(isinstance(n, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda))
               for n in _between(context, call, statement)):  # fmt: skip
            raise CannotRewrite("it stands in a comprehension or another lambda")
        name = _target(statement, call)
        indent = module.source.indent(statement.lineno)
        step = "\t" if "\n\t" in module.source.text else "    "
        parameters = module.source.utf8[module.start(function) + 6 : module.start(function.body)].decode()
        head = parameters.rpartition(":")[0].strip()
        body = [f"return {context.text(function.body)}"]
        if "\n" in context.text(function.body):
            body = [f"return ({context.text(function.body)})"]
        if any(line in comments_of(module) for line in range(function.lineno, function.end_lineno or 0)):
            raise CannotRewrite("there are comments in it")
        if name:
            lines = [f"@{_decorator(context, call, function)}", f"def {name}({head}):", *(step + b for b in body)]
            replace_statement(context, rewrite, statement, [indent + line for line in lines])
        else:
            name = _fresh(context, "compiled")
            insert_before(context, rewrite, statement, [f"def {name}({head}):", *(step + b for b in body)])
            rewrite.replace_span(module.start(function), module.end(function), name)
    except CannotRewrite as reason:
        return context.rewrite().manual(title, f"not changed by itself: {reason}")
    return rewrite.safe(title)


def _between(context: ModuleContext, node: ast.AST, statement: ast.stmt) -> Iterable[ast.AST]:
    for outer in context.around(node):
        if outer is statement:
            return
        yield outer


def _target(statement: ast.stmt, call: ast.Call) -> str:
    """The variable of `variable = jit(lambda ...)`, else empty."""
    if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else ""
    return ""


def _decorator(context: ModuleContext, call: ast.Call, function: ast.Lambda) -> str:
    """`jit` with its other arguments, as a decorator."""
    if isinstance(call.func, ast.Call):
        return context.text(call.func)
    keywords = [context.text(k) for k in call.keywords if k.value is not function]
    return context.text(call.func) + (f"({', '.join(keywords)})" if keywords else "")


def _fresh(context: ModuleContext, wanted: str) -> str:
    taken = context.module.global_names | set(context.module.definitions) | set(context.module.names.aliases)
    taken |= {a.arg for f in context.module.functions for a in all_arguments(f.node.args)}
    names = [wanted, *(f"{wanted}_{number}" for number in range(2, 100))]
    return next(name for name in names if name not in taken)
