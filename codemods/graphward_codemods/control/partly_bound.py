"""GW320: names that are bound in one arm or in a loop only."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.binding import Unbound, maybe_unbound
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, insert_before, own_nodes
from ._traced import parts

_MAX_DEPTH = 4


class PartlyBound(Rule):
    """A name is read that only one arm of an `if`, or only the body of a loop, binds.

    ## What it finds

    Reads of local variables that are bound in one arm of an `if` before them, or in the body of a loop before them,
    and nowhere else on the way. An `if` that only asks for attributes of `self` decides while the graph is parsed,
    and is left alone.

    ## Why

    The compiler binds names before it knows any value, so it does not help that the condition holds, or that the loop
    runs at least once (MindSpore 2.7 to 2.10):

        UnboundLocalError: The local variable 'y' is not defined in false branch, but defined in true branch.

    and `... defined in the 'for' loop body cannot be used outside of the loop body.`

    ## Example

        if mask is not None:
            scale = mask.sum()
        if mask is not None:
            x = x * scale

    becomes

        scale = None
        if mask is not None:
            scale = mask.sum()
        if mask is not None:
            x = x * scale

    Under a condition or in a loop that depends on a Tensor both ways must give the same type: the name is then bound
    before to what it is bound to inside.

    ## What the rewrite assumes

    That the name is bound whenever it is read, as the original demands.

    ## When it is unsafe

    Always: where the original would raise UnboundLocalError, the value bound before is used.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW320"
    name = "partly-bound"
    consequence = Consequence.ERROR
    triggers = (b"if ", b"for ", b"while ", b"if(", b"while(")

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        for unbound in maybe_unbound(context.function):
            name = unbound.name.id
            where = "an if" if isinstance(unbound.inside, ast.If) else "a loop"
            message = f"{name} is read, but only bound inside {where} (line {unbound.inside.lineno})"
            yield context.finding(self, unbound.name, message, fixes=(_fix(unbound, context),))


def _fix(unbound: Unbound, context: FunctionContext) -> Fix:
    name = unbound.name.id
    title = f"Bind {name} before"
    place = unbound.inside
    parent = context.parent(place)
    while isinstance(place, ast.If) and isinstance(parent, ast.If) and parent.orelse == [place]:
        # An elif: the chain starts further up.
        place, parent = parent, context.parent(parent)
    bindings = [
        n for n in own_nodes([place])
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
    ]  # fmt: skip
    rewrite = context.rewrite()
    try:
        if _is_traced(bindings, place, context):
            lines = _copied(name, bindings, place, context, 0)
        else:
            lines = [f"{name} = None"]
        insert_before(context, rewrite, place, lines)
    except CannotRewrite as reason:
        advice = "bind it before to a value of the same type and shape"
        return context.rewrite().manual(title, f"not changed by itself: {reason}; {advice}")
    return rewrite.unsafe(title, f"where the original would raise UnboundLocalError, {name} is {_said(lines[-1])}")


def _said(line: str) -> str:
    return line.partition(" = ")[2]


def _is_traced(bindings: list[ast.Name], place: ast.stmt, context: FunctionContext) -> bool:
    """Whether a Tensor decides between ways with and without the binding: then both must have one type."""
    parents = context.function.parents
    for binding in bindings:
        node: ast.AST = binding
        while node is not place:
            node = parents[node]
            if isinstance(node, (ast.If, ast.While)) and _is_tensor(node.test, context):
                return True
    if isinstance(place, (ast.For, ast.While)):
        for node in own_nodes(place.body):
            if isinstance(node, ast.If) and _is_tensor(node.test, context):
                if any(isinstance(n, (ast.Break, ast.Continue)) for n in own_nodes([node])):
                    return True
    return False


def _is_tensor(test: ast.expr, context: FunctionContext) -> bool:
    return any(context.kind(n).is_tensor for n in parts(test))


def _copied(
    name: str, bindings: list[ast.Name], place: ast.stmt, context: FunctionContext, depth: int
) -> list[str]:
    """Assignments that give `name` before `place` what it gets inside, and before that the names which it is made of.
    Raises CannotRewrite."""
    parents = context.function.parents
    problem = f"what {name} is bound to is not known before line {place.lineno}"
    if depth > _MAX_DEPTH:
        raise CannotRewrite(problem)
    available = _bound_before(place, context)
    for binding in bindings:
        statement = parents[binding]
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or statement.targets[0] is not binding:
            continue
        text = context.text(statement.value)
        reads = {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        if "\n" in text or name in reads:
            continue
        lines: list[str] = []
        try:
            for other in sorted(reads - available):
                if context.function.names.is_local(other):
                    inner = [
                        n for n in own_nodes([place])
                        if isinstance(n, ast.Name) and n.id == other and isinstance(n.ctx, ast.Store)
                    ]  # fmt: skip
                    lines += [x for x in _copied(other, inner, place, context, depth + 1) if x not in lines]
        except CannotRewrite:
            continue
        return [*lines, f"{name} = {text}"]
    raise CannotRewrite(problem)


def _bound_before(place: ast.stmt, context: FunctionContext) -> set[str]:
    """Names bound in statements before `place`, on the way down to it."""
    function = context.function
    found = {a.arg for a in ast.walk(function.node.args) if isinstance(a, ast.arg)}
    node: ast.AST = place
    while node is not function.node:
        parent = function.parents[node]
        if isinstance(parent, (ast.For, ast.AsyncFor)):
            found |= {n.id for n in ast.walk(parent.target) if isinstance(n, ast.Name)}
        for block in (getattr(parent, f, None) for f in ("body", "orelse")):
            if isinstance(block, list) and node in block:
                for statement in block[: block.index(node)]:
                    found |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)
                              and isinstance(n.ctx, ast.Store)}  # fmt: skip
                    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                        found.add(statement.name)
        node = parent
    return found
