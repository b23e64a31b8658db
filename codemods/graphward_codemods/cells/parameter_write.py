"""GW206."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._assign import WRITERS, assigned_call, assigned_data

_SAME_FORM = "the value must have the dtype and shape of the Parameter"


class ParameterWrite(Rule):
    """A Parameter is written with `set_data`, `assign_value` or `.data =` in graph code.

    ## What it finds

    `self.p.set_data(value)`, `self.p.assign_value(value)` and `self.p.data = value` in a graph region.

    ## Why

    The compiler refuses it (MindSpore 2.7 to 2.10): `RuntimeError: Failed to compile in GRAPH_MODE because the
    'Parameter' object's method 'set_data' is not supported in 'construct' or function with @jit decorator.` Of
    `.data =` it makes an operator that the CPU does not have: `Unsupported op [SetData] on CPU`.

    ## Example

        self.step.set_data(self.step + 1)

    becomes

        ops.assign(self.step, self.step + 1)

    ## What the rewrite assumes

    That the value has the dtype and shape of the Parameter.

    ## When it is unsafe

    Always: `set_data` can give a Parameter another dtype or shape, `ops.assign` cannot. Where the Parameter is read
    before the write and takes part in a gradient, the two modes differ: the backward pass of PyNative reads what was
    written, that of the graph what the forward pass read. The proof refuses that, and the alternative by hand
    says what to do: return the new value, and write it after the gradients are taken, with `ops.assign`. (A
    gradient function that is compiled need not see what `set_data` writes to a Parameter between two calls.)

    ## References

    API of `mindspore.ops.assign` and `mindspore.Parameter.set_data`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW206"
    name = "parameter-write"
    consequence = Consequence.ERROR
    triggers = (b".set_data", b".assign_value", b".data")
    nodes = (ast.Call, ast.Assign)
    names = WRITERS

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        if isinstance(node, ast.Assign):
            yield from self._data(node, context)
            return
        assert isinstance(node, ast.Call)
        if not (isinstance(node.func, ast.Attribute) and node.func.attr in WRITERS):
            return
        parameter, method = node.func.value, node.func.attr
        tag = context.kind(parameter).tag
        if tag is not Tag.PARAMETER and not (tag is Tag.UNKNOWN and method == "set_data"):
            return
        message = f"{context.text(parameter)} is written with {method}, which does not compile"
        fix = assigned_call(context, context.rewrite(), node, parameter, _SAME_FORM)
        fixes = (fix, _after_the_call(parameter, context))
        yield context.finding(self, node, message, fixes=fixes)

    def _data(self, node: ast.Assign, context: FunctionContext) -> Iterable[Finding]:
        """`self.p.data = value`."""
        target = node.targets[0]
        if not isinstance(target, ast.Attribute) or target.attr != "data" or len(node.targets) > 1:
            return
        if context.kind(target.value).tag is not Tag.PARAMETER:
            return
        message = f"{context.text(target.value)} is written through .data: the CPU has no operator for it"
        fix = assigned_data(context, context.rewrite(), node, target, _SAME_FORM)
        yield context.finding(self, target, message, fixes=(fix, _after_the_call(target.value, context)))


def _after_the_call(parameter: ast.expr, context: FunctionContext) -> Fix:
    """`ops.assign` and not `set_data`: a compiled `ms.grad` goes on with the value from before `set_data`."""
    name = context.text(parameter)
    advice = f"return the new value of {name} from the graph, and write it with ops.assign where the graph was called"
    reason = (
        f"once the gradients are taken: the backward pass of PyNative reads what was written to {name} in between, "
        "that of the graph what the forward pass read, so the gradients of the two differ"
    )
    return context.rewrite().manual("Write it after the call", f"not changed by itself: {advice}, {reason}")
