"""Which nodes of a function which rule wants to see."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from ..analysis.module import FunctionInfo, Module
from ..analysis.names import Names, is_class_like
from ..rules.context import FunctionContext
from ..rules.finding import Finding
from ..rules.rule import Rule

_NAMED = (ast.Call, ast.Attribute, ast.Name)


class Visits:
    """The rules of one module by the node types, and the names, that they ask for: most rules want a handful of calls
    among hundreds of thousands of nodes."""

    def __init__(self, module: Module, rules: Sequence[Rule]):
        self._all: dict[type[ast.AST], list[Rule]] = {}
        self._named: dict[type[ast.AST], dict[str, list[Rule]]] = {}
        self._constructors: list[Rule] = []
        for rule in rules:
            for node_type in rule.nodes:
                if rule.constructors and node_type is ast.Call:
                    self._constructors.append(rule)
                elif rule.names and node_type in _NAMED:
                    table = self._named.setdefault(node_type, {})
                    for name in rule.names:
                        table.setdefault(name, []).append(rule)
                else:
                    self._all.setdefault(node_type, []).append(rule)
        self._whole = [rule for rule in rules if rule.overrides("visit_function")]
        calls = {ast.Call} if self._constructors else ()
        self._types = frozenset(self._all) | frozenset(self._named) | frozenset(calls)
        self._add_aliases(module.names)

    def findings(self, context: FunctionContext, skip: Collection[ast.AST]) -> Iterator[Finding]:
        """What the rules find in one function, the nodes in `skip` left out."""
        for rule in self._whole:
            yield from rule.visit_function(context)
        for rule, node in self._of(context.function):
            if node not in skip:
                yield from rule.visit(node, context)

    def _of(self, function: FunctionInfo) -> Iterator[tuple[Rule, ast.AST]]:
        """Each rule with each node of `function` that it wants, in source order."""
        if not self._types:
            return
        self._add_aliases(function.names)
        types, whole, named, constructors = self._types, self._all, self._named, self._constructors
        for node in function.nodes:
            kind = node.__class__
            if kind not in types:
                continue
            for rule in whole.get(kind, ()):
                yield rule, node
            table = named.get(kind)
            if table is None and (kind is not ast.Call or not constructors):
                continue
            name = _last_name(node)
            if table is not None:
                for rule in table.get(name, ()):
                    yield rule, node
            if kind is ast.Call and constructors and is_class_like(name):
                for rule in constructors:
                    yield rule, node

    def _add_aliases(self, names: Names) -> None:
        """`from mindspore import Tensor as T` makes `T` another name for what is asked for as `Tensor`."""
        for alias, meaning in names.aliases.items():
            last = meaning.rpartition(".")[2]
            if alias != last:
                for table in self._named.values():
                    for rule in table.get(last, ()):
                        known = table.setdefault(alias, [])
                        if rule not in known:
                            known.append(rule)


def _last_name(node: ast.AST) -> str:
    """The last part of the name of a callee, an attribute or a name; empty for the call of anything else."""
    if node.__class__ is ast.Call:
        node = node.func
    if node.__class__ is ast.Attribute:
        return node.attr
    return node.id if node.__class__ is ast.Name else ""
