"""Host islands: what belongs together among the values that graph code computes on the host.

An island grows from where a Tensor is handed to NumPy (`x.asnumpy()`, `np.exp(x)`) over every expression and local
variable that holds the NumPy arrays made from it, to where they leave again (`Tensor(...)`, `return`, a use next to a
Tensor). Either all of it is rewritten, or none: half an island would hand Tensors to NumPy or arrays to operators.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from graphward.analysis.kinds import Tag
from graphward.analysis.module import FunctionInfo
from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext

from ._uses import Exit, Obstacle, Uses
from ._values import HostCall, HostValues


@dataclass(eq=False)
class Island:
    """Everything is in source order.

    `entries` are the `.asnumpy()` calls, `calls` the NumPy functions and methods, `values` all expressions that hold
    arrays, `exits` where they leave. `tensors` are Tensors that NumPy is given as they are, `arrays` NumPy arrays
    known while compiling that the island computes with, `inplace` augmented assignments to its `variables`. `host`
    is what the whole function computes on the host.
    """

    host: HostValues
    entries: list[ast.Call] = field(default_factory=list)
    calls: list[HostCall] = field(default_factory=list)
    values: list[ast.expr] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    tensors: list[ast.expr] = field(default_factory=list)
    arrays: list[ast.expr] = field(default_factory=list)
    numbers: list[ast.expr] = field(default_factory=list)
    inplace: list[ast.AugAssign] = field(default_factory=list)
    variables: set[str] = field(default_factory=set)
    obstacles: list[Obstacle] = field(default_factory=list)

    @property
    def has_functions(self) -> bool:
        return any(not call.method for call in self.calls)


def find_islands(context: FunctionContext) -> list[Island]:
    """The islands of one function, in source order."""
    return [island for island in array_groups(context) if island.entries or island.calls]


def array_groups(context: FunctionContext) -> list[Island]:
    """The islands, and what a function does with arrays that it is given without NumPy having a part in it."""

    def find() -> list[Island]:
        values = HostValues(context)
        return _Finder(context, values).islands() if values.host or values.calls else []

    # Two rules ask for the islands of the same functions.
    return context.once((Island, context.function), find)


class _Groups:
    """Disjoint sets of nodes and variable names."""

    def __init__(self) -> None:
        self._above: dict[object, object] = {}

    def find(self, item: object) -> object:
        above = self._above.setdefault(item, item)
        if above is not item:
            above = self._above[item] = self.find(above)
        return above

    def join(self, first: object, second: object) -> None:
        self._above[self.find(first)] = self.find(second)


class _Finder:
    def __init__(self, context: FunctionContext, values: HostValues):
        self._context = context
        self._function: FunctionInfo = context.function
        self._values = values
        self._uses = Uses(context, values)
        self._groups = _Groups()

    def islands(self) -> list[Island]:
        values = self._values
        self._connect()
        found: dict[object, Island] = {}
        for node in values.nodes:
            if node in values.host or node in values.calls:
                assert isinstance(node, ast.expr)
                self._fill(found.setdefault(self._groups.find(node), Island(values)), node)
        for node in values.nodes:
            if isinstance(node, ast.AugAssign) and node.target in values.host:
                found[self._groups.find(node.target)].inplace.append(node)
        for island in found.values():
            self._check_variables(island)
        return list(found.values())

    def _connect(self) -> None:
        values = self._values
        for node in values.nodes:
            if node in values.host or node in values.calls:
                assert isinstance(node, ast.expr)
                if isinstance(node, ast.Name):
                    self._groups.join(node, node.id)
                for part in values.operands(node):
                    for source in values.sources(part):
                        self._groups.join(node, source)
        for target, value in values.bindings:
            names = [n for n in preorder(target) if isinstance(n, ast.Name)]
            for source in values.sources(value):
                for name in names:
                    if name in values.host or name.id in values.lists:
                        self._groups.join(name.id, source)

    def _fill(self, island: Island, node: ast.expr) -> None:
        values = self._values
        if isinstance(node, ast.Name):
            island.variables.add(node.id)
        if values.is_entry(node):
            assert isinstance(node, ast.Call)
            island.entries.append(node)
        elif isinstance(node, ast.Call) and node not in values.calls and not self._uses.is_known_call(node):
            island.obstacles.append(Obstacle(node, f"`{self._context.text(node.func)}` gives a NumPy array"))
        if node in values.host:
            island.values.append(node)
        if node in values.calls:
            island.calls.append(values.calls[node])
        operands = values.operands(node)
        island.tensors += [
            o
            for o in operands
            if o not in values.host and self._context.kind(o).is_tensor and not values.is_entry(node)
        ]
        if node in values.calls or isinstance(node, (ast.BinOp, ast.Compare)):
            island.arrays += [o for o in operands if self._is_constant_array(o)]
        if isinstance(node, ast.BinOp) and node in values.host and self._is_numpy_number(node.left):
            island.numbers.append(node.left)
        if node in values.host and not isinstance(getattr(node, "ctx", None), ast.Store):
            outcome = self._uses.of(node)
            if isinstance(outcome, Obstacle):
                island.obstacles.append(outcome)
            elif outcome is not None:
                island.exits.append(outcome)

    def _is_constant_array(self, node: ast.expr) -> bool:
        """An array (not a NumPy number) that is known while compiling."""
        kind = self._context.kind(node)
        return (
            node not in self._values.host
            and kind.tag is Tag.NDARRAY
            and not kind.variable
            and not self._is_number(node)
        )

    def _is_numpy_number(self, node: ast.expr) -> bool:
        """A number that NumPy computes while compiling. On the left of a Tensor it would make an array of it in
        PyNative, since NumPy's operator comes first (measured on 2.10)."""
        return self._context.kind(node).tag is Tag.NDARRAY and node not in self._values.host and self._is_number(node)

    def _is_number(self, node: ast.expr) -> bool:
        """Whether NumPy gives a number: `np.sqrt(5)`, `np.prod(x.shape)`, `np.sqrt(d) * 2`."""
        if isinstance(node, ast.Call):
            name = self._values.numpy_name(node)
            makers = ("zeros", "ones", "full", "arange", "array", "asarray", "linspace", "eye", "identity", "tri")
            if name is None or name in makers or name.endswith("_like") or name.startswith("random."):
                return False
            return all(self._is_number(argument) for argument in node.args)
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            return all(self._is_number(part) for part in self._values.operands(node))
        return self._context.kind(node).tag in (Tag.CONSTANT, Tag.SHAPE, Tag.SCALAR)

    def _check_variables(self, island: Island) -> None:
        values = self._values
        elsewhere = {n.id for n in values.nested if isinstance(n, ast.Name)}
        declared = {name for n in values.nodes if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
        for name in sorted(island.variables):
            uses = [n for n in values.nodes if isinstance(n, ast.Name) and n.id == name]
            if name in declared:
                island.obstacles.append(Obstacle(uses[0], f"`{name}` is no local variable"))
            if name in elsewhere:
                island.obstacles.append(Obstacle(uses[0], f"a nested function uses `{name}`"))
            if name in values.array_parameters:
                reason = f"its callers hand over `{name}` as a NumPy array: they come first"
                island.obstacles.append(Obstacle(self._function.node, reason))
            for node in uses:
                if isinstance(node.ctx, ast.Del):
                    island.obstacles.append(Obstacle(node, f"`{name}` is deleted"))
                elif node not in values.host and self._context.kind(node).tag is Tag.UNKNOWN:
                    island.obstacles.append(Obstacle(node, f"what `{name}` holds here is not known"))
        for statement in island.inplace:
            outcome = self._uses.write(statement.target, statement)
            if outcome is not None:
                island.obstacles.append(outcome)
