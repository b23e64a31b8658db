"""GW101: NumPy functions applied to Tensors in graph code."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from ._alternatives import Plan, computes_with_numpy, plan
from ._islands import find_islands


class NumpyOnTensors(Rule):
    """A NumPy function computes on the value of a Tensor in a graph region.

    ## What it finds

    Calls of NumPy functions on Tensors, and on arrays made from them with `.asnumpy()`, in code that a graph region
    compiles. NumPy on values that are known while compiling (`np.pi`, `np.sqrt(x.shape[-1])`, `np.zeros(x.shape)`,
    dtypes) is harmless and left alone, and `mindspore.numpy` is no NumPy.

    ## Why

    At the default syntax level such a call is handed to the Python interpreter at run time: slow, impossible to
    export, and without a gradient, silently, in PyNative too. With `fullgraph=True` it does not compile:

        ValueError: When handling script '...' in graph mode, the inputs should be constant, but found variable
        AttributeError: In JIT strict mode, cannot get attributes asnumpy

    ## Example

        a = x.asnumpy()
        return Tensor(np.exp(a) / np.sum(np.exp(a)))

    becomes

        a = x
        return ops.exp(a) / ops.sum(ops.exp(a))

    Everything from where the Tensor leaves the graph to where a Tensor comes back is rewritten as one. The second
    alternative wraps what comes back in `ops.stop_gradient`. `op-style` chooses between `ops.exp(x)`, `ops.Exp()(x)`
    and `mint.exp(x)`.

    ## What the rewrite assumes

    That values, dtypes and shapes agree: measured for each function on float32, int32 and bool. A call for which
    MindSpore has no equivalent (`out=`, `where=`, `np.median`) is reported and left, with all that hangs on it.

    ## When it is unsafe

    The first alternative always: NumPy cuts the gradient and the rewrite has one. The second when a dtype is not
    known to be float32, or a NumPy array leaves the function, which becomes a Tensor.

    ## References

    `mindspore.ops`, `mindspore.mint`. Measured on MindSpore 2.10.0 CPU with NumPy 1.26.
    """

    code = "GW101"
    name = "numpy-on-tensors"
    consequence = Consequence.FALLBACK
    triggers = (b"numpy",)

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        for island in find_islands(context):
            if not computes_with_numpy(context, island):
                continue
            outcome = plan(context, island)
            calls = [call for call in island.calls if not call.method]
            for call in calls:
                message = f"numpy.{call.name} computes on the host: the graph stops here"
                if not call.delegates:
                    message += ", and so does the gradient"
                yield self._found(context, call.node, message, outcome)
            for entry in () if calls else island.entries:
                message = "the Tensor is handed to the host for a function that calls NumPy: the graph stops here"
                yield self._found(context, entry, message, outcome)

    def _found(self, context: FunctionContext, node: ast.Call, message: str, outcome: Plan) -> Finding:
        if outcome.obstacle is not None:
            message += f"; no rewrite: {_where(outcome.obstacle.node, node)}{outcome.obstacle.reason}"
        evidence = tuple(context.kind(part).evidence for part in (node, *node.args))
        return context.finding(self, node, message, evidence=evidence, fixes=outcome.fixes)


def _where(obstacle: ast.AST, finding: ast.Call) -> str:
    """A pointer to the line of an obstacle that stands elsewhere."""
    line = getattr(obstacle, "lineno", finding.lineno)
    return "" if line == finding.lineno else f"line {line}: "
