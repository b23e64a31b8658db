"""The fixes of an island: the rewrite that brings the gradient back, and the one that keeps it cut."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from graphward.analysis.gradients import differentiated
from graphward.analysis.inference import Inference
from graphward.analysis.kinds import Tag
from graphward.analysis.module import FunctionInfo
from graphward.knowledge.numpy_functions import MEASURED_DTYPES, NumpyRow
from graphward.rules.context import FunctionContext, Options
from graphward.rules.rewrite import Rewrite
from graphward.source.fixes import Fix

from ._conversion import Binding, Converter, bind_calls
from ._gradients import Gradients
from ._islands import Island, array_groups
from ._uses import Obstacle, callee


@dataclass(frozen=True)
class Plan:
    """What can be done about an island: fixes in order of preference, or what is in the way."""

    fixes: tuple[Fix, ...]
    obstacle: Obstacle | None


def _by_hand(context: FunctionContext, obstacle: Obstacle) -> Fix:
    advice = (
        f"not changed by itself: {obstacle.reason}; write these steps with mindspore.ops, or do them before the Cell "
        "is called and pass the result in as a Tensor; what needs values of the graph and has no operator goes between "
        "two graphs: end the first one there, and hand its output to the second"
    )
    return context.rewrite().manual("Do it in the graph, or outside of it", advice)


def plan(context: FunctionContext, island: Island) -> Plan:
    """The alternatives for an island. Either its findings all carry rewrites, or all say what to do by hand."""
    binding = bind_calls(context, island)
    obstacles = [*island.obstacles, *binding.obstacles, *_unsafe_operands(context, island, binding)]
    obstacles += _blocked_callees(context, island, frozenset({context.function}))
    if obstacles:
        return Plan((_by_hand(context, obstacles[0]),), obstacles[0])
    doubts = _doubts(context, island, binding)
    names = sorted({call.name.rpartition(".")[2] for call in island.calls if not call.method})
    title = f"Compute {', '.join(names)} in the graph" if names else "Keep the Tensor in the graph"
    cuts = _cuts(context, island, binding)
    if not cuts:
        fix = _write(context, island, binding, cuts)
        return Plan((fix.unsafe(title, _sentence(doubts)) if doubts else fix.safe(title),), None)
    restored = _write(context, island, binding, frozenset()).unsafe(
        f"{title}, with its gradient",
        _sentence(["NumPy cuts the gradient here and the rewrite has one", *doubts]),
        restores_gradient=True,
    )
    cut = _write(context, island, binding, cuts)
    kept_title = f"{title}, the gradient cut as before"
    kept = cut.unsafe(kept_title, _sentence(doubts)) if doubts else cut.safe(kept_title)
    # Where the graph takes the gradient itself, bringing it back changes what comes out.
    first = differentiated(context.inference, context.function)
    return Plan((kept, restored) if first else (restored, kept), None)


def _write(context: FunctionContext, island: Island, binding: Binding, cuts: frozenset[ast.expr]) -> Rewrite:
    rewrite = context.rewrite()
    Converter(context, island, binding, rewrite, cuts).write()
    return rewrite


def _cuts(context: FunctionContext, island: Island, binding: Binding) -> frozenset[ast.expr]:
    """The expressions at which the island cuts a gradient that its rewrite would have."""
    gradients = Gradients(context, island.host, binding)
    found = set()
    for leave in island.exits:
        if leave.carries_gradient and gradients.reach(leave.node):
            found.add(leave.user if leave.how == "constructor" else leave.node)
    return frozenset(node for node in found if isinstance(node, ast.expr))


def _sentence(parts: list[str]) -> str:
    return "; ".join(parts)


def _unsafe_operands(context: FunctionContext, island: Island, binding: Binding) -> list[Obstacle]:
    """Calls that MindSpore refuses, or answers otherwise, for the dtype that is known of an operand."""
    found = []
    for call in island.calls:
        bound = binding.bound.get(call.node)
        if bound is None:
            continue
        style = context.options.op_style
        for dtype in _operand_dtypes(context, island, call.node):
            outcome = bound.row.outcome(_measured(dtype), style)
            if outcome in ("rejects", "differs"):
                found.append(Obstacle(call.node, f"MindSpore's operator does not do the same for {dtype}"))
    return found


def _operand_dtypes(context: FunctionContext, island: Island, call: ast.Call) -> set[str]:
    """The dtypes that are known of the arrays and Tensors among the operands of a call."""
    receiver = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    operands = [*receiver, *call.args]
    kinds = [context.kind(o) for o in operands if o in island.values or context.kind(o).is_tensor]
    return {kind.dtype for kind in kinds if kind.dtype}


def _measured(dtype: str) -> str:
    """The measured dtype that stands for `dtype`."""
    if dtype.startswith(("int", "uint")):
        return "int32"
    return "bool" if dtype == "bool" else "float32"


def _called(context: FunctionContext, island: Island) -> list[FunctionInfo]:
    """The project functions that take arrays of the island, or give it arrays."""
    calls = [value for value in island.values if isinstance(value, ast.Call)]
    calls += [leave.user for leave in island.exits if leave.how == "call" and isinstance(leave.user, ast.Call)]
    return [function for function in (callee(context, call) for call in calls) if function is not None]


def computes_with_numpy(context: FunctionContext, island: Island, seen: frozenset[FunctionInfo] = frozenset()) -> bool:
    """Whether a NumPy function takes part, in the island or in a project function that it exchanges arrays with."""
    if island.has_functions:
        return True
    for function in _called(context, island):
        if function not in seen:
            inner = FunctionContext(context.inference.reached[function], context.inference, context.options)
            if any(computes_with_numpy(inner, other, seen | {function}) for other in array_groups(inner)):
                return True
    return False


def _blocked_callees(context: FunctionContext, island: Island, seen: frozenset[FunctionInfo]) -> list[Obstacle]:
    """What keeps project functions that exchange arrays with the island from being rewritten in their turn."""
    found = []
    for function in _called(context, island):
        if function not in seen:
            reason = _why_not(context.inference, context.options, function, seen | {function})
            if reason:
                found.append(Obstacle(island.values[0], f"{function.name} cannot be rewritten with it: {reason}"))
    return found


def _why_not(inference: Inference, options: Options, function: FunctionInfo, seen: frozenset[FunctionInfo]) -> str:
    """Why `function` or one of its other callers must go on with arrays; empty when all can be rewritten."""
    reached = inference.reached[function]
    callers = {caller.function: caller for caller, _ in reached.sites if caller.function not in seen}
    for place in (reached, *callers.values()):
        context = FunctionContext(place, inference, options)
        for island in array_groups(context):
            if place is not reached and function not in _called(context, island):
                continue
            obstacles = [
                o
                for o in (*island.obstacles, *bind_calls(context, island).obstacles)
                if o.node is not place.function.node
            ]
            obstacles += _blocked_callees(context, island, seen | {place.function})
            if obstacles:
                return obstacles[0].reason
    return ""


def _doubts(context: FunctionContext, island: Island, binding: Binding) -> list[str]:
    """Why results may differ; empty when value, dtype and type are known to stay."""
    doubts = []
    assumed = {bound.row.assumes for bound in binding.bound.values() if bound.row.assumes}
    doubts += [f"it assumes that {assumption}" for assumption in sorted(assumed)]
    if any(not context.kind(tensor).certain for tensor in island.tensors):
        doubts.append("it is not certain that all of its inputs are Tensors")
    dtypes = {context.kind(source).dtype for source in (*map(_tensor, island.entries), *island.tensors)} or {None}
    if dtypes != {"float32"}:
        doubts += _dtype_doubts(dtypes, island, binding, context.options.op_style)
    if island.arrays:
        doubts.append("NumPy arrays join in as Tensors, whose dtypes combine by MindSpore's rules")
    if _mixes_dtypes(island, binding):
        doubts.append("NumPy combines integers or booleans with float32 in float64, MindSpore in float32")
    doubts += [f"{name} is rewritten in its turn" for name in sorted({f.name for f in _called(context, island)})]
    if _scalar_arithmetic(context, island, binding):
        doubts.append(
            "NumPy computes a number of a full reduction and a Python number in float64, MindSpore in float32"
        )
    for how, text in (
        ("return", "the caller gets a Tensor instead of a NumPy array"),
        ("call", "the called function gets a Tensor instead of a NumPy array"),
        ("tensor", "a NumPy array next to a Tensor becomes a Tensor"),
    ):
        if any(leave.how == how for leave in island.exits):
            doubts.append(text)
    return doubts


def _tensor(entry: ast.Call) -> ast.expr:
    assert isinstance(entry.func, ast.Attribute)
    return entry.func.value


def _dtype_doubts(dtypes: set[str | None], island: Island, binding: Binding, style: str) -> list[str]:
    """What differs when the arrays are no float32: operators that do the same for every dtype leave no doubt."""
    names = {b.row.name for b in binding.bound.values() if not _is_neutral(b.row, style)}
    if island.inplace or any(isinstance(value, ast.BinOp) for value in island.values):
        names.add("arithmetic")
    if not names:
        return []
    known = sorted(dtype for dtype in dtypes if dtype not in (None, "float32"))
    what = f"for {', '.join(map(str, known))}" if known else "for other dtypes, and the dtype is not known here"
    return [f"{', '.join(sorted(names))} may give another dtype {what}"]


def _is_neutral(row: NumpyRow, style: str) -> bool:
    return all(row.outcome(dtype, style) == "same" for dtype in MEASURED_DTYPES)


def _mixes_dtypes(island: Island, binding: Binding) -> bool:
    """Whether arithmetic may meet what comparisons, counts and indices give."""
    discrete = any(not bound.row.has_gradient for bound in binding.bound.values())
    discrete = discrete or any(isinstance(value, ast.Compare) for value in island.values)
    return discrete and any(isinstance(value, ast.BinOp) for value in island.values)


def _scalar_arithmetic(context: FunctionContext, island: Island, binding: Binding) -> bool:
    """Whether a NumPy number meets a Python number: NumPy then computes in float64."""
    scalars = {node for node, bound in binding.bound.items() if bound.row.result == "scalar"}
    for value in island.values:
        if isinstance(value, ast.BinOp):
            for one, other in ((value.left, value.right), (value.right, value.left)):
                holds = one in scalars or isinstance(one, ast.Name)
                if scalars and holds and context.kind(other).tag in (Tag.CONSTANT, Tag.SCALAR):
                    return True
    return False
