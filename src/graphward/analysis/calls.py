"""Which project functions a function names or calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..knowledge.names import COMPILE_TIME_DECORATORS
from .module import ClassInfo, FunctionInfo
from .names import dotted
from .project import Project

Target = tuple[FunctionInfo, ClassInfo | None]
Call = tuple[ast.AST, FunctionInfo, ClassInfo | None]


class CallGraph:
    """Resolves callees; each name of a function, and each member of a class, is looked up once."""

    def __init__(self, project: Project):
        self._project = project
        self._names: dict[FunctionInfo, dict[str, FunctionInfo | None]] = {}
        self._members: dict[tuple[ClassInfo, str, str], list[Target]] = {}

    def callees(self, function: FunctionInfo, cell: ClassInfo | None) -> Iterator[Call]:
        """`(node, function, class of its self)` for each project function that `function` names or calls; `cell` is
        the class of its own `self`. Functions that run in Python while the graph is compiled are left out."""
        names = self._names.setdefault(function, {})
        receiver = function.receiver
        for node in function.loads:
            if node.__class__ is ast.Name:
                name = node.id
                if name not in names:
                    names[name] = self._by_name(function, name)
                found = names[name]
                if found is not None:
                    # A function nested in a method keeps the method's `self`.
                    yield node, found, cell if found.outer is not None else found.owner
            else:
                for target in self._by_attribute(function, cell, receiver, node):  # type: ignore[arg-type]
                    yield node, target[0], target[1]

    def _by_name(self, function: FunctionInfo, name: str) -> FunctionInfo | None:
        known = self._project.visible(function, name)
        if known is None:
            known = self._wrapped(function, name)
        return known if isinstance(known, FunctionInfo) and not _runs_while_compiling(known) else None

    def _wrapped(self, function: FunctionInfo, name: str) -> FunctionInfo | ClassInfo | None:
        """The function behind a variable like `grad_fn = ms.value_and_grad(forward_fn)` of this or an outer scope."""
        scope: FunctionInfo | None = function
        while scope is not None:
            if name in scope.wrapped:
                return self._project.visible(scope, scope.wrapped[name])
            scope = scope.outer
        inner = function.module.wrapped.get(name)
        return self._project.named(function.module, inner) if inner is not None else None

    def _by_attribute(
        self, function: FunctionInfo, cell: ClassInfo | None, receiver: str | None, node: ast.Attribute
    ) -> list[Target]:
        value = node.value
        if isinstance(value, ast.Name) and value.id == receiver:
            return self._member(cell, node.attr, "") if cell else []
        if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == receiver:
            return self._member(cell, value.attr, node.attr) if cell else []
        if isinstance(value, ast.Call):
            target = self._of_call(function, cell, value, node.attr)
        else:
            target = self._dotted(function, node)
        return [target] if target and not _runs_while_compiling(target[0]) else []

    def _member(self, cell: ClassInfo, attribute: str, method: str) -> list[Target]:
        """What `self.<attribute>` calls, or `self.<attribute>.<method>`; of a container, what its elements call."""
        key = (cell, attribute, method)
        if key not in self._members:
            found = self._find_member(cell, attribute, method)
            self._members[key] = [target for target in found if not _runs_while_compiling(target[0])]
        return self._members[key]

    def _find_member(self, cell: ClassInfo, attribute: str, method: str) -> list[Target]:
        project = self._project
        own = project.method(cell, attribute) if not method else None
        if own is not None:
            return [(own, cell)]
        found: list[Target] = []
        for held in project.attribute_classes(cell, attribute):
            names = (method,) if method else ("construct", "__call__")
            called = next((m for n in names if (m := project.method(held, n))), None)
            if called is not None:
                found.append((called, held))
        return found

    def _of_call(self, function: FunctionInfo, cell: ClassInfo | None, call: ast.Call, attribute: str) -> Target | None:
        """`super().method` and `Class(...).method`."""
        project = self._project
        if isinstance(call.func, ast.Name) and call.func.id == "super":
            method = project.method(cell, attribute, after=_class_around(function)) if cell else None
            return (method, cell) if method else None
        made = project.called_class(function, call)
        method = project.method(made, attribute) if made else None
        return (method, made) if method else None

    def _dotted(self, function: FunctionInfo, node: ast.Attribute) -> Target | None:
        """`module.function` and `Class.method`."""
        name = dotted(node)
        if name is None:
            return None
        qualified = function.names.qualify(name)
        if qualified is not None:
            found = None if qualified.startswith("mindspore.") else self._project.definition(qualified)
        elif isinstance(node.value, ast.Name):
            known = self._project.visible(function, node.value.id)
            found = self._project.method(known, node.attr) if isinstance(known, ClassInfo) else None
        else:
            return None
        return (found, found.owner) if isinstance(found, FunctionInfo) else None


def _class_around(function: FunctionInfo) -> ClassInfo | None:
    scope: FunctionInfo | None = function
    while scope is not None and scope.owner is None:
        scope = scope.outer
    return scope.owner if scope else None


def _runs_while_compiling(function: FunctionInfo) -> bool:
    return any(n in COMPILE_TIME_DECORATORS or n.rpartition(".")[2] == "constexpr" for n, _ in function.decorators)
