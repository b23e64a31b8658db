"""GW417: `defaultdict` and `deque`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, indent_of, replace_statement

_DEFAULTS = {"int": "0", "float": "0.0", "list": "[]", "dict": "{}", "bool": "False", "str": '""'}
_LIKE_LISTS = frozenset({"append", "pop", "extend", "insert", "index", "count", "clear"})


class CollectionsInGraph(Rule):
    """`defaultdict` and `deque` are no dict and list of the graph.

    ## What it finds

    `collections.defaultdict(...)` in a graph region, where an entry is read that was not assigned before, and
    `collections.deque(...)`. Entries that are only assigned and read again compile, and are left alone.

    ## Why

    A missing entry gets no default, and a deque is left to the Python interpreter (MindSpore 2.7 to 2.10):

        ValueError: The key a does not exist in the dict:{}
        ValueError: When handling script '__call_func_str__(...) in graph mode', the inputs should be constant

    ## Example

        groups = collections.defaultdict(list)
        groups["a"].append(x)

    becomes

        groups = {}
        groups["a"] = groups.get("a", []) + [x]

    and a deque becomes a list.

    ## What the rewrite assumes

    That reading a missing entry need not add it.

    ## When it is unsafe

    Always, for that reason; a deque becomes a list, which what is called with it may notice.

    ## References

    `collections`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW417"
    name = "collections-in-graph"
    consequence = Consequence.ERROR
    triggers = (b"defaultdict", b"deque")
    nodes = (ast.Call,)
    names = frozenset({"defaultdict", "deque"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        name = context.resolve(node.func)
        if name not in ("collections.defaultdict", "collections.deque"):
            return
        short = name.removeprefix("collections.")
        if short == "deque" and not _is_traced(node, context):
            return
        try:
            fix = _dict(node, context) if short == "defaultdict" else _list(node, context)
        except CannotRewrite as reason:
            fix = context.rewrite().manual(f"Do without the {short}", str(reason))
        if fix is not None:
            consequence = Consequence.FALLBACK if short == "deque" and node.args else Consequence.ERROR
            yield context.finding(self, node, f"a {short} has no graph form", fixes=(fix,), consequence=consequence)


def _is_traced(node: ast.Call, context: FunctionContext) -> bool:
    """Whether a deque is made of traced values, or gets some."""
    if any(context.kind(a).variable for a in node.args):
        return True
    target = context.parent(node)
    names = {t.id for t in target.targets if isinstance(t, ast.Name)} if isinstance(target, ast.Assign) else set()
    calls = (n for n in context.function.nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    return any(
        isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
        and call.func.value.id in names and any(context.kind(a).variable for a in call.args)
        for call in calls
    )  # fmt: skip


def _uses(node: ast.Call, context: FunctionContext) -> tuple[str, list[ast.Name]]:
    parent = context.parent(node)
    if not (isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name)):
        raise CannotRewrite("use a dict or a list, with the default at each place that reads it")
    name = parent.targets[0].id
    names = [n for n in context.function.nodes if isinstance(n, ast.Name) and n.id == name]
    uses = [n for n in names if n is not parent.targets[0]]
    if any(isinstance(n.ctx, ast.Store) for n in uses):
        raise CannotRewrite(f"{name} is assigned more than once")
    return name, uses


def _dict(node: ast.Call, context: FunctionContext) -> Fix | None:
    name, uses = _uses(node, context)
    factory = node.args[0] if len(node.args) == 1 else None
    default = _DEFAULTS.get(factory.id) if isinstance(factory, ast.Name) else None
    rewrite = context.rewrite()
    rewrite.replace(node, "{}", context.parent(node))
    assigned: set[str] = set()
    reads = 0
    for use in sorted(uses, key=context.module.start):
        entry = context.parent(use)
        if not (isinstance(entry, ast.Subscript) and entry.value is use):
            continue
        key = context.text(entry.slice)
        statement = context.statement(entry)
        if isinstance(entry.ctx, ast.Store):
            if isinstance(statement, ast.AugAssign) and statement.target is entry:
                reads += 1
                operator = _operator(statement, context)
                text = f"{name}[{key}] = {name}.get({key}, {default}) {operator} ({context.text(statement.value)})"
                replace_statement(context, rewrite, statement, [indent_of(context.module, statement) + text])
            assigned.add(key)
            continue
        if key in assigned:
            continue
        reads += 1
        method = context.parent(entry)
        call = context.parent(method) if isinstance(method, ast.Attribute) else None
        if isinstance(statement, ast.Expr) and isinstance(call, ast.Call) and statement.value is call:
            if not (isinstance(method, ast.Attribute) and method.attr == "append" and len(call.args) == 1):
                raise CannotRewrite(f"{name}[{key}] is changed in place")
            text = f"{name}[{key}] = {name}.get({key}, {default}) + [{context.text(call.args[0])}]"
            replace_statement(context, rewrite, statement, [indent_of(context.module, statement) + text])
            continue
        rewrite.replace(entry, f"{name}.get({key}, {default})", method)
    if not reads:
        return None
    if default is None:
        raise CannotRewrite("its default is not a plain number, list or dict: use get with a default")
    return rewrite.unsafe("Use a dict", "reading a missing entry does not add it")


def _operator(statement: ast.AugAssign, context: FunctionContext) -> str:
    module = context.module
    between = module.source.utf8[module.end(statement.target) : module.start(statement.value)].decode()
    return between.strip().split("=")[0]


def _list(node: ast.Call, context: FunctionContext) -> Fix:
    _, uses = _uses(node, context)
    if node.keywords or len(node.args) > 1:
        raise CannotRewrite("keep a list, and cut it where it grows too long: a graph has no maxlen")
    rewrite = context.rewrite()
    made = context.text(node.args[0]) if node.args else "[]"
    if node.args and not isinstance(node.args[0], (ast.List, ast.ListComp)):
        made = f"list({made})"
    rewrite.replace(node, made, context.parent(node))
    for use in uses:
        method = context.parent(use)
        if not isinstance(method, ast.Attribute) or method.attr in _LIKE_LISTS:
            continue
        call = context.parent(method)
        if not isinstance(call, ast.Call):
            raise CannotRewrite(f"a list has no {method.attr}")
        if method.attr == "popleft" and not call.args:
            rewrite.replace(call, f"{use.id}.pop(0)", context.parent(call))
        elif method.attr == "appendleft" and len(call.args) == 1:
            rewrite.replace(call, f"{use.id}.insert(0, {context.text(call.args[0])})", context.parent(call))
        else:
            raise CannotRewrite(f"a list has no {method.attr}")
    return rewrite.unsafe("Use a list", "what is called with it gets a list")
