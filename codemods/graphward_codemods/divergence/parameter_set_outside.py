"""GW914: Parameters that are given other data between two calls of a compiled function."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import FunctionInfo
from graphward.knowledge.names import canonical
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._assign import WRITERS, assigned_call, assigned_data
from ._later_writes import Run, runs_again, runs_of, written_roots

_REASON = "the value must be a Tensor with the shape of the Parameter, and of no wider dtype; the graph sees it then"


class ParameterSetOutside(Rule):
    """A Parameter gets other data between two calls of a compiled function, which goes on with the old data.

    ## What it finds

    Outside of graph code, `net.w.set_data(value)`, `.assign_value(value)`, `.data = value` and
    `load_param_into_net(net, ...)`, where a function or method under `jit` that reads `net` was called before and is
    called again: both stand in one loop, or one call above and one below. The learning rate of an optimizer that the
    function calls counts, and so do a loop over Parameters of `net`, `grad_fn = value_and_grad(...)` in a file that
    sets Graph Mode, and in PyNative an instance with `jit` on its `construct`.

    Left alone is what sees the write: a loop that is left behind it, a function that gets the Cell or the Parameter as
    an argument, one that does not use all of its parameters. Bare gradients (`grad`, `GradOperation`) see it where the
    derivative does not depend on an input any more, and are not followed.

    ## Why

    These writers give the Parameter other memory. The graph of a function looks up the memory of its Parameters once,
    and goes on with that: it computes with the old value, without a word, and what it writes itself (an optimizer in
    the graph) does not reach the Parameter any more. The graph of a Cell that Graph Mode compiles looks it up at each
    call. `ops.assign`, `p[:] = value` and `p.copy_(value)` write into the memory that is there.

    ## Example

        loss = step(x)
        net.scale.set_data(value)
        loss = step(x)

    becomes

        loss = step(x)
        ops.assign(net.scale, value)
        loss = step(x)

    ## What the rewrite assumes

    That the value is a Tensor with the shape of the Parameter. `ops.assign` casts to a wider dtype, never to a narrower
    one (`set_data` casts both ways), and takes a number for a Parameter of no dimensions only.

    ## When it is unsafe

    Always, for these reasons. `load_param_into_net` is not rewritten.

    ## References

    `mindspore.ops.assign`, `mindspore.Parameter.set_data`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW914"
    name = "parameter-set-outside"
    consequence = Consequence.DIVERGENCE
    triggers = (b".set_data", b".assign_value", b".data =", b"load_param_into_net")

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        data = context.module.source.utf8
        if b"jit" not in data and b"GRAPH_MODE" not in data:
            return
        writes = list(_writes(context))
        runs = runs_of(context) if writes else []
        for statement, node, parameter in writes if runs else ():
            for root in written_roots(context, parameter):
                run = runs_again(context, statement, root, runs)
                if run is not None:
                    yield self._finding(context, statement, node, parameter, run)
                    break

    def _finding(
        self, context: ModuleContext, statement: ast.stmt, node: ast.expr, parameter: ast.expr, run: Run
    ) -> Finding:
        written = context.text(parameter)
        message = f"the graph of {run.graph[1]} goes on with the old value of {written}: it does not see this write"
        fix = _fix(context, statement, node, parameter)
        return context.finding(self, node, message, fixes=(fix,))


def _writes(context: ModuleContext) -> Iterable[tuple[ast.stmt, ast.expr, ast.expr]]:
    """The statement, the node to show and the Parameter (or Cell) of each write outside of graph code."""
    for node in context.nodes:
        parameter: ast.expr | None = None
        shown: ast.expr | None = None
        if isinstance(node, ast.Call):
            shown = node
            if isinstance(node.func, ast.Attribute) and node.func.attr in WRITERS:
                parameter = node.func.value
            elif _is_load(context, node) and node.args:
                parameter = node.args[0]
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            # The `.data` of a bare name may be that of anything.
            if isinstance(target, ast.Attribute) and target.attr == "data" and isinstance(target.value, ast.Attribute):
                shown, parameter = target, target.value
        if shown is not None and parameter is not None and context.function_at(shown) not in context.inference.reached:
            yield context.statement(shown), shown, parameter


def _is_load(context: ModuleContext, node: ast.Call) -> bool:
    function = context.function_at(node)
    names = function.names if function else context.module.names
    return canonical(names.resolve(node.func) or "") == "mindspore.load_param_into_net"


def _fix(context: ModuleContext, statement: ast.stmt, node: ast.expr, parameter: ast.expr) -> Fix:
    function: FunctionInfo | None = context.function_at(node)
    rewrite = context.rewrite(function.names if function else None)
    if isinstance(statement, ast.Assign) and isinstance(node, ast.Attribute):
        return assigned_data(context, rewrite, statement, node, _REASON)
    assert isinstance(node, ast.Call)
    if isinstance(node.func, ast.Attribute) and node.func.attr in WRITERS:
        return assigned_call(context, rewrite, node, parameter, _REASON)
    advice = (
        f"write the values with ops.assign, a Parameter of {context.text(parameter)} after the other, or load them "
        "before the compiled function is called for the first time"
    )
    return rewrite.manual("Write into the Parameters", advice)
