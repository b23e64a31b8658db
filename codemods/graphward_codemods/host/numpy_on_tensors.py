"""GW101: NumPy functions applied to Tensors in graph code."""

from __future__ import annotations

from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from ._alternatives import plan
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
            if not island.has_functions:
                continue
            outcome = plan(context, island)
            for call in island.calls:
                if call.method:
                    continue
                message = f"numpy.{call.name} computes on the host: the graph stops here"
                if not call.delegates:
                    message += ", and so does the gradient"
                if outcome.obstacle is not None:
                    message += (
                        f"; no rewrite: {_where(context, outcome.obstacle.node, call.node)}{outcome.obstacle.reason}"
                    )
                evidence = tuple(context.kind(node).evidence for node in (call.node, *call.node.args))
                yield context.finding(self, call.node, message, evidence=evidence, fixes=outcome.fixes)


def _where(context: FunctionContext, node: object, here: object) -> str:
    """A pointer to the line of an obstacle that stands elsewhere."""
    line, other = getattr(node, "lineno", 0), getattr(here, "lineno", 0)
    return "" if line == other else f"line {line}: "
