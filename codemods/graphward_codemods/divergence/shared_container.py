"""GW911: lists and dicts with two names, changed through one of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.ownership import Holder
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite
from ._mutations import MUTATORS, NODES, Mutation, holders_of, mutation_at
from ._telling import CannotTell, told, update_of
from ._writes import insert_after, named


class SharedContainer(Rule):
    """A list or dict with two names is changed through one of them.

    ## What it finds

    `b = a` and then `b.append(...)`, `b[0] = ...`, `b += [...]` or `b.update(...)` in a graph region, where `a` is read
    afterwards; lists inside of lists that are changed under a loop variable; an argument that a helper changes and its
    caller reads again.

    ## Why

    In the graph a change makes a new list and binds the written name to it: `a` stays as it was, without a word. In
    PyNative both names see the change.

    ## Example

        a = [1]
        b = a
        b.append(2)
        return x * len(a)

    becomes

        a = [1]
        b = a
        b.append(2)
        a = b
        return x * len(a)

    ## What the rewrite assumes

    Nothing: in PyNative the new statement binds the name to the object that it has already.

    ## When it is unsafe

    Always declared so, since it adds a statement that only the graph needs. Where the other way to the list is a place
    inside of another one, or the caller's, the finding has no rewrite: return the list, or build it once.

    ## References

    Measured on MindSpore 2.7.0 and 2.10.0 CPU.
    """

    code = "GW911"
    name = "shared-container"
    consequence = Consequence.DIVERGENCE
    triggers = (b"[", b"{", b"list(", b"dict(")
    nodes = NODES
    names = MUTATORS

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        mutation = mutation_at(node, context)
        if mutation is None:
            return
        known = told(context, mutation.statement, mutation.name) if mutation.name else set()
        outside = ("attribute", "global")
        holders = [h for h in holders_of(context, mutation) if h.name not in known]
        if not holders or any(h.kind in outside for h in holders):
            return
        if mutation.name is None and all(h.inside and h.name == _root(mutation.base) for h in holders):
            return  # `d["a"].append(x)` changes the one list that there is
        what = context.text(mutation.base)
        message = f"{named(holders)} sees this change of {what} in PyNative, and not in the graph"
        yield context.finding(self, node, message, fixes=(_fix(context, mutation, holders),))


def _root(node: ast.expr) -> str | None:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _fix(context: FunctionContext, mutation: Mutation, holders: list[Holder]) -> Fix:
    rewrite = context.rewrite()
    try:
        if mutation.name is None or any(h.kind != "variable" for h in holders):
            raise CannotTell("the other way to it is not a variable of this function")
        updates = [update_of(context, rewrite, mutation.statement, mutation.name, h) for h in holders]
        insert_after(context, rewrite, mutation.statement, updates)
    except (CannotTell, CannotRewrite) as reason:
        advice = f"{reason}; give back the changed list and bind it (`items = extend(items)`), or build it in one place"
        return context.rewrite().manual("Keep one name for it", advice)
    return rewrite.unsafe(f"Bind {named(holders)} to it again", "the statement matters to the graph only")
