"""Python numbers that graph code reads or writes and that live outside of it: a Parameter carries them in and out."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, remove_statement
from ..cells._attributes import free_name, taken_names
from ..cells._initializer import Initializer
from ._carriers import Outgoing, assign_text, check_arithmetic, parameter_text, tensor_text


@dataclass
class Place:
    """A number outside of the graph: how it is written (`COUNT`, `LIMITS["low"]`), its dtype, and where `construct`
    reads and writes it. `declared` is the name that a `global` statement of `__call__` needs."""

    text: str
    wanted: str
    dtype: str
    reads: list[ast.expr] = field(default_factory=list)
    writes: list[ast.Assign | ast.AugAssign] = field(default_factory=list)
    declared: str = ""


def carry(context: FunctionContext, place: Place, drop: list[ast.stmt]) -> Fix:
    """The fix that carries `place` through a Parameter; the statements in `drop` go. Raises CannotRewrite and
    CannotMove."""
    function, cell = context.function, context.function.owner
    outgoing = Outgoing(context)
    if cell is None or function.receiver is None:
        raise CannotRewrite("only a Cell can keep it")
    check_arithmetic(context, place.reads, place.text)
    rewrite = context.rewrite()
    initializer = Initializer(context.project, cell)
    name = free_name(place.wanted.lower().strip("_") or "value", taken_names(context.project, cell))
    made = parameter_text(rewrite, place.text, name, place.dtype)
    site = context.module.start(function.node) + 1
    initializer.add(rewrite, site, [f"{initializer.receiver}.{name} = {made}"], set())
    held = f"{function.receiver}.{name}"
    for read in place.reads:
        rewrite.replace(read, held, context.parent(read))
    for write in place.writes:
        _write(context, rewrite, write, held, place)
    for statement in drop:
        remove_statement(context, rewrite, statement)
    # Not set_data, which a graph behind `jit(net)` does not see.
    before = [assign_text(rewrite, held, tensor_text(rewrite, place.text, place.dtype))]
    after = [f"{place.text} = {held}.item()"] if place.writes else []
    if place.writes and place.declared:
        before.insert(0, f"global {place.declared}")
    outgoing.add(rewrite, [], [], after, before)
    verb = "and out " if place.writes else ""
    kind = place.dtype.rstrip("_")
    reason = f"{place.text} becomes a {kind} Tensor in the graph; construct called by itself is not told of it"
    return rewrite.unsafe(f"Carry {place.text} in {verb}with a Parameter", reason)


def _write(
    context: FunctionContext, rewrite: Rewrite, write: ast.Assign | ast.AugAssign, held: str, place: Place
) -> None:
    module = context.module
    target = write.targets[0] if isinstance(write, ast.Assign) else write.target
    inside = {read for read in place.reads if read in set(ast.walk(write.value))}
    if isinstance(write, ast.AugAssign) or inside:
        rewrite.replace_span(module.start(target), module.end(target), held)
    else:
        text = assign_text(rewrite, held, module.text(write.value))
        rewrite.replace_span(module.start(write), module.end(write), text)
