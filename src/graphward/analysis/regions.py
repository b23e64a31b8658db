"""Graph regions: every `construct`, every jit function, and the project functions that they reach."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..knowledge.names import JIT_NAMES
from .calls import CallGraph
from .module import ClassInfo, FunctionInfo, Module
from .names import dotted
from .project import Project
from .tree import preorder

# What makes a file worth parsing for regions of its own.
MARKERS = (b"def construct", b"jit", b"ms_function")
# Bases that say that a class with a `construct` is no Cell.
_FOREIGN = ("torch.", "tensorflow.", "keras.", "jax.", "flax.", "paddle.", "argparse.", "yaml.", "enum.")


@dataclass(eq=False)
class Region:
    """Where compilation starts. `kind` is "construct" or "jit"; `cell` the class whose instance `self` is."""

    root: FunctionInfo
    kind: str
    cell: ClassInfo | None

    @property
    def qualname(self) -> str:
        return self.root.qualname


@dataclass(eq=False)
class Reached:
    """A function that a region compiles. `sites` are the call sites met: the caller and the node of the callee
    in it. `path` runs from the region's root to this function."""

    function: FunctionInfo
    region: Region
    path: tuple[FunctionInfo, ...]
    cell: ClassInfo | None
    sites: list[tuple[Reached, ast.AST]] = field(default_factory=list)

    @property
    def call_path(self) -> tuple[str, ...]:
        """`module:qualname` of each function on the way, the region's root first."""
        return tuple(f"{f.module.name}:{f.qualname}" for f in self.path)


def graph_regions(project: Project, modules: Iterable[Module]) -> list[Region]:
    """The regions that start in `modules`, in source order; inherited `construct`s of other files included."""
    found: list[Region] = []
    for module in modules:
        jitted = set(_jitted(project, module))
        for function in module.functions:
            if function.name == "construct" and function.owner is not None:
                if not _foreign(project, function.owner):
                    found.append(Region(function, "construct", function.owner))
            elif function in jitted:
                found.append(Region(function, "jit", function.owner))
        for info in module.classes:
            inherited = None if "construct" in info.methods else project.method(info, "construct")
            if inherited is not None and not _foreign(project, info):
                found.append(Region(inherited, "construct", info))
    return found


def reach(project: Project, regions: Iterable[Region]) -> dict[FunctionInfo, Reached]:
    """Every function that the regions compile, by breadth-first search: the shortest way in is the one reported.

    A function met for several classes (an inherited `construct` that calls an overridden method) is followed for
    each of them, and reported once.
    """
    found: dict[FunctionInfo, Reached] = {}
    seen: set[tuple[FunctionInfo, ClassInfo | None]] = set()
    # A class's own construct before inherited ones: `self` then is the class that the text belongs to.
    ordered = sorted(regions, key=lambda r: r.cell is not r.root.owner)
    queue = deque(Reached(r.root, r, (r.root,), r.cell) for r in ordered)
    calls = CallGraph(project)
    while queue:
        reached = queue.popleft()
        if (reached.function, reached.cell) in seen:
            # Called several times by one function: queued before the first was taken up.
            known = found[reached.function].sites
            known += (site for site in reached.sites if site not in known)
            continue
        seen.add((reached.function, reached.cell))
        found.setdefault(reached.function, reached)
        for node, callee, cell in calls.callees(reached.function, reached.cell):
            site = (reached, node)
            if callee in found:
                found[callee].sites.append(site)
                if (callee, cell) in seen or cell is None:
                    continue
            queue.append(Reached(callee, reached.region, (*reached.path, callee), cell, [site]))
    return found


def _foreign(project: Project, info: ClassInfo) -> bool:
    return any(isinstance(b, str) and b.startswith(_FOREIGN) for c in project.mro(info) for b in project.bases(c))


def _jitted(project: Project, module: Module) -> Iterator[FunctionInfo]:
    """Functions under a jit decorator, and functions handed to a `jit(...)` call."""
    data = module.source.utf8
    if b"jit" not in data and b"ms_function" not in data:
        return
    for function in module.functions:
        if any(_is_jit(module, name) for name, _ in function.decorators):
            yield function
    if b"jit(" not in data and b"ms_function(" not in data:
        return
    for node in preorder(module.tree):
        if isinstance(node, ast.Call) and node.args and _is_jit(module, _callee_name(module, node.func)):
            target = node.args[0]
            if isinstance(target, ast.Name):
                yield from (f for f in module.functions if f.name == target.id and f.owner is None)
                imported = project.definition(module.names.lookup(target.id) or "")
                if isinstance(imported, FunctionInfo):
                    yield imported
            elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                holders = (c for c in module.classes if c.node.lineno <= node.lineno <= (c.node.end_lineno or 0))
                methods = (project.method(c, target.attr) for c in holders)
                yield from (m for m in methods if m is not None)


def _callee_name(module: Module, node: ast.expr) -> str:
    return module.names.resolve(node) or dotted(node) or ""


def _is_jit(module: Module, name: str) -> bool:
    if name in JIT_NAMES:
        return True
    return name in ("jit", "ms_function") and any(star.startswith("mindspore") for star in module.names.stars)
