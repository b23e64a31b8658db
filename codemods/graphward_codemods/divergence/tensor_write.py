"""GW902: items of a Tensor written where others see the memory."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from graphward.analysis.names import statements
from graphward.analysis.ownership import VIEW_ATTRIBUTES, Holder, ownership
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, fresh, insert_before
from .._python import literal_number
from ._telling import (
    SHARED_IN_THE_GRAPH,
    CannotTell,
    argument_kept_in,
    definition,
    is_reshaped,
    split_with,
    told,
    undone,
    update_of,
    viewed,
)
from ._writes import insert_after, named, seen_by


class TensorWrite(Rule):
    """Items of a Tensor are written, and others see the same memory.

    ## What it finds

    `x[0] = v` and `x[0] += v` in a graph region where `x` is an argument, or shares its memory with a variable that is
    read afterwards: a second name, a view (slice, `reshape`, `transpose`, `split`...), what a view was taken of, also
    where the view has no name (`x.T[0] = v`, `x.view(-1)[0] = v`, `x[1:][0] = v`).
    `w.copy_(v)` where `w` is a reshaped view is such a write too.
    A write into a Tensor that nobody else sees is left alone, and so is one into a Parameter.

    ## Why

    PyNative writes into the memory: the caller's Tensor, every alias and every view change. The graph makes a new
    Tensor and binds the written name to it: the others keep the old values, without a word.

    ## Example

        y = x[0]
        y[1] = 9
        return x

    becomes

        y = x[0]
        y[1] = 9
        x[0] = y
        return x

    and where the argument is written to, `ops.assign` writes the result into the caller's Tensor.

    ## What the rewrite assumes

    That the others are wanted up to date, as in PyNative.

    ## When it is unsafe

    Always: gradients through a write and through its mirror may be counted differently. The second alternative copies
    the argument first: the caller's Tensor then stays as it was.

    ## References

    Measured on MindSpore 2.7.0 and 2.10.0 CPU.
    """

    code = "GW902"
    name = "tensor-write"
    consequence = Consequence.DIVERGENCE
    triggers = (b"]", b".copy_(")
    nodes = (ast.Assign, ast.AugAssign, ast.Call)
    names = frozenset({"copy_"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        found: list[tuple[ast.expr, list[Holder]]] = []
        statement = context.statement(node)
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            found += [(base, _holders(context, node, base)) for base in _written(context, node)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(statement, ast.Expr):
            base = node.func.value
            found += [(base, _seeing_the_copy(context, statement, base))] if statement.value is node else []
        for base, holders in found:
            if holders:
                others = named(holders)
                message = f"the write into {context.text(base)} reaches {others} in PyNative, and not in the graph"
                fixes = _fixes(context, statement, base, holders)
                yield context.finding(self, node, message, evidence=(context.kind(base).evidence,), fixes=fixes)


def _written(context: FunctionContext, node: ast.Assign | ast.AugAssign) -> Iterator[ast.expr]:
    """What the items are written into: a variable, an item of a container, or a view that has no name."""
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if not isinstance(target, ast.Subscript):
            continue
        base = target.value
        while isinstance(base, ast.Subscript) and _written_through(context, base):
            base = base.value
        if isinstance(base, (ast.Name, ast.Call)) or _is_view(context, base) or _item_of(context, base) is not None:
            yield base


def _written_through(context: FunctionContext, node: ast.Subscript) -> bool:
    """Whether `node[...] = v` writes into what `node` is an item of, in the graph too: `x[0][1] = v` does, as with
    tuples and lists of numbers; `x[0:1][0] = v` and `x[t][0] = v`, where `t` is a Tensor, do not."""
    index = context.kind(node.slice)
    plain = not (index.is_tensor and index.certain)
    return plain and not _is_view(context, node) and context.kind(node.value).is_tensor


def _is_view(context: FunctionContext, node: ast.expr) -> bool:
    """Whether an attribute or a slice is a view that the graph makes a Tensor of its own."""
    if isinstance(node, ast.Attribute):
        return node.attr in VIEW_ATTRIBUTES and context.kind(node.value).is_tensor
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and context.kind(node.value).is_tensor


def _item_of(context: FunctionContext, node: ast.expr) -> str | None:
    """The container that `node` is an item of."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return None if context.kind(node.value).is_tensor else node.value.id
    return None


def _holders(context: FunctionContext, node: ast.stmt, base: ast.expr) -> list[Holder]:
    kind = context.kind(base)
    if not kind.is_tensor or (not kind.certain and not _looks_like_a_tensor(node)):
        return []
    own = ownership(context.inference, context.function)
    name = base.id if isinstance(base, ast.Name) else None
    made = definition(context.function, name, node) if name else base
    if isinstance(made, ast.Call) and context.resolve(made.func) in SHARED_IN_THE_GRAPH:
        return []
    found = seen_by(context, node, own.value(base), name or _item_of(context, base), views=True)
    known = told(context, node, name) if name else set()
    parts = split_with(context, node, name) if name else None
    beside = parts[0] if parts else ()  # they share no items
    found = [h for h in found if h.name not in known and h.name not in beside]
    if known and any(_is_argument(context, node, k) for k in known):
        found = [h for h in found if h.kind != "argument"]
    return [h for h in found if not (h.kind == "attribute" and _is_parameter(context, h))]


def _seeing_the_copy(context: FunctionContext, statement: ast.Expr, base: ast.expr) -> list[Holder]:
    """Who sees `base.copy_(...)`, where `base` is a view in the order of its memory. Other views PyNative on the CPU
    refuses, or leaves as they are; a second name for the Tensor itself is written in the graph too."""
    name = base.id if isinstance(base, ast.Name) else None
    made = definition(context.function, name, statement) if name else base
    if not context.kind(base).is_tensor or made is None or not is_reshaped(context, made):
        return []
    own = ownership(context.inference, context.function)
    known = told(context, statement, name) if name else set()
    found = seen_by(context, statement, own.value(base), name, views=True)
    return [h for h in found if not h.same and h.name not in known]


def _looks_like_a_tensor(node: ast.stmt) -> bool:
    """Whether a write can hardly be meant for a list: a slice, several indices, a mask, or a number put in."""
    assert isinstance(node, (ast.Assign, ast.AugAssign))
    if isinstance(node.value, (ast.Tuple, ast.List, ast.Dict)):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    indices = [t.slice for t in targets if isinstance(t, ast.Subscript)]
    if any(isinstance(i, ast.Constant) and isinstance(i.value, str) for i in indices):
        return False
    numeric = literal_number(node.value) is not None
    return numeric or any(
        isinstance(i, (ast.Tuple, ast.Slice, ast.Compare)) or (isinstance(i, ast.Constant) and i.value is ...)
        for i in indices
    )


def _is_argument(context: FunctionContext, node: ast.stmt, name: str) -> bool:
    state = ownership(context.inference, context.function).before.get(node)
    value = state.names.get(name) if state else None
    return value is not None and any(s.kind == "argument" for s in value.objects)


def _is_parameter(context: FunctionContext, holder: Holder) -> bool:
    if context.cell is None:
        return False
    return context.inference.attribute(context.cell, holder.name.rpartition(".")[2]).tag.name == "PARAMETER"


def _fixes(context: FunctionContext, node: ast.stmt, base: ast.expr, holders: list[Holder]) -> tuple[Fix, ...]:
    try:
        if _item_of(context, base) is not None:
            raise CannotTell("the written Tensor is an item of a container")
        if not isinstance(base, ast.Name):
            return (_name_the_view(context, node, base, holders),)
        fixes = [_bring_up_to_date(context, node, base.id, holders)]
    except (CannotTell, CannotRewrite) as reason:
        advice = (
            f"{reason}; write into one name only and derive the others from it afterwards, or copy first "
            "(`y = x.copy()`) where the others are not meant to change"
        )
        return (context.rewrite().manual("Write into one name only", advice),)
    if all(h.kind == "argument" for h in holders):
        copy = _copy_first(context, node, base.id)
        fixes += [copy] if copy else []
    return tuple(fixes)


def _name_the_view(context: FunctionContext, node: ast.stmt, base: ast.expr, holders: list[Holder]) -> Fix:
    """Write into a view under a name of its own, and what it is a view of follows from that."""
    root = viewed(context, base)
    state = ownership(context.inference, context.function).before.get(node)
    if root is None or state is None or root not in state.names:
        raise CannotTell(f"{context.text(base)} is a view of more than a variable")
    if any(h.kind in ("attribute", "global") for h in holders):
        raise CannotTell(f"{named(holders)} is written to: make it a Parameter")
    rewrite = context.rewrite()
    view = fresh(context, f"{root}_view")
    back = undone(context, base, view, root)
    if back is None:
        raise CannotTell(f"how {root} follows from {context.text(base)} is not plain")
    target, _, value = back.partition(" = ")
    held = state.names[root].objects
    for holder in (h for h in holders if h.kind == "argument"):
        if not any(s.kind == "argument" and s.name == holder.name for s in held):
            raise CannotTell(f"{root} is a view of the caller's {holder.name}")
        # Items of the argument that are written back are found, and told to the caller, as any others.
        back = _assign(rewrite, root, value) if target == root else back
    updates = [back]
    for holder in (h for h in holders if h.kind == "variable" and h.name != root):
        same = bool(state.names[holder.name].objects & held)
        updates.append(update_of(context, rewrite, node, root, replace(holder, same=same)))
    insert_before(context, rewrite, node, [f"{view} = {context.text(base)}"])
    rewrite.replace_span(context.module.start(base), context.module.end(base), view)
    insert_after(context, rewrite, node, updates)
    reason = "the write gets a name, and the others follow from it; the gradient through it may be counted differently"
    return rewrite.unsafe(f"Bring {named(holders)} up to date", reason)


def _bring_up_to_date(context: FunctionContext, node: ast.stmt, name: str, holders: list[Holder]) -> Fix:
    rewrite = context.rewrite()
    updates = [update_of(context, rewrite, node, name, h) for h in holders if h.kind == "variable"]
    reason = "the others follow by a statement of their own; the gradient through it may be counted differently"
    if any(h.kind in ("attribute", "global") for h in holders):
        raise CannotTell(f"{named(holders)} is written to: make it a Parameter")
    for holder in (h for h in holders if h.kind == "argument"):
        kept = argument_kept_in(context, node, holder.name, name)
        if kept is None and holder.same:
            return _write_argument(context, name, holder.name)
        if kept is None:
            raise CannotTell(f"nothing holds the caller's {holder.name} any more")
        if holder.same:
            updates = [u for u in updates if u != f"{kept} = {name}"] + [_assign(rewrite, kept, name)]
            continue
        made = definition(context.function, name, node)
        back = undone(context, made, name, kept) if made is not None else None
        if back is None:
            raise CannotTell(f"how {kept} follows from {name} is not plain")
        target, _, value = back.partition(" = ")
        updates = [u for u in updates if not u.startswith(f"{kept} = ")]
        updates.append(_assign(rewrite, kept, value) if target == kept else back)
    insert_after(context, rewrite, node, list(dict.fromkeys(updates)))
    return rewrite.unsafe(f"Bring {named(holders)} up to date", reason)


def _assign(rewrite: Rewrite, target: str, value: str) -> str:
    return f"{rewrite.spell('mindspore.ops.assign')}({target}, {value})"


def _write_argument(context: FunctionContext, name: str, parameter: str) -> Fix:
    """One fix for all writes into an argument under its own name."""
    rewrite = context.rewrite()
    keeper = fresh(context, f"{parameter}_argument")
    writes = [
        s for s in statements(context.function.node.body)
        if isinstance(s, (ast.Assign, ast.AugAssign))
        for base in _written(context, s)
        if isinstance(base, ast.Name) and base.id == name
        and any(h.kind == "argument" and h.same for h in _holders(context, s, base))
    ]  # fmt: skip
    insert_before(context, rewrite, _outermost_loop(context, writes[0]), [f"{keeper} = {name}"])
    for statement in writes:
        insert_after(context, rewrite, statement, [_assign(rewrite, keeper, name)])
    reason = "the argument is written in the graph too; the gradient through the write may be counted differently"
    return rewrite.unsafe(f"Write into the caller's {parameter} in the graph too", reason)


def _outermost_loop(context: FunctionContext, statement: ast.stmt) -> ast.stmt:
    found, current = statement, context.parent(statement)
    while current is not None and current is not context.function.node:
        if isinstance(current, (ast.For, ast.While)):
            found = current
        current = context.parent(current)
    return found


def _copy_first(context: FunctionContext, node: ast.stmt, name: str) -> Fix | None:
    rewrite = context.rewrite()
    try:
        insert_before(context, rewrite, _outermost_loop(context, node), [f"{name} = {name}.copy()"])
    except CannotRewrite:
        return None
    reason = "the caller's Tensor stays as it is, which PyNative changes; return the result where the caller needs it"
    return rewrite.unsafe("Write into a copy", reason)
