"""GW102: Tensors that leave the graph and come back without a NumPy function."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from ._alternatives import computes_with_numpy, plan
from ._conversion import replace, tensor_of_tensor
from ._islands import find_islands
from ._uses import TENSOR_CONSTRUCTORS, is_written
from ._values import type_tested


class HostRoundTrip(Rule):
    """A Tensor is handed to the host in a graph region, without need.

    ## What it finds

    `.asnumpy()` in code that a graph region compiles, where no NumPy function follows: methods of the array
    (`x.asnumpy().sum()`), a way out and back (`Tensor(x.asnumpy())`, `Tensor.from_numpy(x.asnumpy())`,
    `ms.tensor(x.asnumpy())`), an array that is returned. And a Tensor made from a Tensor: `Tensor(x)`.

    ## Why

    At the default syntax level the Python interpreter takes over at run time: slow, impossible to export, and the
    gradient is zero, silently, in PyNative too. With `fullgraph=True` it does not compile:

        AttributeError: In JIT strict mode, cannot get attributes asnumpy
        ValueError: When handling script 'Tensor(input_data, ...) in graph mode', the inputs should be constant

    ## Example

        return Tensor(x.asnumpy()) * 2

    becomes

        return x * 2

    or, with the gradient cut as before, `return ops.stop_gradient(x) * 2`.

    ## What the rewrite assumes

    That the methods of the array mean on a Tensor what they mean in NumPy: measured for each of them.

    ## When it is unsafe

    The first alternative always: the original cuts the gradient and the rewrite has one. The second when a dtype is
    not known to be float32, or a NumPy array leaves the function, which becomes a Tensor. `Tensor(x)` of a Tensor
    keeps its gradient in PyNative: leaving it out is safe where `x` is known to be a Tensor.

    ## References

    `mindspore.Tensor.asnumpy`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW102"
    name = "host-round-trip"
    consequence = Consequence.FALLBACK
    triggers = (b".asnumpy", b".numpy(", b"ensor(")
    nodes = (ast.Call,)
    names = frozenset(name.rpartition(".")[2] for name in TENSOR_CONSTRUCTORS)

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        for island in find_islands(context):
            if computes_with_numpy(context, island):
                continue
            outcome = plan(context, island)
            for entry in island.entries:
                message = "the Tensor is handed to the host: the graph stops here, and so does the gradient"
                if outcome.obstacle is not None:
                    message += f"; no rewrite: {outcome.obstacle.reason}"
                evidence = (context.kind(entry).evidence,)
                yield context.finding(self, entry, message, evidence=evidence, fixes=outcome.fixes)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        text = tensor_of_tensor(context, node)
        if text is None or type_tested(context, node, node.args):
            return
        kind = context.kind(node.args[0])
        message = "a Tensor made from a Tensor of the graph: the Python interpreter makes it, with a wrong gradient"
        if isinstance(node.args[0], ast.Compare) and len(node.args) + len(node.keywords) > 1:
            # Measured at the default level: one run in eight ends with "Launch kernel failed: PyExecute".
            message = "a Tensor with a dtype made from a comparison: the Python interpreter makes it and fails at times"
        if is_written(context, node):
            message += "; no rewrite: it shares its memory with the other, and is written into"
            yield context.finding(self, node, message, evidence=(kind.evidence,))
            return
        rewrite = context.rewrite()
        replace(context, rewrite, node, text, context.parent(node))
        title = "Use the Tensor itself"
        reason = "it is not certain that it is a Tensor"
        fix = rewrite.safe(title) if kind.certain else rewrite.unsafe(title, reason)
        yield context.finding(self, node, message, evidence=(kind.evidence,), fixes=(fix,))
