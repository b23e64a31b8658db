"""How a graph is cut into compile units: along calls of sub-Cells, where few values are live."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from graphward.analysis.inference import Inference
from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.analysis.tree import preorder

from .._blocks import CannotRewrite
from ._boundaries import crosses, jit_decorator, leaks, obstacle
from ._references import Reference, references
from ._roots import Root, is_unit_already, jit_roots
from ._runs import Run, body_of, run_of
from ._sinks import one_graph
from ._sizes import Sizes, has_weights

SMALLEST_GRAPH = 12
"""Operators below which a graph compiles in no time as it is."""
SMALLEST_UNIT = 3
_EAGER = 8
_EAGER_SHARE = 0.2
_DEPTH = 6


class OnePart(Exception):
    """There is nothing to cut, and nobody would think so."""


@dataclass(eq=False)
class Unit:
    """A function that becomes a graph of its own, and the reference that calls it."""

    function: FunctionInfo
    cell: ClassInfo | None
    size: int
    reference: Reference

    @property
    def title(self) -> str:
        return f"{self.cell.name}.{self.function.name}" if self.cell else self.function.name


@dataclass(eq=False)
class Level:
    """A function that becomes plain Python: what it calls of units, and what of it is cut out. `eager` operators are
    left; `inner` calls the next level."""

    function: FunctionInfo
    cell: ClassInfo | None
    units: list[Unit] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    eager: int = 0
    inner: Reference | None = None


@dataclass(eq=False)
class Split:
    """What becomes of a graph. `problem` says why it stays whole."""

    root: Root
    size: int
    levels: list[Level] = field(default_factory=list)
    problem: str = ""

    @property
    def units(self) -> list[Unit]:
        return list({u.function: u for level in self.levels for u in level.units}.values())

    @property
    def runs(self) -> list[Run]:
        return [run for level in self.levels for run in level.runs]


def splits(inference: Inference, wanted: tuple[str, ...] = ()) -> list[Split]:
    """What becomes of each graph of a run that calls more than one part. `wanted` names the parts that are to be units,
    whatever their size."""
    return inference.once((splits, wanted), lambda: _all(inference, wanted))


def _all(inference: Inference, wanted: tuple[str, ...]) -> list[Split]:
    sizes = Sizes(inference)
    found = []
    for root in jit_roots(inference):
        splitter = Splitter(inference, sizes, wanted, root)
        parts = splitter.parts(root.function, root.cell)
        if len(parts) < 2 or is_unit_already(inference, root):
            continue
        split = Split(root, sizes.function(root.function, root.cell), problem=one_graph(inference, root))
        if split.problem:
            found.append(split)
            continue
        try:
            split.levels = splitter.cut(root.function, root.cell)
        except OnePart:
            continue
        except CannotRewrite as reason:
            if sum(bool(part.targets or part.unknown) for part in parts) < 2:
                continue  # layers of MindSpore in a row: nobody thinks of parts
            split.problem = str(reason)
        found.append(split)
    _keep_apart(inference, found, lambda root, shared: Splitter(inference, sizes, wanted, root, shared=shared))
    return [s for s in found if s.levels or s.problem]


def split_of_part(inference: Inference, root: Root, part: str) -> Split:
    """The split that makes one part a graph of its own, however small the parts are, with what else is worth it.
    `problem` where that cannot be."""
    sizes = Sizes(inference)
    splitter = Splitter(inference, sizes, (), root, also=frozenset({part}))
    split = Split(root, sizes.function(root.function, root.cell), splitter.levels(root.function, root.cell))
    if not any(unit.reference.name == part for unit in split.units):
        split.problem = "its class cannot be a graph of its own" + splitter.why(split.levels)
    _keep_apart(inference, [split], None)
    return split


class Splitter:
    """Cuts one graph. `wanted` are the only parts that become units, where given; `also` become units though small;
    `shared` are functions of other graphs, which a unit may call and none may be."""

    def __init__(
        self, inference: Inference, sizes: Sizes, wanted: tuple[str, ...], root: Root,
        also: frozenset[str] = frozenset(), shared: frozenset[FunctionInfo] = frozenset(),
    ):  # fmt: skip
        self.inference = inference
        self.sizes = sizes
        self.wanted = wanted
        self.root = root
        self.shared = shared
        self.small = also | set(wanted)

    def parts(self, function: FunctionInfo, cell: ClassInfo | None, depth: int = 0) -> list[Reference]:
        """The parts that a function calls; of one that does nothing but call another, those of the other."""
        found = [r for r in references(self.inference, function, cell) if not r.each]
        if len(found) == 1 and len(found[0].targets) == 1 and depth < _DEPTH:
            return self.parts(*found[0].targets[0], depth + 1)
        return found

    def cut(self, function: FunctionInfo, cell: ClassInfo | None) -> list[Level]:
        """The functions that become plain Python. Raises CannotRewrite with why nothing is cut."""
        levels = self.levels(function, cell)
        if self._weighty(levels) < 2 and not self.wanted:
            raise OnePart
        total = self.sizes.function(self.root.function, self.root.cell)
        if total < SMALLEST_GRAPH and not self.wanted:
            raise CannotRewrite(f"a graph of about {total} operators is too small to be worth several")
        units = [u for level in levels for u in level.units]
        runs = [r for level in levels for r in level.runs]
        eager = sum(level.eager for level in levels)
        if not units and len(runs) < 2:
            raise CannotRewrite("no part of it can be a graph of its own" + self.why(levels))
        if eager > max(_EAGER, _EAGER_SHARE * total) and not self.wanted:
            raise CannotRewrite(f"about {eager} of {total} operators stand between the parts, and too many values are "
                                f"live there to cut them out{self.why(levels)}")  # fmt: skip
        return levels

    def _weighty(self, levels: list[Level]) -> int:
        """How many parts have weights, and can be told apart from one another: encoder, head, a layer as it is."""
        found = [
            r for level in levels for r in references(self.inference, level.function, level.cell)
            if r is not level.inner and has_weights(self.inference, r)
        ]  # fmt: skip
        return len({r.name for r in found})

    def why(self, levels: list[Level]) -> str:
        level = levels[-1]
        for reference in references(self.inference, level.function, level.cell):
            for target in reference.targets:
                reason = obstacle(self.inference, *target)
                if reason:
                    return f": {reason}"
        return ""

    def levels(self, function: FunctionInfo, cell: ClassInfo | None, depth: int = 0) -> list[Level]:
        """The function, and those inside of it down to where the parts are called."""
        here = references(self.inference, function, cell)
        loops = _in_loops(function)
        parts = [(r, self.sizes.reference(function, cell, r)) for r in here]
        heavy = max((p for p in parts if p[0].targets and p[0].node not in loops), key=lambda p: p[1], default=None)
        if heavy is not None and depth < _DEPTH and self._goes_deeper(function, cell, heavy, parts):
            inner = self.levels(*heavy[0].targets[0], depth + 1)
            if inner[-1].units or len(inner[-1].runs) > 1:
                return [self._level(function, cell, parts, loops, heavy[0]), *inner]
        return [self._level(function, cell, parts, loops, None)]

    def _goes_deeper(
        self, function: FunctionInfo, cell: ClassInfo | None, heavy: tuple[Reference, int],
        parts: list[tuple[Reference, int]],
    ) -> bool:  # fmt: skip
        """Whether the cut is better made inside the heaviest part: nothing beside it has weights that a user would
        exchange, and it holds parts itself."""
        reference, size = heavy
        if len(reference.targets) != 1 or reference.name in self.wanted or jit_decorator(reference.targets[0][0]):
            return False
        if self.wanted and any(r.name in self.wanted for r, _ in parts):
            return False
        if 2 * size < self.sizes.function(function, cell):
            return False
        if any(r is not reference and has_weights(self.inference, r) for r, _ in parts):
            return False
        inner, owner = reference.targets[0]
        loops = _in_loops(inner)
        inside = [r for r in references(self.inference, inner, owner) if r.node not in loops and not r.each]
        own = max((self.sizes.reference(inner, owner, r) for r in inside if r.targets), default=0)
        return len(inside) > (0 if inner.name != "construct" else 1) and 2 * own >= self.sizes.function(inner, owner)

    def _level(
        self, function: FunctionInfo, cell: ClassInfo | None, parts: list[tuple[Reference, int]], loops: set[ast.AST],
        inner: Reference | None,
    ) -> Level:  # fmt: skip
        level = Level(function, cell, inner=inner)
        calls: set[ast.AST] = {inner.node} if inner else set()
        leaking: set[ast.AST] = set()
        apart: set[ast.AST] = set()
        for reference, size in parts:
            if reference is inner or reference.node in loops or not self._is_unit(function, reference, size):
                if any(leaks(self.inference, f) for f, _ in reference.targets):
                    leaking.add(reference.node)
                elif reference is not inner and (reference.unknown or reference.is_cell) and size >= SMALLEST_UNIT:
                    apart.add(reference.node)
                continue
            calls.add(reference.node)
            level.units += [Unit(f, c, size, reference) for f, c in reference.targets]
        level.units.sort(key=lambda u: _end(u.reference))
        outside: dict[ast.AST, int] = {}
        for statement in body_of(function):
            inside = calls & set(preorder(statement))
            own = self.sizes.nodes(function, cell, [statement])
            outside[statement] = own - sum(size for r, size in parts if r.node in inside)
        level.runs = self._runs(function, calls | leaking, apart - loops, outside)
        cut = {s for run in level.runs for s in run.statements}
        level.eager = sum(size for statement, size in outside.items() if statement not in cut)
        return level

    def _is_unit(self, function: FunctionInfo, reference: Reference, size: int) -> bool:
        if any(function in self.shared for function, _ in reference.targets):
            return False
        if not reference.targets or (size < SMALLEST_UNIT and reference.name not in self.small):
            return False
        if self.wanted and reference.name not in self.wanted:
            return False
        if any(obstacle(self.inference, *target) for target in reference.targets):
            return False
        given = reference.call
        keywords = given.keywords if given else []
        arguments = [*given.args, *(k.value for k in keywords)] if given else []
        if any(isinstance(a, ast.Starred) for a in arguments) or any(k.arg is None for k in keywords):
            return False
        return all(crosses(self.inference.kind(function, a)) for a in arguments)

    def _runs(
        self, function: FunctionInfo, calls: set[ast.AST], apart: set[ast.AST], sizes: dict[ast.AST, int]
    ) -> list[Run]:
        """The stretches of statements between the calls of units that are worth a unit, each with one call of a Cell
        that cannot be a unit itself (`apart`) at most."""
        stretches: list[list[ast.stmt]] = [[]]
        for statement in body_of(function):
            inside = preorder(statement)
            leaves = not isinstance(statement, ast.Return) and any(isinstance(n, ast.Return) for n in inside)
            if leaves or calls & set(inside):
                stretches.append([])
                continue
            if apart & set(inside) and any(apart & set(preorder(s)) for s in stretches[-1]):
                stretches.append([])
            stretches[-1].append(statement)
        found = []
        for stretch in stretches:
            while stretch and not sizes[stretch[0]]:
                stretch = stretch[1:]
            while stretch and not sizes[stretch[-1]] and not isinstance(stretch[-1], ast.Return):
                stretch = stretch[:-1]
            size = sum(sizes[s] for s in stretch)
            run = run_of(self.inference, function, stretch) if size >= SMALLEST_UNIT else None
            if run is not None:
                run.size = size
                found.append(run)
        return found


def _end(reference: Reference) -> tuple[int, int]:
    """Where a call ends: those inside of its arguments end, and run, before it."""
    call = reference.call or reference.node
    return call.end_lineno or 0, call.end_col_offset or 0


def _in_loops(function: FunctionInfo) -> set[ast.AST]:
    """The nodes that may run more than once in a call."""
    loops = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.Lambda)
    return {n for loop in function.nodes if isinstance(loop, loops) for n in preorder(loop)}


def _keep_apart(
    inference: Inference, found: list[Split], again: Callable[[Root, frozenset[FunctionInfo]], Splitter] | None
) -> None:
    """Make no unit of what a graph that stays whole calls too, which would put a graph inside of another: a method that
    calls it becomes the unit, or nothing is split."""
    changed = True
    while changed:
        changed = False
        plain = {s.root.function for s in found if s.levels}
        units = {u.function for s in found for u in s.units}
        whole = [r for r in jit_roots(inference) if r.function not in plain and r.function not in units]
        inside = {f: root for root in whole for f in _reach(inference, root)}
        for split in found:
            shared = [u for u in split.units if u.function in inside]
            if not shared:
                continue
            changed = True
            try:
                if again is None:
                    raise OnePart
                split.levels = again(split.root, frozenset(inside)).cut(split.root.function, split.root.cell)
            except (CannotRewrite, OnePart):
                other = inside[shared[0].function]
                split.levels = []
                split.problem = f"{shared[0].title} is part of another graph too, that of {other.function.qualname}"


def _reach(inference: Inference, root: Root) -> set[FunctionInfo]:
    """What a graph calls, itself left out."""
    found: set[FunctionInfo] = set()
    stack = [(root.function, root.cell)]
    seen = set(stack)
    while stack:
        for reference in references(inference, *stack.pop()):
            for target in reference.targets:
                found.add(target[0])
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
    return found
