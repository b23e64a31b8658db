"""GW211."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import CellContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._attributes import free_name
from ._container_uses import graph_uses
from ._creations import What, constructed


class ParameterNames(Rule):
    """Two Parameters of a Cell have the same name.

    ## What it finds

    `Parameter(..., name="w")` more than once with the same literal name in an `__init__`, each kept as an attribute
    that graph code uses.

    ## Why

    A graph knows parameters by their names (MindSpore 2.7 to 2.10): `RuntimeError: The parameter ..., its name 'w'
    already exists. Please set a unique name for the parameter.`

    ## Example

        self.scale = Parameter(Tensor([1.0]), name="w")
        self.shift = Parameter(Tensor([2.0]), name="w")

    becomes

        self.scale = Parameter(Tensor([1.0]), name="w")
        self.shift = Parameter(Tensor([2.0]), name="w_2")

    ## What the rewrite assumes

    Nothing.

    ## When it is unsafe

    Always: a checkpoint knows the Parameter by its new name.

    ## References

    API of `mindspore.Parameter`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW211"
    name = "parameter-names"
    consequence = Consequence.ERROR
    triggers = (b"name=", b"name =")

    def visit_cell(self, context: CellContext) -> Iterable[Finding]:
        method = context.cell.methods.get("__init__")
        if method is None:
            return
        named = [
            (name, attribute, value, literal)
            for attribute, value in method.self_assignments for name, literal in _names(value, context)
        ]  # fmt: skip
        used = {name for name, _, _, _ in named}
        seen: dict[str, str] = {}
        for name, attribute, value, literal in named:
            # Under a condition it may be one or the other.
            if method.parents[method.parents[value]] is not method.node:
                continue
            if name not in seen:
                seen[name] = attribute
                continue
            if not {attribute, seen[name]} <= graph_uses(context):
                continue
            new = free_name(name, used)
            used.add(new)
            rewrite = context.rewrite(method)
            quote = context.text(literal)[-1]
            rewrite.replace_span(context.module.start(literal), context.module.end(literal), f"{quote}{new}{quote}")
            fix: Fix = rewrite.unsafe(f"Name it {new!r}", "a checkpoint knows the Parameter by its new name")
            message = f"self.{seen[name]} has a Parameter named {name!r} already"
            yield context.finding(self, literal, message, fixes=(fix,))


def _names(value: ast.expr, context: CellContext) -> Iterable[tuple[str, ast.Constant]]:
    """The literal names of the Parameters that an expression makes directly or in a list."""
    method = context.cell.methods["__init__"]
    stack: list[ast.expr] = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.List, ast.Tuple)):
            stack += reversed(node.elts)
        elif isinstance(node, ast.Call):
            made = constructed(context.project, method, node)
            if made is None or made.what is not What.PARAMETER:
                continue
            if made.name != "Parameter":
                stack += reversed(node.args)
                continue
            given = [k.value for k in node.keywords if k.arg == "name"] or node.args[1:2]
            if given and isinstance(given[0], ast.Constant) and isinstance(given[0].value, str):
                yield given[0].value, given[0]
