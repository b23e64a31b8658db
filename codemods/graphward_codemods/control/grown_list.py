"""GW325: lists whose length a Tensor decides."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from .._blocks import own_nodes
from .._python import is_builtin
from ._evidence import is_evident
from ._traced import assigned_before, is_traced_loop, parts

_GROWING = frozenset({"append", "extend", "insert"})
_STACK = frozenset({"mindspore.ops.stack", "mindspore.mint.stack"})
_CAT = frozenset({"mindspore.ops.cat", "mindspore.ops.concat", "mindspore.mint.cat", "mindspore.mint.concat"})


class GrownList(Rule):
    """A Tensor decides how many elements a list has, and all of them are joined.

    ## What it finds

    `ops.stack(items)`, `ops.cat(items)` and `sum(items)` over a list that grows in a loop that a Tensor ends, or under
    a condition on a Tensor. A list that grows alike on both ways, or whose elements are taken one by one, is left
    alone.

    ## Why

    The length of such a list is not known while compiling (MindSpore 2.7 to 2.10):

        ValueError: For 'Stack', the 'len of input_x' must be int and must >= 1, but got '0' with type 'int'.

    `ops.cat` joins what the list starts with, and tells nobody that the rest is not there.

    ## Example

        totals = []
        while x.sum() < 100:
            x = x * 2
            totals.append(x.sum())
        return ops.stack(totals)

    has no rewrite of its own: a Tensor of the largest size before the loop, into which each round writes, has a length
    that does not change. Where the elements are only added up, a Tensor that starts at 0 will do.

    ## What the rewrite assumes

    Nothing is changed.

    ## When it is unsafe

    Nothing is changed.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW325"
    name = "grown-list"
    consequence = Consequence.ERROR
    triggers = (b"append(", b"extend(", b"insert(", b"+")
    nodes = (ast.Call,)
    names = frozenset({"stack", "cat", "concat", "sum"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not node.args or not isinstance(node.args[0], ast.Name):
            return
        name = node.args[0].id
        called = context.resolve(node.func)
        adds = called is None and is_builtin(node.func, context)
        if called not in _STACK and called not in _CAT and not adds:
            return
        statement = context.statement(node)
        growing = [s for s in _growing(name, context) if s.lineno < statement.lineno and not _adds_number(s, context)]
        empty = bool(growing) and _starts_empty(name, growing, context)
        for place in growing:
            why = _decided(place, name, empty, statement, context)
            if why and (called in _STACK or empty or "loop" in why):
                silent = called in _CAT
                message = f"{name} grows {why}: its length is not known"
                rewrite = context.rewrite()
                advice = "make a Tensor of the largest size before and write into it, or add up as you go"
                fix = rewrite.manual("Keep the length", f"not changed by itself: {advice}")
                yield context.finding(self, node, message, fixes=(fix,),
                                      consequence=Consequence.DIVERGENCE if silent else None)  # fmt: skip
                return


def _growing(name: str, context: FunctionContext) -> list[ast.stmt]:
    """The statements that make a list longer."""
    return [s for s in context.function.nodes if isinstance(s, ast.stmt) and _makes_longer(s, name)]


def _makes_longer(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        func = statement.value.func
        return (
            isinstance(func, ast.Attribute) and func.attr in _GROWING
            and isinstance(func.value, ast.Name) and func.value.id == name
        )  # fmt: skip
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.target, ast.Name) and statement.target.id == name and _is_list(statement.value)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.value, ast.BinOp):
        target, value = statement.targets[0], statement.value
        return (
            isinstance(target, ast.Name) and target.id == name
            and isinstance(value.left, ast.Name) and value.left.id == name and _is_list(value.right)
        )  # fmt: skip
    return False


def _adds_number(statement: ast.stmt, context: FunctionContext) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and bool(call.args) and context.kind(call.args[-1]).tag is Tag.CONSTANT


def _is_list(node: ast.expr) -> bool:
    return isinstance(node, (ast.List, ast.Tuple))


def _starts_empty(name: str, growing: list[ast.stmt], context: FunctionContext) -> bool:
    """Whether nothing is in the list before the first statement that may add to it."""
    before = assigned_before(name, growing[0], context)
    value = before.value if before is not None else None
    return isinstance(value, (ast.List, ast.Tuple)) and not value.elts


def _decided(place: ast.stmt, name: str, empty: bool, reader: ast.stmt, context: FunctionContext) -> str:
    """How a Tensor decides whether a statement runs before `reader` does; empty where none does."""
    around = set(context.around(reader))
    node: ast.AST = place
    for parent in context.around(place):
        if parent in around:
            return ""
        if isinstance(parent, ast.If) and _is_known(parent.test, context):
            other = parent.orelse if node in parent.body else parent.body
            if not any(_makes_longer(s, name) for s in other):
                return "where a Tensor says so"
        if isinstance(parent, (ast.For, ast.While)):
            if is_traced_loop(parent, context):
                return "in a loop that a Tensor ends"
            if empty and _may_skip(parent, place, context):
                return "where a Tensor says so"
        node = parent
    return ""


def _is_known(test: ast.expr, context: FunctionContext) -> bool:
    """Whether nothing but Tensors decides."""
    return all(is_evident(part, context) for part in parts(test))


def _may_skip(loop: ast.For | ast.While, place: ast.stmt, context: FunctionContext) -> bool:
    """Whether a Tensor may end a round of the loop before it reaches `place`."""
    return any(
        isinstance(n, ast.If) and n.lineno < place.lineno and _is_known(n.test, context)
        and any(isinstance(b, (ast.Break, ast.Continue)) for b in n.body)
        for n in own_nodes(loop.body, loops=False)
    )  # fmt: skip
