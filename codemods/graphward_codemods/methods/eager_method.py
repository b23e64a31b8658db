"""GW112: methods of Tensors that PyNative and Graph Mode take differently."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.knowledge.tensor_methods import MethodCall, method_calls
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.precedence import guarded


class EagerMethod(Rule):
    """Some calls of Tensor methods mean something else in a graph, or are left to the Python interpreter.

    ## What it finds

    On a Tensor in a graph region: `x.max(1)` and `x.min(1)`, the axis given by position, unless the result is
    computed with, which PyNative refuses; `x.argmax()` without an axis on more than one dimension; `x.diag()` and
    `x.approximate_equal(y)`. The table is `graphward.knowledge.tensor_methods`.

    ## Why

    PyNative and Graph Mode pick different overloads of a method, silently: `x.max(1)` gives values and indices in
    PyNative, and in a graph the values alone; `x.argmax()` counts along the last axis in a graph. Other methods are
    missing, with `fullgraph=True` (MindSpore 2.7 to 2.10):

        AttributeError: In JIT strict mode, cannot get attributes approximate_equal

    ## Example

        values, indices = x.max(1)
        return x.approximate_equal(y)

    becomes

        values, indices = x.max(dim=1)
        return ops.approximate_equal(x, y)

    ## What the rewrite assumes

    That what PyNative gives is meant.

    ## When it is unsafe

    When it is not known that the object is a Tensor.

    ## References

    `mindspore.Tensor.max`, `mindspore.Tensor.argmax`, `mindspore.ops.approximate_equal`. Measured on MindSpore 2.10.0
    CPU.
    """

    code = "GW112"
    name = "eager-method"
    consequence = Consequence.FALLBACK
    triggers = tuple(f".{name}(".encode() for name in sorted({m for m, _ in method_calls()}))
    nodes = (ast.Call,)
    names = frozenset(method for method, _ in method_calls())

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, ast.Attribute) or node.keywords:
            return
        row = method_calls().get((node.func.attr, len(node.args)))
        if row is None or any(isinstance(a, ast.Starred) for a in node.args):
            return
        if row.pair and _is_one_tensor(context.parent(node)):
            return
        if (row.first == "int" and not _is_int(node.args[0], context)) or context.resolve(node.func) is not None:
            return
        kind = context.kind(node.func.value)
        if not (kind.is_tensor or (kind.variable and kind.tag is Tag.UNKNOWN)):
            return
        if kind.rank is not None and kind.rank < row.from_rank:
            return
        rewrite = context.rewrite()
        rewrite.replace(node, _text(node, node.func.value, row, context, rewrite), context.parent(node))
        title = "Write what means the same in both modes"
        fix = rewrite.safe(title) if kind.is_tensor else rewrite.unsafe(title, "the object is taken for a Tensor")
        message = f"{row.method}() {row.why}"
        yield context.finding(self, node, message, evidence=(kind.evidence,), fixes=(fix,),
                              consequence=Consequence(row.consequence))  # fmt: skip


def _is_one_tensor(parent: ast.AST | None) -> bool:
    """Whether the result is computed with: the code is written for Graph Mode, and does not run in PyNative."""
    if isinstance(parent, ast.Attribute):
        return parent.attr not in ("values", "indices")
    return isinstance(parent, (ast.Compare, ast.BinOp, ast.UnaryOp))


def _is_int(node: ast.expr, context: FunctionContext) -> bool:
    value = node.operand if isinstance(node, ast.UnaryOp) else node
    if isinstance(value, ast.Constant):
        return type(value.value) is int
    kind = context.kind(node)
    return kind.tag is Tag.CONSTANT and not kind.variable and kind.python_type == "int"


def _text(node: ast.Call, holder: ast.expr, row: MethodCall, context: FunctionContext, rewrite: Rewrite) -> str:
    arguments = [context.text(a) for a in node.args]
    if not row.template.startswith("ops."):
        place = ast.Attribute(holder, "x", ast.Load())
        return row.template.format(*arguments, x=guarded(context.text(holder), holder, place))
    operator = rewrite.spell(f"mindspore.{row.template.partition('(')[0]}")
    return operator + row.template[row.template.index("(") :].format(*arguments, x=context.text(holder))
