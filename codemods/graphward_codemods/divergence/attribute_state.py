"""GW904: attributes of self that graph code writes and that are no Parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.analysis.module import ClassInfo
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from .._python import self_attribute
from ._state import writes_in
from ._state_fixes import StatePlan


class AttributeState(Rule):
    """An attribute of self that is no Parameter is written in a graph.

    ## What it finds

    `self.steps += 1`, `self.cache = x`, `self.flag = True`, `self.last["x"] = x`, `setattr(self, "k", 5)` in a graph
    region, for every attribute but a Parameter of the Cell.

    ## Why

    At the default syntax level the Python interpreter runs the write at each call, and everything that depends on the
    attribute: slow, impossible to export, without gradients. With `fullgraph=True` it does not compile:

        TypeError: In JIT strict mode, if need to modify a member attribute of a class with self.steps, the member
        attribute must be of the Parameter type.
        AttributeError: The 'Net' object has no attribute 'cache'.

    ## Example

        self.steps = 0                      # __init__
        self.steps = self.steps + 1         # construct

    becomes

        self.steps = Parameter(Tensor(0, ms.int32), name="steps", requires_grad=False)
        self.steps = self.steps + 1

    A value that is written before it is read becomes a local variable and a further result, which a new `__call__`
    puts into the attribute; a constant is set in `__init__` once.

    ## What the rewrite assumes

    A number keeps its type (an int fits 32 bits), a Tensor its shape. Whoever reads the attribute from outside gets a
    Parameter in the place of a number.

    ## When it is unsafe

    Always: the Parameter is saved in checkpoints, and `construct` called by itself, not through the Cell, has a further
    result.

    ## References

    `mindspore.Parameter`, `mindspore.ops.assign`. Measured on MindSpore 2.7.0 and 2.10.0 CPU.
    """

    code = "GW904"
    name = "attribute-state"
    consequence = Consequence.FALLBACK
    triggers = (b"self.", b"setattr", b"]")

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        function = context.function
        if function.receiver is None or function.name == "__init__" or function.is_static:
            return
        found = [(name, w.statement, w.node) for name, w in writes_in(function)]
        found += [(name, s, n) for name, s, n in _items(context) if context.kind(_base(n)).tag is not Tag.PARAMETER]
        cell = function.owner or context.cell
        if not found or cell is None:
            return
        found = [f for f in found if not _is_parameter(context, cell, f[0]) and not _never_runs(context, f[1])]
        if not found:
            return
        plan = StatePlan(context, cell)
        for name, _, node in found:
            message = f"self.{name} is written in the graph and is no Parameter: the interpreter does it, at each call"
            yield context.finding(self, node, message, fixes=plan.fixes(name))


def _items(context: FunctionContext) -> Iterable[tuple[str, ast.stmt, ast.AST]]:
    """Writes of `self.name[...]`."""
    for node in context.function.nodes:
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                base = target.value if isinstance(target, ast.Subscript) else target
                name = self_attribute(base, context.function.receiver)
                if name and base is not target:
                    yield name, node, target


def _base(node: ast.AST) -> ast.expr:
    assert isinstance(node, ast.Subscript)
    return node.value


def _is_parameter(context: FunctionContext, cell: ClassInfo, name: str) -> bool:
    if context.inference.attribute(context.cell or cell, name).tag is Tag.PARAMETER:
        return True
    values = context.project.attribute_values(context.cell or cell).get(name, [])
    return any(
        isinstance(v, ast.Call) and (f.names.resolve(v.func) or "").rpartition(".")[2] == "Parameter" for f, v in values
    )


def _never_runs(context: FunctionContext, statement: ast.stmt) -> bool:
    """Whether an `if` around the statement is known, while compiling, to take the other arm."""
    current: ast.AST = statement
    while current is not context.function.node:
        parent = context.function.parents[current]
        if isinstance(parent, ast.If) and current is not parent.test:
            decided = context.inference.decided(context.function, parent)
            if decided is not None and decided is not (current in parent.body):
                return True
        current = parent
    return False
