"""Graph regions: every `construct`, every jit function, and the project functions that they reach."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..knowledge.names import COMPILE_TIME_DECORATORS, JIT_NAMES
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
    while queue:
        reached = queue.popleft()
        if (reached.function, reached.cell) in seen:
            continue
        seen.add((reached.function, reached.cell))
        found.setdefault(reached.function, reached)
        for node, callee, cell in callees(project, reached):
            if _runs_while_compiling(callee):
                continue
            site = (reached, node)
            if callee in found:
                found[callee].sites.append(site)
                if (callee, cell) in seen or cell is None:
                    continue
            queue.append(Reached(callee, reached.region, (*reached.path, callee), cell, [site]))
    return found


def callees(project: Project, reached: Reached) -> Iterator[tuple[ast.AST, FunctionInfo, ClassInfo | None]]:
    """`(node, function, class of its self)` for each project function that a function names or calls."""
    function = reached.function
    skip: set[ast.AST] = set()
    for node in function.nodes:
        if node in skip:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield from ((node, f, c) for f, c in _by_name(project, reached, node.id))
        elif isinstance(node, ast.Attribute):
            target = _by_attribute(project, reached, node)
            if target is not None:
                skip.update(preorder(node.value))
                yield (node, *target)


def _by_name(project: Project, reached: Reached, name: str) -> Iterator[tuple[FunctionInfo, ClassInfo | None]]:
    function = reached.function
    known = project.visible(function, name)
    if isinstance(known, FunctionInfo):
        # A function nested in a method keeps the method's `self`.
        yield known, reached.cell if known.outer is not None else known.owner
    elif known is None:
        inner = _wrapped(project, function, name)
        if inner is not None:
            yield inner, reached.cell if inner.outer else inner.owner


def _wrapped(project: Project, function: FunctionInfo, name: str) -> FunctionInfo | None:
    """The function behind a variable like `grad_fn = ms.value_and_grad(forward_fn)` of this or an outer scope."""
    scope: FunctionInfo | None = function
    while scope is not None:
        if name in scope.wrapped:
            found = project.visible(scope, scope.wrapped[name])
            break
        scope = scope.outer
    else:
        inner = function.module.wrapped.get(name)
        found = project.named(function.module, inner) if inner is not None else None
    return found if isinstance(found, FunctionInfo) else None


def _by_attribute(project: Project, reached: Reached, node: ast.Attribute) -> tuple[FunctionInfo, ClassInfo | None] | None:
    function, cell, value = reached.function, reached.cell, node.value
    receiver = function.receiver
    if isinstance(value, ast.Name) and value.id == receiver and cell is not None:
        method = project.method(cell, node.attr)
        if method is not None:
            return method, cell
        held = project.attribute_class(cell, node.attr)
        called = held and (project.method(held, "construct") or project.method(held, "__call__"))
        return (called, held) if called else None
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == receiver and cell:
        held = project.attribute_class(cell, value.attr)
        method = project.method(held, node.attr) if held else None
        return (method, held) if method else None
    if isinstance(value, ast.Call):
        if isinstance(value.func, ast.Name) and value.func.id == "super" and cell is not None:
            method = project.method(cell, node.attr, after=_class_around(function))
            return (method, cell) if method else None
        made = project.called_class(function, value)
        method = project.method(made, node.attr) if made else None
        return (method, made) if method else None
    name = dotted(node)
    if name is None:
        return None
    qualified = function.names.qualify(name)
    found = project.definition(qualified) if qualified else None
    if found is None and isinstance(value, ast.Name) and qualified is None:
        known = project.visible(function, value.id)
        found = project.method(known, node.attr) if isinstance(known, ClassInfo) else None
    return (found, found.owner) if isinstance(found, FunctionInfo) else None


def _class_around(function: FunctionInfo) -> ClassInfo | None:
    scope: FunctionInfo | None = function
    while scope is not None and scope.owner is None:
        scope = scope.outer
    return scope.owner if scope else None


def _runs_while_compiling(function: FunctionInfo) -> bool:
    return any(n in COMPILE_TIME_DECORATORS or n.rpartition(".")[2] == "constexpr" for n, _ in function.decorators)


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
