"""Puts stand-ins into MindSpore. For one forked child: there is no way back."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import mindspore as ms
from mindspore.ops import Primitive

from ..graph import Parser
from .guards import guard
from .registry import StandIn, chosen, noted

USED: set[str] = set()
"""Titles of the stand-ins that this process has called or compiled."""

_PREFIX = "__graphward_method_"


def install(kernels: Iterable[str]) -> None:
    """From now on the stand-ins for these kernels take their place."""
    entries = chosen(frozenset(kernels))
    if not entries:
        return
    _replace_primitives({e.name: noted(e, USED) for e in entries if e.kind == "kernel"})
    _replace_functions([e for e in entries if e.kind in ("function", "class")])
    methods = [e for e in entries if e.kind == "method"]
    _replace_methods(methods)
    _watch_parser(entries)


def is_primitive(value: Any) -> bool:
    """Whether a value is what MindSpore's Python functions call to run a kernel."""
    return isinstance(value, Primitive) or type(value).__name__.startswith("_Pyboost")


def holders() -> Iterable[dict[str, Any]]:
    """The names of each module of MindSpore that is loaded."""
    return [vars(module) for name, module in list(sys.modules.items()) if name.split(".")[0] == "mindspore" and module]


def _replace_primitives(standins: dict[str, Any]) -> None:
    for names in holders():
        for name, value in list(names.items()):
            if is_primitive(value) and value.name in standins:
                names[name] = standins[value.name]


def _replace_functions(entries: list[StandIn]) -> None:
    originals = {id(entry.original()): noted(entry, USED) for entry in entries if entry.original() is not None}
    for names in holders():
        for name, value in list(names.items()):
            if id(value) in originals:
                names[name] = originals[id(value)]


def _replace_methods(entries: list[StandIn]) -> None:
    for entry in entries:
        for owner in (ms.Tensor, ms.Parameter):
            if owner is ms.Tensor or entry.name not in vars(owner):  # Parameter.clone means something else
                setattr(owner, entry.name, noted(entry, USED))
    compiled = {entry.name: entry for entry in entries if entry.compiles}
    if compiled:
        _rewrite_calls(compiled)


def _rewrite_calls(methods: dict[str, StandIn]) -> None:
    """Graph Mode looks methods of tensors up in a table of its own, which Python cannot change. So where the parser
    reads `x.clone()` it is handed a guard (see `guards`), applied to `x` and the arguments, at the same place."""
    guards = {_PREFIX + name: guard(name, entry.function) for name, entry in methods.items()}
    original = Parser.parse

    def parse(self: Any) -> Any:
        tokens, tree = original(self)
        if tree is None or os.path.dirname(self.filename) == os.path.dirname(__file__):
            return tokens, tree
        if not getattr(tree, "graphward_rewritten", False):
            _Calls(frozenset(guards), self.global_namespace.dicts[0]).visit(tree)
            tree.graphward_rewritten = True
        for name, function in guards.items():
            self.global_namespace.dicts[0].setdefault(name, function)
        return tokens, tree

    Parser.parse = parse


class _Calls(ast.NodeTransformer):
    """Calls of methods; those of what a module holds (`mint.clone(x)`) and of `super()` stay."""

    def __init__(self, guards: frozenset[str], names: dict[str, Any]):
        self.guards = guards
        self.names = names

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, ast.Attribute) or _PREFIX + function.attr not in self.guards:
            return node
        if self.is_no_value(function.value):
            return node
        guarded = ast.copy_location(ast.Name(id=_PREFIX + function.attr, ctx=ast.Load()), function)
        for token in ("first_token", "last_token"):  # where the parser reads positions
            setattr(guarded, token, getattr(function, token, None))
        node.func = guarded
        node.args = [function.value, *node.args]
        return node

    def is_no_value(self, node: ast.expr) -> bool:
        """Whether an expression is a module, a class, `self` or `super()`."""
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id == "super"
        if isinstance(node, ast.Name) and node.id == "self":
            return True
        found = self.resolve(node)
        return isinstance(found, (ModuleType, type))

    def resolve(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
        return None


def _watch_parser(entries: list[StandIn]) -> None:
    """What Graph Mode compiles counts as used."""
    titles = {entry.function: entry.title for entry in entries}
    original = Parser.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        title = titles.get(self.fn)
        if title is not None:
            USED.add(title)

    Parser.__init__ = __init__
