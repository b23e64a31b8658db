"""GW113: MindSpore's own log."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from ._logs import LEVELS, printed


class MindsporeLog(Rule):
    """`mindspore.log` does not compile.

    ## What it finds

    `ms.log.info(...)`, `from mindspore import log as logger; logger.warning(...)` and the like in a graph region.
    Python's own `logging` compiles as long as no Tensor is in the text, and is left alone.

    ## Why

    The whole module is closed to the compiler (MindSpore 2.7 to 2.10):

        RuntimeError: Failed to compile in GRAPH_MODE because the method or function 'mindspore.log.info' is not
        supported in 'construct' or function with @jit decorator

    ## Example

        logger.info("loss %s", loss)

    becomes

        print("loss", loss)

    which is an operator of the graph.

    ## What the rewrite assumes

    That the text has to be seen each time the graph runs.

    ## When it is unsafe

    Always: `print` writes to standard output, whatever the level of the log. A text that is to be seen once is better
    logged in `__init__`, or where the Cell is called.

    ## References

    `mindspore.log`; `mindspore.ops.Print`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW113"
    name = "mindspore-log"
    consequence = Consequence.ERROR
    triggers = (b"log",)
    nodes = (ast.Call,)
    names = LEVELS

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        last = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
        if last not in LEVELS or not (context.resolve(node.func) or "").startswith("mindspore.log."):
            return
        message = f"{context.text(node.func)} is of mindspore.log, which is closed to the compiler"
        yield context.finding(self, node, message, fixes=(printed(node, context),))
