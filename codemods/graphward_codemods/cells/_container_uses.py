"""Where a container is used, and what of that keeps it from becoming a CellList, CellDict or ParameterTuple."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphward.analysis.inference import Inference
from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.rules.context import CellContext

from ._attributes import subclasses
from ._uses import unsupported

if TYPE_CHECKING:
    from ._containers import Container


def obstacle(context: CellContext, container: Container, kind: str) -> str:
    """Why the container cannot become a CellList, CellDict or ParameterTuple as it is; empty when it can."""
    if container.obstacle:
        return container.obstacle
    values = context.project.attribute_values(context.cell).get(container.attribute, [])
    if any(value is not container.value for _, value in values):
        return f"self.{container.attribute} is assigned in more than one place"
    for function, node in _all_uses(context, container.attribute):
        if isinstance(node.ctx, ast.Store) or node in _targets(container):
            continue
        reason = unsupported(node, function.parents, kind, function is container.method and function.name == "__init__")
        if reason:
            where = f" in {function.name}" if function.name != container.method.name else ""
            return f"{reason}{where}, line {node.lineno}"
    return ""


def _targets(container: Container) -> set[ast.AST]:
    statement = container.statement
    assert isinstance(statement, (ast.Assign, ast.AnnAssign))
    return set(statement.targets if isinstance(statement, ast.Assign) else [statement.target])


def graph_uses(context: CellContext) -> set[str]:
    """The attributes of self that graph code of the class, its bases and its subclasses reads."""
    table = context.once(graph_uses, lambda: _graph_reads(context.inference))
    family = [*context.project.mro(context.cell), *subclasses(context.project, context.cell)]
    return set().union(*(table.get(info, ()) for info in family))


def _graph_reads(inference: Inference) -> dict[ClassInfo, set[str]]:
    """The attributes of self that graph code in the body of each class reads."""
    table: dict[ClassInfo, set[str]] = {}
    for function in inference.reached:
        owner, receiver = function.class_around, function.receiver
        if owner is not None and receiver is not None:
            found = table.setdefault(owner, set())
            for node in function.loads:
                if node.__class__ is ast.Attribute and node.value.__class__ is ast.Name:
                    if node.value.id == receiver:
                        found.add(node.attr)
    return table


def _all_uses(context: CellContext, attribute: str) -> Iterator[tuple[FunctionInfo, ast.Attribute]]:
    for info in [*context.project.mro(context.cell), *subclasses(context.project, context.cell)]:
        for method in info.methods.values():
            for node in method.nodes:
                if isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.value, ast.Name):
                    if node.value.id == method.receiver:
                        yield method, node
