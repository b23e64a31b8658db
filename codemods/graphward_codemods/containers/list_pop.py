"""GW433: `pop` of a list inside of an expression."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite
from ._ahead import Part, evaluated_once, take_ahead


class ListPop(Rule):
    """`pop` of a list inside of an expression gives a pair.

    ## What it finds

    `skips.pop()` on a list in a graph region, where it is part of an expression, returned, or assigned to two names at
    once. As a statement of its own (`skips.pop()`) and as all of an assignment (`last = skips.pop()`) it compiles, and
    is left alone.

    ## Why

    The compiler turns `last = skips.pop()` into `skips, last = ...`, and does so for the two forms above only. Anywhere
    else `pop` gives the rest of the list together with the element (MindSpore 2.7 to 2.10): returned, it is silently
    that pair, and the list keeps its length; in an operation it does not compile:

        RuntimeError: The Map operator don't support Closure with free variable yet.
        TypeError: Failed calling Add with "other=Tuple[List[Tensor[Float32]],Tensor[Float32]]".

    ## Example

        x = self.up(x, skips.pop())

    becomes

        popped = skips.pop()
        x = self.up(x, popped)

    ## What the rewrite assumes

    That what the statement computes before does not change the list under another name.

    ## When it is unsafe

    Where the statement calls something else too, for that reason. Where `pop` runs only under a condition or many times
    over (in a comprehension, a lambda, `a if c else b`, `and`, the head of a `while`), no statement can be put before
    it: the finding has no rewrite.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW433"
    name = "list-pop"
    consequence = Consequence.ERROR
    triggers = (b".pop(",)
    nodes = (ast.Call,)
    names = frozenset({"pop"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        holder = _popped_list(node)
        if holder is None or _compiles(node, context):
            return
        kind = context.kind(holder)
        if kind.tag is not Tag.SEQUENCE or kind.name == "tuple":
            return
        returned = isinstance(context.parent(node), ast.Return)
        try:
            fix = _fix(context.statement(node), context)
        except CannotRewrite as reason:
            advice = f"{reason}; write `last = {context.text(node)}` as a statement, under an `if` or in a `for` loop"
            fix = context.rewrite().manual("Take it out in a statement", advice)
        message = "pop() of a list gives the rest and the element here, and the list keeps its length"
        consequence = Consequence.DIVERGENCE if returned else Consequence.ERROR
        yield context.finding(self, node, message, evidence=(kind.evidence,), fixes=(fix,), consequence=consequence)


def _popped_list(node: ast.AST) -> ast.Name | None:
    """The variable that a node calls `pop` of, None for another node."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "pop"):
        return None
    holder = node.func.value
    return holder if isinstance(holder, ast.Name) and len(node.args) <= 1 and not node.keywords else None


def _compiles(node: ast.expr, context: FunctionContext) -> bool:
    """Whether it stands where the compiler binds the list anew."""
    parent = context.parent(node)
    if isinstance(parent, ast.Assign):
        return len(parent.targets) == 1
    return isinstance(parent, (ast.Expr, ast.AnnAssign, ast.AugAssign))


def _fix(statement: ast.stmt, context: FunctionContext) -> Fix:
    """All that one statement pops is taken out above it, in the order in which it is written."""
    module = context.module
    head = evaluated_once(statement)
    inside = [n for n in preorder(*head) if isinstance(n, ast.expr)]
    holders = {n: h for n in inside if not _compiles(n, context) and (h := _popped_list(n)) is not None}
    pops = sorted(holders, key=module.start)
    popped = {h.id for h in holders.values()}
    if any(isinstance(n, ast.Name) and n.id in popped and n not in holders.values() for n in inside):
        raise CannotRewrite("the statement reads the list too")
    rewrite = context.rewrite()
    take_ahead(context, rewrite, statement, [Part(pop, context.text(pop)) for pop in pops], "popped")
    title = "Take it out before"
    if any(isinstance(n, ast.Call) and n not in holders for n in inside):
        return rewrite.unsafe(title, "it is taken out before the rest of the statement is computed")
    return rewrite.safe(title)
