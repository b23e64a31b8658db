"""GW305: `nonlocal`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import FunctionInfo
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, fresh, lead_parameters, own_nodes, stands_alone, starts_line, taken_names
from ._order import evaluated_before, is_certain


class NonlocalName(Rule):
    """`nonlocal` does not compile.

    ## What it finds

    A nested function of a graph region that declares names of the function around it `nonlocal`.

    ## Why

    The compiler knows no such statement (MindSpore 2.7 to 2.10): `RuntimeError: Unsupported statement 'Nonlocal'.`

    ## Example

        total = x
        def add(k):
            nonlocal total
            total = total + k
        add(1)
        return total

    becomes

        total = x
        def add(total, k):
            total = total + k
            return total
        total = add(total, 1)
        return total

    A function that gives a value of its own returns it behind the names.

    ## What the rewrite assumes

    That the nested function is only called, by the function around it, and handed to nobody.

    ## When it is unsafe

    Never: where the assumption does not hold the place is left to a person.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW305"
    name = "nonlocal-name"
    consequence = Consequence.ERROR
    triggers = (b"nonlocal",)
    nodes = (ast.Nonlocal,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Nonlocal)
        names = ", ".join(node.names)
        yield context.finding(self, node, f"nonlocal {names} does not compile", fixes=(_fix(node, context),))


def _fix(node: ast.Nonlocal, context: FunctionContext) -> Fix:
    title = f"Hand {', '.join(node.names)} in and back"
    try:
        return _handed(node, context).safe(title)
    except CannotRewrite as reason:
        advice = "give the function the value as an argument and return it"
        return context.rewrite().manual(title, f"not changed by itself: {reason}; {advice}")


def _around(node: ast.Nonlocal, context: FunctionContext) -> tuple[FunctionInfo, FunctionInfo]:
    """The function that declares, and the one around it."""
    inner = context.function
    if node not in inner.node.body:
        parent = inner.parents.get(node)
        found = next((f for f in context.module.functions if f.node is parent), None)
        if found is None:
            raise CannotRewrite("it does not stand at the start of its function")
        inner = found
    if inner.outer is None:
        raise CannotRewrite("there is no function around it")
    return inner, inner.outer


def _handed(node: ast.Nonlocal, context: FunctionContext) -> Rewrite:
    inner, outer = _around(node, context)
    names = list(node.names)
    own = {a.arg for a in ast.walk(outer.node.args) if isinstance(a, ast.arg)}
    own |= {n.id for n in own_nodes(outer.node.body) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    if not set(names) <= own:
        raise CannotRewrite("the names belong to a function further out")
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own_nodes(inner.node.body)):
        raise CannotRewrite(f"{inner.name} is a generator")
    if inner.node.decorator_list or isinstance(inner.node, ast.AsyncFunctionDef):
        raise CannotRewrite(f"{inner.name} is decorated")
    if not stands_alone(context.module, node) or not stands_alone(context.module, inner.node):
        raise CannotRewrite("the statement shares its line with others")
    calls = _calls(inner, outer)
    returns = [n for n in own_nodes(inner.node.body) if isinstance(n, ast.Return)]
    parents = outer.parents
    uses_value = any(not isinstance(parents[c], ast.Expr) for c in calls)
    valued = [r for r in returns if r.value is not None]
    handed = ", ".join(names)
    rewrite = context.rewrite()
    module = context.module
    if any(isinstance(a, ast.arg) and a.arg in names for a in ast.walk(inner.node.args)):
        raise CannotRewrite("a parameter has that name")
    assert isinstance(inner.node, ast.FunctionDef)
    lead_parameters(module, inner.node, names, rewrite)
    source = module.source
    start = source.offset(node.lineno, 0)
    end = source.offset(node.end_lineno or node.lineno, 0) + len(source.line_bytes(node.end_lineno or node.lineno))
    rewrite.replace_span(start, end, "")
    for statement in returns:
        value = statement.value
        if not uses_value and value is not None and not isinstance(value, (ast.Name, ast.Constant)):
            raise CannotRewrite("what it returns is not used but may have an effect")
        if value is None or not uses_value:
            text = f"return {handed}{', None' if uses_value else ''}"
        else:
            text = f"return {handed}, {context.text(value)}"
        rewrite.replace_span(module.start(statement), module.end(statement), text)
    last = inner.node.body[-1]
    if not isinstance(last, (ast.Return, ast.Raise)):
        if uses_value and valued:
            raise CannotRewrite("it returns a value on some ways only")
        _append(last, f"return {handed}{', None' if uses_value else ''}", context, rewrite)
    for call in calls:
        _call(call, names, uses_value, outer, context, rewrite)
    return rewrite


def _calls(inner: FunctionInfo, outer: FunctionInfo) -> list[ast.Call]:
    """The calls of the nested function. Raises CannotRewrite when it is used otherwise."""
    found = []
    own = set(own_nodes(outer.node.body))
    for node in outer.nodes:
        if isinstance(node, ast.Name) and node.id == inner.name:
            call = outer.parents.get(node)
            if not (isinstance(call, ast.Call) and call.func is node):
                raise CannotRewrite(f"{inner.name} is handed to something else")
            if call not in own:
                raise CannotRewrite(f"{inner.name} is called in a further function")
            found.append(call)
    return found


def _append(last: ast.stmt, text: str, context: FunctionContext, rewrite: Rewrite) -> None:
    source = context.module.source
    line = last.end_lineno or last.lineno
    end = source.offset(line, 0) + len(source.line_bytes(line).rstrip(b"\r\n"))
    if not starts_line(context.module, last):
        raise CannotRewrite("the function stands on one line")
    rewrite.insert(end, f"{source.newline}{source.indent(last.lineno)}{text}")


def _call(
    call: ast.Call, names: list[str], uses_value: bool, outer: FunctionInfo, context: FunctionContext, rewrite: Rewrite
) -> None:
    module = context.module
    parents = outer.parents
    handed = ", ".join(names)
    start = module.source.utf8.index(b"(", module.end(call.func)) + 1
    given = f"{handed}{', ' if call.args or call.keywords else ''}"
    parent = parents[call]
    if isinstance(parent, ast.Expr):
        rewrite.insert(module.start(call), f"{handed}{', _' if uses_value else ''} = ")
        rewrite.insert(start, given)
        return
    statement: ast.AST = call
    while not isinstance(statement, ast.stmt):
        statement = parents[statement]
    earlier = [n for n in evaluated_before(call, parents, statement) if not isinstance(n, ast.expr_context)]
    if isinstance(statement, (ast.For, ast.While, ast.With)) or not is_certain(call, parents, statement):
        raise CannotRewrite("a call of it is not made once in any case")
    if any(isinstance(n, ast.Call) or (isinstance(n, ast.Name) and n.id in names) for n in earlier):
        raise CannotRewrite("something else comes before a call of it")
    if not starts_line(module, statement) or "\n" in context.text(call):
        raise CannotRewrite("nothing can be put before a call of it")
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        rewrite.insert(module.start(parent), f"{handed}, ")
        rewrite.insert(start, given)
        return
    taken = taken_names(context)
    result = fresh(context, "result") if "result" not in taken else fresh(context, f"{context.text(call.func)}_result")
    source = module.source
    text = context.text(call)
    cut = start - module.start(call)
    changed = text[:cut] + given + text[cut:]
    line = f"{source.indent(statement.lineno)}{handed}, {result} = {changed}{source.newline}"
    rewrite.insert(source.offset(statement.lineno, 0), line)
    rewrite.replace_span(module.start(call), module.end(call), result)
