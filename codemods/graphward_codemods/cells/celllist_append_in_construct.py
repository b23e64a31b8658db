"""GW216."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import remove_statement
from ._from_init import Keeper
from ._moving import CannotMove

_METHODS = frozenset({"append", "extend", "insert", "update", "pop", "clear", "setdefault", "append_cell"})


class CellListAppendInConstruct(Rule):
    """A CellList or CellDict grows or shrinks inside graph code.

    ## What it finds

    `append`, `extend`, `insert`, `pop`, `update` and the like on a CellList, CellDict or SequentialCell of self, and
    `self.blocks[i] = ...`, in a graph region.

    ## Why

    Graph code sees the Cells as a tuple (MindSpore 2.7 to 2.10): `AttributeError: 'Tuple' object has no attribute
    'append'`.

    ## Example

        def construct(self, x):
            self.acts.append(nn.ReLU())
            return self.acts[0](x)

    becomes

        def __init__(self):
            super().__init__()
            self.acts = nn.CellList([nn.Tanh()])
            self.acts.append(nn.ReLU())

        def construct(self, x):
            return self.acts[0](x)

    ## What the rewrite assumes

    That the Cell was meant to be added once. Its arguments are known in `__init__`.

    ## When it is unsafe

    Always: the original adds one at each PyNative call, and only from the first call on.

    ## References

    API of `mindspore.nn.CellList`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW216"
    name = "celllist-append-in-construct"
    consequence = Consequence.ERROR
    triggers = (b"CellList", b"CellDict", b"SequentialCell", b"ModuleList")
    nodes = (ast.Call, ast.Assign)
    names = _METHODS

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        holder = _changed(node)
        if holder is None or context.kind(holder).tag is not Tag.CELLS:
            return
        message = f"{context.text(holder)} is changed inside graph code, where it is a tuple of Cells"
        yield context.finding(self, node, message, fixes=(_fix(node, context),))


def _changed(node: ast.AST) -> ast.expr | None:
    """The container that a call or an assignment changes."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            return node.func.value
        return None
    assert isinstance(node, ast.Assign)
    target = node.targets[0]
    return target.value if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute) else None


def _fix(node: ast.AST, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    title = "Do it in __init__"
    statement = context.parent(node)
    try:
        if not (isinstance(node, ast.Call) and isinstance(statement, ast.Expr)):
            raise CannotMove("it is no call on its own")
        if context.parent(statement) is not context.function.node:
            raise CannotMove("it stands in a loop or under a condition")
        keeper = Keeper(context)
        keeper.add(rewrite, statement, keeper.call(node))
        remove_statement(context, rewrite, statement)
    except CannotMove as reason:
        advice = "build the container in __init__, and choose among its Cells in construct"
        return context.rewrite().manual(title, f"not moved by itself: {reason}; {advice}")
    return rewrite.unsafe(title, "it is done once, where the original does it at each PyNative call")
