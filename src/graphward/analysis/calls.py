"""Which project functions a function names or calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..knowledge.names import COMPILE_TIME_DECORATORS, WRAPPER_NAMES, canonical
from .module import ClassInfo, FunctionInfo
from .names import dotted, is_super
from .project import NO_PROJECT, Project

Target = tuple[FunctionInfo, ClassInfo | None]
Call = tuple[ast.AST, FunctionInfo, ClassInfo | None]


class CallGraph:
    """Resolves callees; each name of a function, and each member of a class, is looked up once."""

    def __init__(self, project: Project):
        self._project = project
        self._loads: dict[FunctionInfo, tuple[list[tuple[ast.AST, FunctionInfo]], list[ast.Attribute]]] = {}
        self._members: dict[tuple[ClassInfo, str, str], list[Target]] = {}

    def callees(self, function: FunctionInfo, cell: ClassInfo | None) -> Iterator[Call]:
        """`(node, function, class of its self)` for each project function that `function` names or calls; `cell` is
        the class of its own `self`. Functions that run in Python while the graph is compiled are left out."""
        if function not in self._loads:
            self._loads[function] = self._split(function)
        fixed, own = self._loads[function]
        for node, found in fixed:
            # A function nested in a method keeps the method's `self`.
            yield node, found, cell if found.outer is not None else found.owner
        for attribute in own:
            for found, holder in self._by_receiver(function, cell, attribute):
                yield attribute, found, holder

    def _split(self, function: FunctionInfo) -> tuple[list[tuple[ast.AST, FunctionInfo]], list[ast.Attribute]]:
        """What a function calls whatever its `self` is, and the attributes that depend on it: `self.a`, `self.a.b` and
        `super().a`."""
        names: dict[str, FunctionInfo | None] = {}
        heads: dict[str, str | ClassInfo | None] = {}
        fixed: list[tuple[ast.AST, FunctionInfo]] = []
        own: list[ast.Attribute] = []
        receiver = function.receiver
        for node in function.loads:
            if isinstance(node, ast.Name):
                if node.id not in names:
                    names[node.id] = self._by_name(function, node.id)
                found = names[node.id]
            else:
                value: ast.expr = node.value  # type: ignore[attr-defined]
                depth = 1
                while value.__class__ is ast.Attribute:
                    value = value.value
                    depth += 1
                if value.__class__ is ast.Name:
                    head: str = value.id
                    if head == receiver:
                        if depth <= 2:
                            own.append(node)  # type: ignore[arg-type]
                        continue
                    if head not in heads:
                        heads[head] = self._head(function, head)
                    meaning = heads[head]
                    if meaning is None:
                        continue
                    found = self._under(meaning, node, depth)  # type: ignore[arg-type]
                elif value.__class__ is ast.Call and depth == 1:
                    if is_super(value):
                        own.append(node)  # type: ignore[arg-type]
                        continue
                    made = self._project.called_class(function, value)
                    found = self._project.method(made, node.attr) if made else None  # type: ignore[attr-defined]
                else:
                    continue
            if found is not None and (isinstance(node, ast.Name) or not _runs_while_compiling(found)):
                fixed.append((node, found))
        return fixed, own

    def _head(self, function: FunctionInfo, name: str) -> str | ClassInfo | None:
        """What `name.attribute` may lead into: the import that `name` is, or a class of the project; None for what can
        lead to no function of it."""
        meaning = function.names.lookup(name)
        if meaning is not None:
            return None if meaning.partition(".")[0] in NO_PROJECT else meaning
        known = self._project.visible(function, name)
        return known if isinstance(known, ClassInfo) else None

    def _under(self, head: str | ClassInfo, node: ast.Attribute, depth: int) -> FunctionInfo | None:
        """The function behind `head.attribute`, or behind a longer chain over an import."""
        if isinstance(head, ClassInfo):
            return self._project.method(head, node.attr) if depth == 1 else None
        chain = (dotted(node) or "").partition(".")[2]
        found = self._project.definition(canonical(f"{head}.{chain}"))
        return found if isinstance(found, FunctionInfo) else None

    def _by_name(self, function: FunctionInfo, name: str) -> FunctionInfo | None:
        known = self._project.visible(function, name)
        if known is None and function.module.wraps:
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

    def _by_receiver(self, function: FunctionInfo, cell: ClassInfo | None, node: ast.Attribute) -> list[Target]:
        """`self.attribute`, `self.attribute.method` and `super().method`."""
        if cell is None:
            return []
        value = node.value
        if isinstance(value, ast.Name):
            return self._member(cell, node.attr, "")
        if isinstance(value, ast.Attribute):
            return self._member(cell, value.attr, node.attr)
        method = self._project.method(cell, node.attr, after=function.class_around)
        return [(method, cell)] if method and not _runs_while_compiling(method) else []

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
        if not method:
            found += ((wrapped, cell) for wrapped in self._wrapped_methods(cell, attribute))
        for held in project.attribute_classes(cell, attribute):
            names = (method,) if method else ("construct", "__call__")
            called = next((m for n in names if (m := project.method(held, n))), None)
            if called is not None:
                found.append((called, held))
        return found

    def _wrapped_methods(self, cell: ClassInfo, attribute: str) -> Iterator[FunctionInfo]:
        """The methods behind an attribute like `self.grad_fn = ms.grad(self.forward)`."""
        for function, value in self._project.attribute_values(cell).get(attribute, ()):
            if not (isinstance(value, ast.Call) and value.args and isinstance(value.args[0], ast.Attribute)):
                continue
            wrapped = value.args[0]
            if not (isinstance(wrapped.value, ast.Name) and wrapped.value.id == function.receiver):
                continue
            method = self._project.method(cell, wrapped.attr)
            if method is not None and function.names.resolve(value.func) in WRAPPER_NAMES:
                yield method


def _runs_while_compiling(function: FunctionInfo) -> bool:
    if not function.node.decorator_list:
        return False
    return any(n in COMPILE_TIME_DECORATORS or n.rpartition(".")[2] == "constexpr" for n, _ in function.decorators)
