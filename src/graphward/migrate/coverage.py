"""Which targets of a proof exercise which functions."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from ..analysis.calls import CallGraph
from ..analysis.module import ClassInfo, FunctionInfo, Module
from ..config import Config
from ..engine.check import Analysis
from ..engine.workspace import Workspace
from ..source.text import SourceText
from ..verify.targets import Target, parse_target

Place = tuple[Path, str]
"""A function by its file and qualified name, which outlives an edit of the file."""


@dataclass(frozen=True)
class ProofTarget:
    """A Cell or jit function that can be proven; `inputs` are declared specs, None lets the worker infer them;
    `places` are the functions that a call of it runs through."""

    target: Target
    inputs: tuple[str, ...] | None
    places: frozenset[Place] = field(compare=False)

    @property
    def name(self) -> str:
        return str(self.target)


def place_of(function: FunctionInfo) -> Place:
    return function.module.path, function.qualname


def place_at(source: SourceText, offset: int) -> Place:
    """The function, else the class, that runs the byte `offset` of a snapshot; an empty name for neither."""
    module = _module(source)
    function = module.function_at(offset)
    # The head of a nested function runs with the function around it, also where nothing calls the nested one.
    if function is not None and function.outer is not None and offset < module.start(function.node.body[0]):
        function = function.outer
    if function is not None:
        return place_of(function)
    line = source.position(offset)[0]
    around = [c for c in module.classes if c.node.lineno <= line <= (c.node.end_lineno or line)]
    innermost = max(around, key=lambda c: c.node.lineno, default=None)
    return source.path, innermost.qualname if innermost else ""


@lru_cache(maxsize=64)
def _module(source: SourceText) -> Module:
    return Module.parse(source, source.path.stem)


class Coverage:
    """The targets that a workspace offers: declared ones, and every region that can be named from outside."""

    def __init__(self, workspace: Workspace, analysis: Analysis, config: Config):
        self._calls = CallGraph(analysis.project)
        self._project = analysis.project
        self.declared = list(self._declared(workspace, config))
        known = {(t.target.path, _head(t.target.expr)) for t in self.declared}
        self.regions: list[ProofTarget] = []
        for region in () if config.verify.declared_only else analysis.regions:
            holder = region.cell if region.kind == "construct" else None
            name = holder.qualname if holder else region.root.qualname
            module = holder.module if holder else region.root.module
            if "<locals>" in name or (holder is None and region.root.owner is not None):
                continue  # nothing outside the function, or no instance, to call it on
            if (module.path.resolve(), name) not in known:
                target = parse_target(str(module.path)) if module.path.exists() else None
                if target is not None:
                    named = Target(target.tree, target.file, name)
                    self.regions.append(ProofTarget(named, None, self._places(region.root, region.cell)))

    def covering(self, place: Place, *, limit: int) -> list[ProofTarget]:
        """The targets that run through a function: declared ones first, then the smallest regions."""
        inferred = sorted((t for t in self.regions if place in t.places), key=lambda t: len(t.places))
        return [t for t in self.declared if place in t.places] + inferred[:limit]

    def _declared(self, workspace: Workspace, config: Config) -> Iterator[ProofTarget]:
        for text, inputs in config.verify.targets.items():
            target = parse_target(text, config.root)
            path = next((p for p in workspace.files if p.resolve() == target.path), None)
            module = workspace.module(path) if path is not None else None
            if module is None or target.expr is None:
                continue
            found = self._project.named(module, _head(target.expr))
            root = self._project.method(found, "construct") if isinstance(found, ClassInfo) else found
            if isinstance(root, FunctionInfo):
                cell = found if isinstance(found, ClassInfo) else None
                yield ProofTarget(target, inputs, self._places(root, cell))

    def _places(self, root: FunctionInfo, cell: ClassInfo | None) -> frozenset[Place]:
        seen: set[tuple[FunctionInfo, ClassInfo | None]] = {(root, cell)}
        queue = deque(seen)
        while queue:
            function, owner = queue.popleft()
            for _, callee, holder in self._calls.callees(function, owner):
                if (callee, holder) not in seen:
                    seen.add((callee, holder))
                    queue.append((callee, holder))
        classes = {c for _, owner in seen if owner for c in self._project.mro(owner)}
        constructors = {c.methods["__init__"] for c in classes if "__init__" in c.methods}
        bodies = {(c.module.path, c.qualname) for c in classes}
        files = {(f.module.path, "") for f, _ in seen}  # an import runs what stands at module level
        return frozenset(place_of(f) for f in {f for f, _ in seen} | constructors) | bodies | files


def _head(expr: str | None) -> str:
    return (expr or "").partition("(")[0].partition(".")[0].strip()
