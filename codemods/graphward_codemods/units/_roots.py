"""Where a graph starts: functions under a jit decorator, and those that a call of jit gets."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from graphward.analysis.inference import Inference
from graphward.analysis.module import ClassInfo, FunctionInfo, Module
from graphward.analysis.tree import preorder
from graphward.knowledge.names import JIT_NAMES

from ._boundaries import jit_decorator
from ._references import references

_BRANCHES = (ast.If, ast.IfExp, ast.For, ast.While, ast.Try)


@dataclass(eq=False)
class Root:
    """`place` is the decorator or the call of jit. `conditional` calls of jit stand in a branch."""

    function: FunctionInfo
    cell: ClassInfo | None
    place: ast.expr
    conditional: bool = False

    @property
    def is_call(self) -> bool:
        return self.place not in self.function.node.decorator_list

    @property
    def keywords(self) -> list[ast.keyword]:
        return self.place.keywords if isinstance(self.place, ast.Call) else []


def jit_roots(inference: Inference) -> list[Root]:
    """The functions of a run that are compiled by themselves."""
    return inference.once(jit_roots, lambda: _find(inference))


def _find(inference: Inference) -> list[Root]:
    found = []
    for function, reached in inference.reached.items():
        if len(reached.path) != 1 or b"jit" not in function.module.source.utf8:
            continue
        if reached.cell is not None and _is_optimizer(inference, reached.cell):
            continue  # one graph on purpose: its parts are loops over the same parameters
        decorator = jit_decorator(function)
        if decorator is not None:
            found.append(Root(function, reached.cell, decorator))
        elif reached.region.kind == "jit":
            found += _by_call(function, reached.cell)
    return found


def _is_optimizer(inference: Inference, cell: ClassInfo) -> bool:
    project = inference.project
    bases = (base for known in project.mro(cell) for base in project.bases(known))
    return any(isinstance(base, str) and base.rpartition(".")[2] == "Optimizer" for base in bases)


def _by_call(function: FunctionInfo, cell: ClassInfo | None) -> list[Root]:
    """The one call `jit(function)` of its module; several are several graphs, of which none can be taken away."""
    module = function.module
    calls = [c for c in _jit_calls(module) if isinstance(c.args[0], ast.Name) and c.args[0].id == function.name]
    if len(calls) != 1 or function.owner is not None:
        return []
    return [Root(function, cell, calls[0], _in_branch(module, calls[0]))]


def _jit_calls(module: Module) -> list[ast.Call]:
    return [
        n for n in preorder(module.tree)
        if isinstance(n, ast.Call) and n.args and module.names.resolve(n.func) in JIT_NAMES
    ]  # fmt: skip


def _in_branch(module: Module, call: ast.Call) -> bool:
    return any(
        isinstance(n, _BRANCHES) and n.lineno <= call.lineno <= (n.end_lineno or 0) and call in preorder(n)
        for n in preorder(module.tree)
    )


def is_unit_already(inference: Inference, root: Root) -> bool:
    """Whether plain Python calls the function together with other graphs: then it is a part of what was split."""
    roots = {r.function for r in jit_roots(inference)}
    for function, cell in _holders(inference, root):
        called = {callee for r in references(inference, function, cell) for callee, _ in r.targets}
        if root.function in called and function not in roots and len(called & roots) > 1:
            return True
    return False


def _holders(inference: Inference, root: Root) -> list[tuple[FunctionInfo, ClassInfo | None]]:
    """The functions that may call it: methods of classes that hold its class, and those of its own module."""
    project = inference.project
    own = root.function.owner
    found: list[tuple[FunctionInfo, ClassInfo | None]] = []
    for module in list(project.modules.values()):
        if module is root.function.module:
            found += ((f, f.class_around) for f in module.functions if f is not root.function)
        elif own is not None:
            for info in module.classes:
                if any(own in project.attribute_classes(info, name) for name in project.attribute_values(info)):
                    found += ((method, info) for method in info.methods.values())
    return found
