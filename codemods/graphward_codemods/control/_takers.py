"""What takes a number that a Tensor chooses for another one: bounds of slices, indices, and arguments of operators that
decide a shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext

from ._traced import assigned_before

# A number that is computed from another is followed this far.
_MAX_DEPTH = 3


@dataclass(frozen=True)
class _Arguments:
    """The arguments that count: from one position up to another, and by name."""

    first: int
    last: int
    names: frozenset[str]


def _at(first: int, last: int, *names: str) -> _Arguments:
    return _Arguments(first, last, frozenset(names))


_ALL = 99
_INDEX = "an index"
_AXIS = ("axis", "dim")
# Each measured: the number behind `else` is taken. `mint.narrow`, `mint.permute`, `mint.broadcast_to`, `ops.full`,
# `ops.arange`, `ops.gather`, `ops.cat` and many others take the right one.
_FUNCTIONS = {
    "ops.narrow": _at(2, 3, "start", "length"), "ops.slice": _at(1, 2, "begin", "size"),
    "ops.strided_slice": _at(1, 3, "begin", "end", "strides"), "ops.reshape": _at(1, 1, "shape"),
    "mint.reshape": _at(1, 1, "shape"), "ops.broadcast_to": _at(1, 1, "shape"), "ops.tile": _at(1, 1, "dims"),
    "mint.tile": _at(1, 1, "dims"), "ops.zeros": _at(0, 0, "size"), "mint.zeros": _at(0, 0, "size"),
    "ops.ones": _at(0, 0, "shape"), "mint.ones": _at(0, 0, "size"), "ops.sum": _at(1, 1, "dim"),
    "mint.sum": _at(1, 1, "dim"), "ops.mean": _at(1, 1, "axis"), "mint.mean": _at(1, 1, "dim"),
    "ops.transpose": _at(1, 1), "ops.permute": _at(1, 1, "axis"),
}  # fmt: skip
_METHODS = {
    "narrow": _at(1, 2, "start", "length"), "reshape": _at(0, _ALL, "shape"), "view": _at(0, _ALL, "shape"),
    "broadcast_to": _at(0, 0, "shape"), "tile": _at(0, _ALL, "reps", "dims"), "sum": _at(0, 0, *_AXIS),
    "mean": _at(0, 0, *_AXIS), "permute": _at(0, _ALL), "transpose": _at(0, _ALL),
}  # fmt: skip
_PRIMITIVES = {
    "Slice": _at(1, 2), "StridedSlice": _at(1, 3), "Reshape": _at(1, 1), "Tile": _at(1, 1), "Transpose": _at(1, 1),
    "ReduceSum": _at(1, 1), "ReduceMean": _at(1, 1), "Zeros": _at(0, 0), "Ones": _at(0, 0),
}  # fmt: skip


@dataclass(frozen=True)
class Taker:
    """`node` is the subscript or the call, `place` the expression in it that has the number or is computed from it, and
    `name` how people call what takes it. `negated`: a minus stands before it. `named`: how many variables it went
    through."""

    node: ast.Subscript | ast.Call
    place: ast.expr
    name: str
    negated: bool = False
    named: int = 0

    @property
    def is_index(self) -> bool:
        return self.name == _INDEX

    @property
    def is_slice(self) -> bool:
        return isinstance(self.node, ast.Subscript) and not self.is_index

    @property
    def is_target(self) -> bool:
        """Whether a slice or an element is written to."""
        return isinstance(self.node, ast.Subscript) and not isinstance(self.node.ctx, ast.Load)

    @property
    def is_narrow(self) -> bool:
        return self.name.endswith("narrow")


def takers(node: ast.expr, context: FunctionContext, depth: int = 0, negated: bool = False) -> Iterator[Taker]:
    """What takes the value of an expression: as it is, as part of a sum or of a tuple, or by way of names."""
    part: ast.AST = node
    parent = context.parent(node)
    while isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.keyword)):
        negated = negated or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub))
        part, parent = parent, context.parent(parent)
    if isinstance(parent, ast.Assign):
        target = parent.targets[0]
        if len(parent.targets) == 1 and isinstance(target, ast.Name) and part is parent.value and depth < _MAX_DEPTH:
            for use in _reads_of(parent, target.id, context):
                yield from takers(use, context, depth + 1, negated)
    elif isinstance(parent, ast.Slice):
        holder = context.parent(parent)
        if isinstance(holder, ast.Tuple):
            holder = context.parent(holder)
        if isinstance(holder, ast.Subscript) and context.kind(holder.value).is_tensor:
            yield Taker(holder, node, "a slice", negated, depth)
    elif isinstance(parent, ast.Subscript) and part is parent.slice and context.kind(parent.value).is_tensor:
        yield Taker(parent, node, _INDEX, negated, depth)
    elif isinstance(parent, ast.Call):
        name = _takes(parent, part, context)
        if name:
            yield Taker(parent, node, name, negated, depth)


def takers_of_name(name: str, statement: ast.stmt, context: FunctionContext) -> list[Taker]:
    """What takes the value that a variable has below a statement."""
    end = context.module.end(statement)
    reads = [n for n in context.function.nodes if isinstance(n, ast.Name) and n.id == name
             and isinstance(n.ctx, ast.Load) and context.module.start(n) >= end]  # fmt: skip
    return [t for n in reads for t in takers(n, context, 1)]


def _reads_of(assignment: ast.Assign, name: str, context: FunctionContext) -> list[ast.Name]:
    return [
        n for n in context.function.nodes
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
        and assigned_before(name, context.statement(n), context) is assignment
    ]  # fmt: skip


def _takes(call: ast.Call, part: ast.AST, context: FunctionContext) -> str:
    """The name of what is called, if the argument `part` counts there; else ""."""
    name, arguments = _called(call, context)
    if arguments is None or any(isinstance(a, ast.Starred) for a in call.args):
        return ""
    if isinstance(part, ast.keyword):
        return name if part.arg in arguments.names else ""
    position = next((i for i, a in enumerate(call.args) if a is part), -1)
    return name if arguments.first <= position <= arguments.last else ""


def _called(call: ast.Call, context: FunctionContext) -> tuple[str, _Arguments | None]:
    resolved = context.resolve(call.func)
    if resolved is not None:
        short = resolved.removeprefix("mindspore.")
        return short, _FUNCTIONS.get(short)
    kind = context.kind(call.func)
    if kind.tag is Tag.PRIMITIVE:
        short = kind.name.rpartition(".")[2]
        return f"ops.{short}", _PRIMITIVES.get(short) if kind.name.startswith("mindspore.ops.") else None
    if isinstance(call.func, ast.Attribute) and context.kind(call.func.value).is_tensor:
        if call.func.attr == "narrow" and any(k.arg == "dim" for k in call.keywords):
            # Another function, which the CPU does not have.
            return "", None
        return f"Tensor.{call.func.attr}", _METHODS.get(call.func.attr)
    return "", None
