"""GW603: equal layers in a row, which one graph unrolls."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from ._references import references
from ._roots import jit_roots
from ._sizes import Sizes

_DEEP = 24


class RepeatedLayers(Rule):
    """A loop over many equal layers is unrolled: the graph, and the time to compile it, grow with the depth.

    ## What it finds

    A loop over a CellList of at least 24 Cells of the project, as far as the number can be seen, in a function that is
    a graph of its own (under `jit`, or the `construct` of a compile unit).

    ## Why

    Each turn of the loop is compiled anew. What MindSpore has against it was measured on 2.10 CPU with transformer
    blocks of width 64, each in a fresh process on a busy machine: CPU seconds of the first call, CPU milliseconds of a
    later one, peak memory with gradients.

    | form            | layers | forward: first | step | gradient: first | step |  MB  |
    |-----------------|--------|----------------|------|-----------------|------|------|
    | one graph       |      6 |            1.8 |    9 |             2.3 |   85 |  565 |
    | one graph       |     12 |            3.0 |   12 |             5.1 |  104 |  687 |
    | one graph       |     24 |            6.3 |   21 |            13.4 |  230 |  927 |
    | one graph       |     48 |           11.3 |   34 |            42.0 |  620 | 1413 |
    | a jit per block |      6 |            3.2 |   18 |             3.4 |   69 |  529 |
    | a jit per block |     12 |            6.7 |   27 |             7.9 |  150 |  596 |
    | a jit per block |     24 |           11.6 |   34 |            17.7 |  210 |  751 |
    | a jit per block |     48 |           18.8 |   66 |            44.0 | 1499 | 1057 |
    | stacked weights |      6 |            1.0 |   12 |             1.2 |   44 |  525 |
    | stacked weights |     12 |            0.8 |   70 |             1.3 |   74 |  535 |
    | stacked weights |     24 |            1.0 |   45 |             1.8 |  139 |  559 |
    | stacked weights |     48 |            0.8 |   48 |             2.8 |  448 |  596 |

    - `lazy_inline` on `Block.__init__` does not compile on CPU: `RuntimeError: Input[0] must be a Primitive ValueNode,
      but get ValueNode<FuncGraph>`, at every depth.
    - A `jit` on each block compiles each block: longer, since the key of a graph holds the instance.
    - A loop over stacked weights (`while i < n` over Parameters of shape `(n, ...)`) compiles in nearly the same time
      whatever the depth. A forward step takes longer, one with gradients less. It is another model: checkpoints of the
      layers do not fit, and each layer has to be written with functions over its slice. Its gradients were timed, not
      proven. So it is for people to choose.

    ## Example

        for block in self.blocks:      # CellList of 48
            x = block(x)

    stays as it is.

    ## What the rewrite assumes

    There is none: of the three only stacked weights are faster, and they change the parameters. A graph of its own for
    the layers (GW601) at least keeps them from being compiled again with everything else.

    ## When it is unsafe

    Stacked weights change the names and shapes of the parameters.

    ## References

    - API of `mindspore.lazy_inline`
    - Measured on MindSpore 2.10.0 CPU
    """

    code = "GW603"
    name = "repeated-layers"
    consequence = Consequence.INFO
    triggers = (b"CellList",)

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        root = next((r for r in jit_roots(context.inference) if r.function is context.function), None)
        if root is None or root.cell is None:
            return
        for reference in references(context.inference, root.function, root.cell):
            if not reference.each or not reference.is_cell:
                continue
            sizes = context.once(Sizes, lambda: Sizes(context.inference))
            count = sizes.elements(root.cell, reference.name)
            loop = context.parent(reference.node)
            if count >= _DEEP and isinstance(loop, (ast.For, ast.Call)):
                advice = "keep them in a graph of their own (GW601); the page has what else was tried"
                message = f"{count} equal layers are unrolled into one graph, which takes its time to compile"
                fix = context.rewrite().manual("Compile them apart", advice)
                yield context.finding(self, reference.node, message, fixes=(fix,))
