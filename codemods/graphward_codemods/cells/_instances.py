"""Instances that one can stand for: constructor calls that mean the same wherever in the class they stand."""

from __future__ import annotations

import ast

from graphward.analysis.module import ClassInfo
from graphward.analysis.project import Project

from ._attributes import subclasses
from ._creations import Creation, constructed


def same_everywhere(creation: Creation) -> str:
    """What a creation makes, as a text that is equal for equal instances; empty where it depends on local names."""
    call, function = creation.call, creation.function
    parts = [*call.args, *(k.value for k in call.keywords)]
    for node in (n for part in parts for n in ast.walk(part)):
        if isinstance(node, ast.Name) and node.id != function.receiver:
            if function.names.is_local(node.id) or node.id in function.locals:
                return ""
        elif isinstance(node, (ast.Call, ast.Lambda)):
            return ""
    keywords = sorted(f"{k.arg}={ast.dump(k.value)}" for k in call.keywords)
    return f"{creation.qualified}({[ast.dump(a) for a in call.args]}, {keywords})"


def kept_instances(project: Project, cell: ClassInfo) -> dict[str, str]:
    """What `__init__` of the class or its bases makes in any case and nobody changes, as `same_everywhere` says it,
    with the attribute that keeps it."""
    found: dict[str, str] = {}
    touched: set[str] | None = None
    for name, values in project.attribute_values(cell).items():
        if len(values) != 1:
            continue
        method, value = values[0]
        if method.name != "__init__" or not isinstance(value, ast.Call):
            continue
        if method.parents.get(method.parents[value]) is not method.node:
            continue
        creation = constructed(project, method, value)
        key = same_everywhere(creation) if creation is not None else ""
        if not key:
            continue
        if touched is None:
            touched = _touched(project, cell)
        if name not in touched:
            found.setdefault(key, name)
    return found


def _touched(project: Project, cell: ClassInfo) -> set[str]:
    """Attributes of self of which something is read or set, `self.add.shard(...)`, and those that subclasses set."""
    found: set[str] = set()
    for info in project.mro(cell):
        for method in info.methods.values():
            for node in method.nodes:
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
                    found.add(node.value.attr)
    for info in subclasses(project, cell):
        for method in info.methods.values():
            found.update(name for name, _ in method.self_assignments)
            found.update(
                n.value.attr
                for n in method.nodes
                if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Attribute)
            )
    return found
