"""Which defaults of nested functions the compiler can evaluate.

It evaluates them as if they stood inside the function, and outside of any call (MindSpore 2.10): the function's own
parameters hide what is around it, and nothing may depend on an argument of the function around it, or on what a loop
or a condition leaves, even where that is a number.
"""

from __future__ import annotations

import ast

from graphward.analysis.binding import mentions_self_attribute
from graphward.analysis.module import FunctionInfo
from graphward.analysis.names import all_arguments
from graphward.analysis.tree import around

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def names_in(default: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(default) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def depends_on_graph(name: str, at: ast.AST, function: FunctionInfo) -> bool:
    """Whether a variable has no value for the compiler where `at` stands in a function, or in one around it."""
    return _Reading(function).depends(name, at)


class _Reading:
    def __init__(self, function: FunctionInfo):
        self._function = function
        self._start = function.module.start
        self._open: set[str] = set()

    def depends(self, name: str, at: ast.AST) -> bool:
        function = self._function
        scopes = list(around(at, function.parents))
        for scope in scopes:
            if isinstance(scope, ast.Lambda) and name in {a.arg for a in all_arguments(scope.args)}:
                return True
            if isinstance(scope, COMPREHENSIONS) and name in function.names.hidden | _targets(scope):
                return True
        if name not in function.names.hidden:
            outer = function.outer
            return outer is not None and name in _locals_of(outer) and depends_on_graph(name, function.node, outer)
        if name in self._open:
            return False
        if name in {a.arg for a in all_arguments(function.node.args)}:
            # What binds it again counts as well, but may do so on some ways only.
            return name != function.receiver
        stores = [n for n in self._stores(name) if self._start(n) < self._start(at)]
        if not stores:
            return False
        self._open.add(name)
        found = any(self._given(store) for store in stores) or self._joined(name, stores[-1], at, scopes)
        self._open.discard(name)
        return found

    def _stores(self, name: str) -> list[ast.AST]:
        return [
            n for n in self._function.nodes
            if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load) and self._is_own(n)
        ]  # fmt: skip

    def _is_own(self, node: ast.AST) -> bool:
        inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, *COMPREHENSIONS)
        return not any(
            isinstance(a, inner) and a is not self._function.node for a in around(node, self._function.parents)
        )

    def _given(self, store: ast.AST) -> bool:
        """Whether what gives a variable its value reads something that depends on the graph."""
        statement = next(a for a in around(store, self._function.parents) if isinstance(a, ast.stmt))
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            return True
        # The names of lambdas and comprehensions in it are theirs.
        inner = {a.arg for a in ast.walk(statement) if isinstance(a, ast.arg)}
        inner |= set().union(*(_targets(n) for n in ast.walk(statement)))
        return any(
            self.depends(n.id, statement) for n in ast.walk(statement)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id not in inner
        )  # fmt: skip

    def _joined(self, name: str, last: ast.AST, at: ast.AST, scopes: list[ast.AST]) -> bool:
        """Whether a loop or a condition between the last assignment and the place makes a value of several of it."""
        inside = set(scopes)
        for node in self._function.nodes:
            if not isinstance(node, (*_LOOPS, ast.If)) or self._start(node) > self._start(at) or not self._is_own(node):
                continue
            binds = node in around(last, self._function.parents)
            if isinstance(node, ast.If):
                if binds and node not in inside and not mentions_self_attribute(node.test, self._function.receiver):
                    return True
            elif (binds and node not in inside) or (not binds and self._start(last) < self._start(node)):
                return True
        return False


def _targets(node: ast.AST) -> set[str]:
    generators = getattr(node, "generators", ())
    return {n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}


def _locals_of(function: FunctionInfo) -> set[str]:
    found: set[str] = set()
    scope: FunctionInfo | None = function
    while scope is not None:
        found |= scope.names.hidden
        scope = scope.outer
    return found
