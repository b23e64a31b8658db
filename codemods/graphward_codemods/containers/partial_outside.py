"""GW419: `functools.partial` made outside of the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import FunctionInfo
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._flags import opted_into_when_made


class PartialOutside(Rule):
    """A `functools.partial` of outside is called by the Python interpreter.

    ## What it finds

    Calls in a graph region of `self.act` or of a global that is a `functools.partial(...)`, made in `__init__` or at
    module level. Values that `self.act` only gets where a flag of `__init__` is not at its default are not counted.
    One made in the graph region itself compiles, and is left alone.

    ## Why

    MindSpore 2.7 to 2.10, with `fullgraph=True`:

        ValueError: When handling script '__call_func_str__(...) in graph mode', the inputs should be constant

    At the default syntax level it is called at run time, without a gradient.

    ## Example

        self.act = functools.partial(ops.leaky_relu, alpha=0.1)

    becomes

        self.act = lambda *args, **kwargs: ops.leaky_relu(*args, alpha=0.1, **kwargs)

    ## What the rewrite assumes

    That nothing asks the object for `func` and `args`, or pickles it.

    ## When it is unsafe

    Always: the bound values are read when it is called.

    ## References

    `functools.partial`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW419"
    name = "partial-outside"
    consequence = Consequence.FALLBACK
    triggers = (b"partial(",)
    nodes = (ast.Call,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        values = _values(node.func, context)
        if not values or not all(_is_partial(f, v, context) for f, v in values):
            return
        if not any(context.kind(a).variable for a in (*node.args, *(k.value for k in node.keywords))):
            return
        message = f"{context.text(node.func)} is a functools.partial: the Python interpreter calls it"
        yield context.finding(self, node, message, fixes=_fixes(values, context))


def _values(func: ast.expr, context: FunctionContext) -> list[tuple[FunctionInfo | None, ast.expr]]:
    """What a called attribute or global name is assigned, with the method that does it."""
    if isinstance(func, ast.Attribute):
        if isinstance(func.value, ast.Name) and func.value.id == context.function.receiver and context.cell:
            values = context.project.attribute_values(context.cell).get(func.attr, [])
            return [(f, v) for f, v in values if f.name != "__init__" or opted_into_when_made(v, f) is None]
        return []
    if isinstance(func, ast.Name) and not context.function.names.is_local(func.id):
        value = context.module.assignments.get(func.id)
        return [(None, value)] if value is not None else []
    return []


def _is_partial(function: FunctionInfo | None, value: ast.expr, context: FunctionContext) -> bool:
    names = function.names if function else context.module.names
    return isinstance(value, ast.Call) and names.resolve(value.func) == "functools.partial" and bool(value.args)


def _fixes(values: list[tuple[FunctionInfo | None, ast.expr]], context: FunctionContext) -> tuple[Fix, ...]:
    rewrite = context.rewrite()
    for function, value in values:
        assert isinstance(value, ast.Call)
        if function is not None and function.module is not context.module:
            manual = f"in {function.qualname}, of another file, make a function of it"
            return (context.rewrite().manual("Make a function of it", manual),)
        called, *bound = (context.text(a) for a in value.args)
        if isinstance(value.args[0], ast.Lambda):
            called = f"({called})"
        keywords = [context.text(k) for k in value.keywords]
        arguments = ", ".join([*bound, "*args", *keywords, "**kwargs"])
        parent = function.parents.get(value) if function else None
        rewrite.replace(value, f"lambda *args, **kwargs: {called}({arguments})", parent)
    return (rewrite.unsafe("Make a lambda of it", "the bound values are read when it is called"),)
