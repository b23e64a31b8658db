"""GW318: a method that calls itself until a Tensor says stop."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.names import dotted
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, block_lines, indent_of, own_nodes, replace_statement, step_of
from ._traced import traced_test


class MethodRecursion(Rule):
    """A method of a Cell calls itself under a condition on a Tensor.

    ## What it finds

    `self.method(...)` inside that method, where a Tensor decides whether it goes on. A plain function that calls
    itself compiles, and so does recursion that a number ends.

    ## Why

    Each call of the method is a new one for the compiler, which never comes to an end (MindSpore 2.7 to 2.10):

        RuntimeError: Exceed function call depth limit 1000

    ## Example

        def grow(self, x, n):
            if n > 1000:
                return x
            return self.grow(x * 2, n * 2)

    becomes

        def grow(self, x, n):
            while not (n > 1000):
                x, n = x * 2, n * 2
            return x

    A method that does more with the result becomes a static method, which compiles.

    ## What the rewrite assumes

    That the arguments keep their type from call to call.

    ## When it is unsafe

    Never as a loop. As a static method it is no longer overridden by a subclass.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW318"
    name = "method-recursion"
    consequence = Consequence.ERROR
    triggers = (b"self.",)

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        function = context.function
        if function.owner is None or function.is_static:
            return
        calls = [
            n for n in function.nodes
            if n.__class__ is ast.Call and n.func.__class__ is ast.Attribute
            and n.func.attr == function.name and dotted(n.func.value) == function.receiver
        ]  # fmt: skip
        if not calls:
            return
        tests = [n.test for n in function.nodes if isinstance(n, (ast.If, ast.IfExp))]
        if not any(traced_test(test, context) for test in tests):
            return
        message = f"{function.name} calls itself until a Tensor says stop, which does not compile for a method"
        yield context.finding(self, calls[0], message, fixes=(_fix(calls, context),))


def _fix(calls: list[ast.Call], context: FunctionContext) -> Fix:
    problem = ""
    for attempt in (_as_loop, _as_static):
        try:
            return attempt(calls, context)
        except CannotRewrite as reason:
            problem = problem or str(reason)
    return context.rewrite().manual("Write it as a loop", f"not changed by itself: {problem}")


def _as_loop(calls: list[ast.Call], context: FunctionContext) -> Fix:
    """`if c: return a` and `return self.f(...)` as a while."""
    function = context.function
    body = [s for s in function.node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(calls) != 1 or len(body) < 2 or not isinstance(body[0], ast.If):
        raise CannotRewrite("it does not start with the condition that ends it")
    head, last = body[0], body[-1]
    call = calls[0]
    if not isinstance(last, ast.Return) or last.value is None or not head.body:
        raise CannotRewrite("it does not end with a return")
    end = head.body[-1]
    if head.orelse or not isinstance(end, ast.Return) or end.value is None:
        raise CannotRewrite("its condition does not end with a return")
    names, values = _arguments(call, context)
    module = context.module
    indent = indent_of(module, head)
    inner = indent + step_of(function)
    changed = [(n, v) for n, v in zip(names, values, strict=True) if n != v]
    assignment = [f"{inner}{', '.join(n for n, _ in changed)} = {', '.join(v for _, v in changed)}"] if changed else []
    test = context.text(head.test)
    if last.value is call:
        lines = [f"{indent}while not ({test}):"]
        lines += block_lines(module, body[1:-1], inner) if len(body) > 2 else []
        lines += [*assignment, *block_lines(module, head.body, indent, head.test.end_lineno or head.lineno)]
    elif end.value is call:
        lines = [f"{indent}while {test}:"]
        lines += block_lines(module, head.body[:-1], inner) if len(head.body) > 1 else []
        lines += [*assignment, *block_lines(module, body[1:], indent)]
    else:
        raise CannotRewrite("more is done with the result of the call")
    rewrite = context.rewrite()
    replace_statement(context, rewrite, head, lines)
    source = module.source
    starts = source.line_starts
    # What followed the condition is in the new lines.
    begin = source.offset(head.end_lineno or head.lineno, 0) + len(
        source.line_bytes(head.end_lineno or head.lineno).rstrip(b"\r\n")
    )
    stop = last.end_lineno or last.lineno
    end_of_last = starts[stop - 1] + len(source.line_bytes(stop).rstrip(b"\r\n"))
    rewrite.replace_span(begin, end_of_last, "")
    return rewrite.safe("Write it as a loop")


def _arguments(call: ast.Call, context: FunctionContext) -> tuple[list[str], list[str]]:
    arguments = context.function.node.args
    names = [a.arg for a in arguments.posonlyargs + arguments.args][1:]
    if arguments.vararg or arguments.kwarg or any(isinstance(a, ast.Starred) for a in call.args):
        raise CannotRewrite("its parameters are not plain")
    names += [a.arg for a in arguments.kwonlyargs]
    given = dict(zip(names, (context.text(a) for a in call.args), strict=False))
    for keyword in call.keywords:
        if keyword.arg is None:
            raise CannotRewrite("its parameters are not plain")
        given[keyword.arg] = context.text(keyword.value)
    if set(given) != set(names) or any("\n" in v for v in given.values()):
        raise CannotRewrite("it leaves an argument to its default")
    return names, [given[n] for n in names]


def _as_static(calls: list[ast.Call], context: FunctionContext) -> Fix:
    function = context.function
    assert function.owner is not None
    receiver = function.receiver
    own = [n for n in own_nodes(function.node.body) if isinstance(n, ast.Name) and n.id == receiver]
    if len(own) != len(calls) or function.node.decorator_list or function.name == "construct":
        raise CannotRewrite(f"it uses {receiver} for more than the call")
    arguments = function.node.args
    if len(arguments.args) < 2 or arguments.posonlyargs:
        raise CannotRewrite("it has no other parameters")
    module = context.module
    rewrite = context.rewrite()
    source = module.source
    line = function.node.lineno
    rewrite.insert(source.offset(line, 0), f"{source.indent(line)}@staticmethod{source.newline}")
    rewrite.replace_span(module.start(arguments.args[0]), module.start(arguments.args[1]), "")
    for call in calls:
        assert isinstance(call.func, ast.Attribute)
        rewrite.replace_span(module.start(call.func.value), module.end(call.func.value), function.owner.name)
    return rewrite.unsafe("Make it a static method", "a subclass can no longer override it")
