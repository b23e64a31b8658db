"""GW317: generators."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import FunctionInfo
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, first_line, fresh, own_nodes, stands_alone, starts_line

_CONSUMERS = frozenset(
    {"list", "tuple", "sum", "max", "min", "any", "all", "enumerate", "zip", "map", "filter", "sorted", "reversed"}
)


class GeneratorFunction(Rule):
    """A generator function does not compile.

    ## What it finds

    `yield` and `yield from` in a function of a graph region.

    ## Why

    The compiler knows no such expression (MindSpore 2.7 to 2.10): `RuntimeError: Unsupported expression 'Yield'.`

    ## Example

        def parts():
            yield x
            yield x * 2
        for part in parts():
            total = total + part

    becomes

        def parts():
            items = []
            items.append(x)
            items.append(x * 2)
            return items
        for part in parts():
            total = total + part

    ## What the rewrite assumes

    That the generator ends by itself, and that its values are iterated or handed to `list`, `sum` and the like.

    ## When it is unsafe

    Always: all values are made before the first is used, and a loop over them that stops early makes them all.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW317"
    name = "generator-function"
    consequence = Consequence.ERROR
    triggers = (b"yield",)

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        function = context.function
        yields = [n for n in own_nodes(function.node.body) if isinstance(n, (ast.Yield, ast.YieldFrom))]
        if not yields:
            return
        first = min(yields, key=lambda y: (y.lineno, y.col_offset))
        message = f"{function.name} is a generator: yield does not compile"
        yield context.finding(self, first, message, fixes=(_fix(yields, context),))


def _fix(yields: list[ast.Yield | ast.YieldFrom], context: FunctionContext) -> Fix:
    title = f"Let {context.function.name} return a list"
    try:
        rewrite = _as_list(yields, context)
    except CannotRewrite as reason:
        advice = "return a list or tuple of the values"
        return context.rewrite().manual(title, f"not changed by itself: {reason}; {advice}")
    return rewrite.unsafe(title, "all values are made before the first is used")


def _as_list(yields: list[ast.Yield | ast.YieldFrom], context: FunctionContext) -> Rewrite:
    function = context.function
    module = context.module
    node = function.node
    if isinstance(node, ast.AsyncFunctionDef) or function.name == "construct":
        raise CannotRewrite("the Cell itself gives its values one by one")
    if node.decorator_list and not all(n in ("staticmethod", "classmethod") for n, _ in function.decorators):
        raise CannotRewrite("it is decorated")
    _check_uses(context)
    inside = own_nodes(node.body)
    if any(isinstance(n, ast.While) and isinstance(n.test, ast.Constant) and n.test.value for n in inside):
        if not any(isinstance(n, (ast.Return, ast.Break)) for n in inside):
            raise CannotRewrite("it never ends")
    items = fresh(context, "items")
    rewrite = context.rewrite()
    for item in yields:
        statement = function.parents[item]
        if not isinstance(statement, ast.Expr):
            raise CannotRewrite("a value is sent into it")
        value = context.text(item.value) if item.value is not None else "None"
        if isinstance(item.value, ast.Tuple) and not value.startswith("("):
            value = f"({value})"
        method = "append" if isinstance(item, ast.Yield) else "extend"
        rewrite.replace_span(module.start(statement), module.end(statement), f"{items}.{method}({value})")
    for leaving in (n for n in inside if isinstance(n, ast.Return)):
        if leaving.value is not None:
            raise CannotRewrite("it returns a value")
        rewrite.replace_span(module.start(leaving), module.end(leaving), f"return {items}")
    body = node.body
    has_text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
    first, last = body[1 if has_text else 0], body[-1]
    if not starts_line(module, first) or not stands_alone(module, last):
        raise CannotRewrite("it stands on one line")
    source = module.source
    indent = source.indent(first_line(first))
    rewrite.insert(source.offset(first_line(first), 0), f"{indent}{items} = []{source.newline}")
    if not isinstance(last, (ast.Return, ast.Raise)):
        line = last.end_lineno or last.lineno
        end = source.offset(line, 0) + len(source.line_bytes(line).rstrip(b"\r\n"))
        rewrite.insert(end, f"{source.newline}{indent}return {items}")
    return rewrite


def _check_uses(context: FunctionContext) -> None:
    """Raises CannotRewrite when something asks the generator for one value at a time."""
    sites = context.reached.sites
    for caller, callee in sites:
        function: FunctionInfo = caller.function
        call = function.parents.get(callee)
        if not (isinstance(call, ast.Call) and call.func is callee):
            raise CannotRewrite("it is handed on as a function")
        parent = function.parents.get(call)
        if isinstance(parent, (ast.For, ast.comprehension, ast.Starred, ast.YieldFrom, ast.Return)):
            continue
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in _CONSUMERS:
            continue
        if isinstance(parent, ast.Assign):
            names = {t.id for t in parent.targets if isinstance(t, ast.Name)}
            asked = [
                n for n in function.nodes
                if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "next"
                and n.args and isinstance(n.args[0], ast.Name) and n.args[0].id in names
            ]  # fmt: skip
            if not asked:
                continue
        raise CannotRewrite("its values are asked for one by one")
