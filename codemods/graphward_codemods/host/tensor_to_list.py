"""GW104: `.tolist()` and `str()` of Tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import remove_statement
from .._python import is_builtin, is_message, read_after
from ._cut import alternatives

_REDUCTIONS = frozenset({"max", "min", "sum", "mean", "prod", "argmax", "argmin"})


class TensorToList(Rule):
    """`.tolist()` and `str(x)` hand a Tensor to the host.

    ## What it finds

    `x.tolist()` and `str(x)` in a graph region, where `x` is a Tensor of the graph. `x.item()`, `f"{x}"` and `print(x)`
    compile, and are left alone.

    ## Why

    The Python interpreter takes over at run time, and the gradient is cut. With `fullgraph=True` (MindSpore 2.7 to
    2.10):

        AttributeError: In JIT strict mode, cannot get attributes asnumpy or the Tensor[Float32] object has no attribute

    ## Example

        values = x.tolist()
        return y * values[0]

    becomes

        values = x
        return y * values[0]

    `print(str(x))` becomes `print(x)`; a text that nothing reads goes.

    ## What the rewrite assumes

    That the values are used as numbers: indexed, iterated over, computed with.

    ## When it is unsafe

    Always: Tensors take the place of Python numbers. The first alternative has a gradient, which the original cuts; the
    second keeps it cut, with `ops.stop_gradient`. For other uses of a text there is no rewrite.

    ## References

    `mindspore.Tensor.tolist`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW104"
    name = "tensor-to-list"
    consequence = Consequence.FALLBACK
    triggers = (b".tolist(", b"str(")
    nodes = (ast.Call,)
    names = frozenset({"str", "tolist"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "tolist" and not node.args:
            kind = context.kind(node.func.value)
            if kind.is_tensor and kind.variable:
                value = node.func.value
                # A whole reduction is a number: read it off with item(), which has a graph form.
                text = context.text(value) + (".item()" if _is_number(value) else "")
                reason = "Tensors take the place of Python numbers"
                fixes = alternatives(context, node, lambda _: text, "Use the Tensor itself", reason, kind.dtype)
                message = "tolist() hands the Tensor to the host, and the gradient is cut"
                yield context.finding(self, node, message, evidence=(kind.evidence,), fixes=fixes)
        elif isinstance(node.func, ast.Name) and node.func.id == "str" and len(node.args) == 1:
            kind = context.kind(node.args[0])
            if kind.is_tensor and kind.variable and is_builtin(node.func, context):
                message = "the text of a Tensor is made by the Python interpreter"
                yield context.finding(self, node, message, evidence=(kind.evidence,), fixes=(_text(node, context),))


def _is_number(node: ast.expr) -> bool:
    reduced = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _REDUCTIONS
    return reduced and not node.args and not node.keywords  # type: ignore[attr-defined]


def _text(node: ast.Call, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    parent, statement = context.parent(node), context.statement(node)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "print":
        rewrite.replace(node, context.text(node.args[0]), parent)
        return rewrite.safe("Print the Tensor")
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    unread = isinstance(target, ast.Name) and not read_after(target.id, statement, context)
    if parent is statement and isinstance(statement, (ast.Expr, ast.Assign)) and (target is None or unread):
        remove_statement(context, rewrite, statement)
        return rewrite.unsafe("Remove the text", "nothing reads it")
    what = "it is shown" if is_message(node, context) else "it is used"
    manual = f"make the text outside of the graph, where {what}: its contents are not known while compiling"
    return rewrite.manual("Leave the text out of the graph", manual)
