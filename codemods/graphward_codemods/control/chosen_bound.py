"""GW326: bounds of slices that a conditional expression over a Tensor chooses."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, fresh, indent_of, insert_before, replace_statement, step_of
from .._python import literal_number
from ._order import is_certain
from ._traced import traced_test

# A bound that is computed from another is followed this far.
_MAX_DEPTH = 3


class ChosenBound(Rule):
    """`x[:a if condition else b]` takes `b` whatever the Tensor says.

    ## What it finds

    A bound of a slice over a Tensor that is one of two whole numbers by a conditional expression on a Tensor, written
    in the slice or in a variable before it.

    ## Why

    The graph slices with the number behind `else`, and no error is raised (MindSpore 2.7 to 2.10). As an index, as a
    shape, and where an `if` statement chooses, the right number is used.

    ## Example

        n = 2 if x.sum() > 3 else 1
        return x[:n]

    becomes

        if x.sum() > 3:
            n = 2
        else:
            n = 1
        return x[:n]

    ## What the rewrite assumes

    Nothing: both mean the same to Python.

    ## When it is unsafe

    Where the conditional expression stands inside of a larger statement: it is evaluated before the rest of it. A bound
    that is negative or computed is left to a person: there the number is wrong with an `if` statement too.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW326"
    name = "chosen-bound"
    consequence = Consequence.DIVERGENCE
    triggers = (b" else ",)
    nodes = (ast.IfExp,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.IfExp)
        if isinstance(node.body, ast.Constant) and isinstance(node.orelse, ast.Constant):
            if not isinstance(node.body.value, int) or node.body.value == node.orelse.value:
                return
        if not _bounds_slice(node, context, 0) or not traced_test(node.test, context):
            return
        if not _is_whole(node.body, context) or not _is_whole(node.orelse, context):
            return
        message = f"a slice takes {context.text(node.orelse)} whatever the Tensor says"
        yield context.finding(self, node, message, fixes=(_fix(node, context),))


def _is_whole(node: ast.expr, context: FunctionContext) -> bool:
    """Whether an expression is a whole number that the compiler knows."""
    kind = context.kind(node)
    return kind.tag is Tag.CONSTANT and kind.name == "int" and not kind.variable


def _bounds_slice(node: ast.expr, context: FunctionContext, depth: int) -> bool:
    """Whether an expression is a bound of a slice of a Tensor, also as part of a sum or by way of a name."""
    parent = context.parent(node)
    while isinstance(parent, (ast.BinOp, ast.UnaryOp)):
        parent = context.parent(parent)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        return depth < _MAX_DEPTH and any(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) and n.lineno > parent.lineno
            and _bounds_slice(n, context, depth + 1) for n in context.function.nodes
        )  # fmt: skip
    if not isinstance(parent, ast.Slice):
        return False
    holder = context.parent(parent)
    if isinstance(holder, ast.Tuple):
        holder = context.parent(holder)
    return isinstance(holder, ast.Subscript) and context.kind(holder.value).tag in (Tag.TENSOR, Tag.PARAMETER)


def _fix(node: ast.IfExp, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    title = "Choose with an if statement"
    statement = context.statement(node)
    test, first, second = (context.text(part) for part in (node.test, node.body, node.orelse))
    step = step_of(context.function)
    try:
        if "\n" in test + first + second:
            raise CannotRewrite("the conditional expression runs over several lines")
        numbers = [literal_number(arm) for arm in (node.body, node.orelse)]
        if any(n is None or n < 0 for n in numbers):
            raise CannotRewrite("only two numbers from 0 on can be chosen from; slice on each way instead")
        if context.parent(node) is statement and isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            name, indent = context.text(statement.targets[0]), indent_of(context.module, statement)
            lines = _chosen(name, test, first, second, step)
            replace_statement(context, rewrite, statement, [indent + line for line in lines])
            return rewrite.safe(title)
        if not isinstance(statement, (ast.Assign, ast.Return, ast.Expr)) or not is_certain(
            node, context.function.parents, statement
        ):
            raise CannotRewrite("the slice is not always reached; choose the bound before")
        name = fresh(context, "bound")
        insert_before(context, rewrite, statement, _chosen(name, test, first, second, step))
        rewrite.replace(node, name, context.parent(node))
    except CannotRewrite as problem:
        return context.rewrite().manual(title, f"not changed by itself: {problem}")
    return rewrite.unsafe(title, "the condition is evaluated before the rest of the statement")


def _chosen(name: str, test: str, first: str, second: str, step: str) -> list[str]:
    return [f"if {test}:", f"{step}{name} = {first}", "else:", f"{step}{name} = {second}"]
