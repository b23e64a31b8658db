"""GW121: Tensors in logs and warnings."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Kind
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from ._logs import LEVELS, printed

_MAKERS = frozenset({"getLogger", "get_logger"})


class LogOfTensor(Rule):
    """A log or warning with a Tensor in it is left to the Python interpreter.

    ## What it finds

    `logger.info(x)`, `logger.info("loss %s", x)`, `logging.warning(f"{x}")` and `warnings.warn(f"{x}")` in a graph
    region with a Tensor. Texts of constants and shapes are logged while the graph is compiled, and are left alone.

    ## Why

    MindSpore 2.7 to 2.10, with `fullgraph=True`:

        ValueError: When handling script '__call_func_str__(...) in graph mode', the inputs should be constant, but
        found variable to be nonconstant

    ## Example

        logger.info("loss %s", loss)

    becomes

        print("loss", loss)

    which is an operator of the graph.

    ## What the rewrite assumes

    That the value has to be seen while the graph runs.

    ## When it is unsafe

    Always: `print` writes to standard output, whatever the level of the log.

    ## References

    `mindspore.ops.Print`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW121"
    name = "log-of-tensor"
    consequence = Consequence.FALLBACK
    triggers = tuple(f".{level}(".encode() for level in sorted(LEVELS))
    nodes = (ast.Call,)
    names = LEVELS

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not (isinstance(node.func, ast.Attribute) and node.args) or not _is_log(node.func, context):
            return
        traced = _traced([*node.args, *(k.value for k in node.keywords)], context)
        if traced is not None:
            message = "a log with a Tensor in it is left to the Python interpreter"
            yield context.finding(self, node, message, evidence=(traced.evidence,), fixes=(printed(node, context),))


def _is_log(func: ast.Attribute, context: FunctionContext) -> bool:
    """Whether the function is one of `logging`, of `warnings`, or of a logger that the module or a class made."""
    name = context.resolve(func) or ""
    if name.startswith("logging.") or name == "warnings.warn":
        return True
    if not isinstance(func.value, ast.Name) or context.function.names.is_local(func.value.id):
        return False
    if name.startswith("mindspore.log."):
        return False  # GW113's
    made = context.module.assignments.get(func.value.id)
    if made is None or not isinstance(made, ast.Call):
        return ".logg" in name
    maker = made.func
    return (maker.attr if isinstance(maker, ast.Attribute) else getattr(maker, "id", "")) in _MAKERS


def _traced(values: list[ast.expr], context: FunctionContext) -> Kind | None:
    """The first Tensor whose value, not shape or dtype, becomes a part of the text."""
    for value in values:
        if isinstance(value, ast.JoinedStr):
            inner = [v.value for v in value.values if isinstance(v, ast.FormattedValue)]
        elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mod):
            inner = value.right.elts if isinstance(value.right, ast.Tuple) else [value.right]
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "format":
            inner = [*value.args, *(k.value for k in value.keywords)]
        else:
            kind = context.kind(value)
            if kind.is_tensor and kind.variable:
                return kind
            continue
        found = _traced(inner, context)
        if found is not None:
            return found
    return None
