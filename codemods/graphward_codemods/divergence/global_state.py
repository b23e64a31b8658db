"""GW906: globals that graph code rebinds or changes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import ClassInfo
from graphward.analysis.ownership import Source
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite
from ._carried import carry
from ._globals import global_place, item_place, rebound_globals
from ._grown import move_appends
from ._mutations import MUTATORS, NODES, changed, mutation_at
from ._state import literal_item


class GlobalState(Rule):
    """A global is rebound or changed in a graph, and stays as it is.

    ## What it finds

    `global COUNT` followed by `COUNT = ...` or `COUNT += 1` in a graph region; `SEEN.append(x)`, `LIMITS["low"] = 2` on
    a list or dict of the module; `Net.count += 1` on a class.

    ## Why

    A global is a constant of the compiled graph. The graph neither writes it back nor sees, after the statement, the
    new value: without a word. An attribute of a class is written by the interpreter, and refused with
    `fullgraph=True`.

    ## Example

        global COUNT
        COUNT = COUNT + 1
        return x * COUNT

    becomes

        self.count = self.count + 1
        return x * self.count

    with a Parameter `count`, which a new `__call__` loads from the global before and stores to it afterwards.

    ## What the rewrite assumes

    That the global is a number, an int within 32 bits, and the Cell is called and not its `construct`.

    ## When it is unsafe

    Always: in the graph the number is a Tensor. A list that is appended to is treated as GW905 treats those on self;
    anything else has no rewrite: hand the value in and give it back.

    ## References

    Measured on MindSpore 2.7.0 and 2.10.0 CPU.
    """

    code = "GW906"
    name = "global-state"
    consequence = Consequence.DIVERGENCE
    triggers = (b"global ", b"]", b".append(", b".update(", b"=")
    nodes = NODES
    names = MUTATORS

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        function = context.function
        for name, statements in rebound_globals(function).items():
            fix = _rebound(context, name)
            message = f"the global {name} is not rebound: the graph took its value when it was compiled"
            for statement in statements:
                yield context.finding(self, statement, message, fixes=(fix,))

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        target = _class_target(node, context)
        if target is not None:
            message = f"{context.text(target)} is written by the interpreter, at each call"
            fixes = (_item(context, target, _class_start(context, target)),)
            yield context.finding(self, node, message, fixes=fixes, consequence=Consequence.FALLBACK)
            return
        mutation = mutation_at(node, context)
        if mutation is None:
            return
        for source in [s for s in changed(context, mutation).objects if s.kind == "global"][:1]:
            message = f"the global {source.name} stays as it is: the graph changes a copy of its own"
            item = _written_item(node)
            if item is not None and isinstance(item.value, ast.Name):
                fix = _item(context, item, _item_start(context, item))
            else:
                fix = _appended(context, source)
            yield context.finding(self, node, message, fixes=(fix,))


def _written_item(node: ast.AST) -> ast.Subscript | None:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    return next((t for t in targets if isinstance(t, ast.Subscript)), None)


def _class_target(node: ast.AST, context: FunctionContext) -> ast.Attribute | None:
    """`Net.count` where a statement writes an attribute of a class of the project."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    for target in targets:
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            if isinstance(context.inference.visible(context.function, target.value.id), ClassInfo):
                return target
    return None


def _class_start(context: FunctionContext, target: ast.Attribute) -> ast.expr | None:
    assert isinstance(target.value, ast.Name)
    info = context.inference.visible(context.function, target.value.id)
    for node in info.node.body if isinstance(info, ClassInfo) else ():
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == target.attr for t in node.targets):
            return node.value
    return None


def _item_start(context: FunctionContext, target: ast.Subscript) -> ast.expr | None:
    """What the module's dict or list literal has at the place."""
    assert isinstance(target.value, ast.Name)
    held = context.module.assignments.get(target.value.id)
    if not isinstance(target.slice, ast.Constant):
        return None
    return literal_item(held, target.slice.value)


def _rebound(context: FunctionContext, name: str) -> Fix:
    try:
        place = global_place(context, name)
        drop: list[ast.stmt] = []
        for node in context.function.nodes:
            if isinstance(node, ast.Global) and name in node.names:
                if len(node.names) > 1:
                    raise CannotRewrite(f"{', '.join(node.names)} are declared together")
                drop.append(node)
        return carry(context, place, drop)
    except CannotRewrite as reason:
        return _manual(context, name, reason)


def _item(context: FunctionContext, target: ast.Subscript | ast.Attribute, start: ast.expr | None) -> Fix:
    try:
        return carry(context, item_place(context, target, start), [])
    except CannotRewrite as reason:
        return _manual(context, context.text(target), reason)


def _appended(context: FunctionContext, source: Source) -> Fix:
    try:
        return move_appends(context, source)
    except CannotRewrite as reason:
        return _manual(context, source.name, reason)


def _manual(context: FunctionContext, name: str, reason: Exception) -> Fix:
    advice = f"{reason}; hand {name} in as an argument and give its new value back, or keep it in a Parameter"
    return context.rewrite().manual(f"Keep {name} outside of the graph", advice)
