"""GW321: `async def` and `await`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite

_RUNNERS = frozenset({"asyncio.run"})


class AsyncFunction(Rule):
    """`async def`, `await`, `async for` and `async with` do not compile.

    ## What it finds

    A coroutine function defined in a graph region, and `await` in one.

    ## Why

    The compiler knows no coroutines (MindSpore 2.7 to 2.10): `RuntimeError: Unsupported statement 'AsyncFunctionDef'.`

    ## Example

        async def scale(v):
            return v * 2
        return asyncio.run(scale(x))

    becomes

        def scale(v):
            return v * 2
        return scale(x)

    ## What the rewrite assumes

    That the coroutine waits for nothing but coroutines of the same function: a graph has no event loop.

    ## When it is unsafe

    Always: the function runs when it is called, not when it is awaited.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW321"
    name = "async-function"
    consequence = Consequence.ERROR
    triggers = (b"async", b"await")
    nodes = (ast.AsyncFunctionDef,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.AsyncFunctionDef)
        yield context.finding(self, node, "async def does not compile", fixes=(_fix(node, context),))

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        node = context.function.node
        # A coroutine inside another function of the region is found where it is defined.
        if isinstance(node, ast.AsyncFunctionDef) and context.function.outer is None:
            reason = "give the Cell a plain def and await around its call"
            fix = context.rewrite().manual("Make it a plain function", reason)
            yield context.finding(self, node, f"{node.name} is a coroutine: it does not compile", fixes=(fix,))


def _fix(node: ast.AsyncFunctionDef, context: FunctionContext) -> Fix:
    module = context.module
    rewrite = context.rewrite()
    title = f"Make {node.name} a plain function"
    try:
        for inner in ast.walk(node):
            if isinstance(inner, (ast.AsyncFor, ast.AsyncWith)):
                raise CannotRewrite("it iterates or enters something asynchronously")
            if isinstance(inner, ast.comprehension) and inner.is_async:
                raise CannotRewrite("it iterates asynchronously")
            if isinstance(inner, ast.Await):
                _check_awaited(inner, context)
                rewrite.replace_span(module.start(inner), module.start(inner.value), "")
        start = module.start(node)
        head = re.match(rb"async\s+", module.source.utf8[start:])
        assert head is not None
        rewrite.replace_span(start, start + head.end(), "")
        for other in context.function.nodes:
            if isinstance(other, ast.Call) and context.resolve(other.func) in _RUNNERS and len(other.args) == 1:
                if isinstance(other.args[0], ast.Call) and _calls(other.args[0], node.name):
                    rewrite.replace_span(module.start(other), module.end(other), context.text(other.args[0]))
    except CannotRewrite as reason:
        return context.rewrite().manual(title, f"not changed by itself: {reason}")
    return rewrite.unsafe(title, "it runs when it is called, not when it is awaited")


def _check_awaited(node: ast.Await, context: FunctionContext) -> None:
    names = {f.name for f in context.function.locals.values() if isinstance(f.node, ast.AsyncFunctionDef)}
    if not (isinstance(node.value, ast.Call) and any(_calls(node.value, name) for name in names)):
        raise CannotRewrite(f"it awaits {context.text(node.value)}")


def _calls(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == name
