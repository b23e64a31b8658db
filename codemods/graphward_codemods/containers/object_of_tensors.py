"""GW426: objects of plain Python classes made from Tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import ClassInfo
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from ._records import made_by


class ObjectOfTensors(Rule):
    """An object of a Python class that holds Tensors is made by the Python interpreter.

    ## What it finds

    Calls of a class of the project in a graph region with a traced argument, where the class is no Cell and no record
    (see GW410).

    ## Why

    MindSpore 2.7 to 2.10, with `fullgraph=True`:

        ValueError: When handling script '__call_func_str__(...) in graph mode', the inputs should be constant

    At the default syntax level the object is made at run time, and its methods are interpreted.

    ## Example

        state = State(x)
        return state.double()

    has no rewrite: make functions of the methods, which take the Tensors as arguments:

        return double(x)

    ## What the rewrite assumes

    There is none.

    ## When it is unsafe

    There is none.

    ## References

    `mindspore.jit_class`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW426"
    name = "object-of-tensors"
    consequence = Consequence.FALLBACK
    triggers = (b"class ", b"import ")
    nodes = (ast.Call,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not (node.args or node.keywords) or not isinstance(node.func, (ast.Name, ast.Attribute)):
            return
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        if not name.lstrip("_")[:1].isupper():
            return
        found = context.project.called_class(context.function, node)
        if not isinstance(found, ClassInfo) or context.project.is_cell(found) is not False:
            return
        values = [*node.args, *(k.value for k in node.keywords)]
        traced = next((k for k in map(context.kind, values) if k.variable), None)
        if traced is None or made_by(node, context) is not None:
            return
        manual = f"make functions of the methods of {found.name}, which take the Tensors as arguments"
        fix = context.rewrite().manual("Use functions", manual)
        message = f"an object of {found.name} is made by the Python interpreter"
        yield context.finding(self, node, message, evidence=(traced.evidence,), fixes=(fix,))
