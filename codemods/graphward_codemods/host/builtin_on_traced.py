"""GW108: `reversed`, `divmod`, `sorted`, `repr` and `id` of traced values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix
from graphward.source.precedence import guarded

from .._blocks import CannotRewrite, fresh, insert_before
from .._python import is_builtin, is_later, traced_name


class BuiltinOnTraced(Rule):
    """`reversed`, `divmod` and `sorted` have no graph form.

    ## What it finds

    `reversed(x)`, `divmod(a, b)`, `sorted(x)`, `repr(x)` and `id(x)` in a graph region whose arguments name a Tensor, a
    container of Tensors or a CellList. Of constants they are folded, and are left alone.

    ## Why

    The Python interpreter calls them, with all names of the arguments as inputs (MindSpore 2.7 to 2.10):

        ValueError: When handling script 'divmod(x.shape[0], 2) in graph mode', the inputs should be constant, but found
        variable 'x' to be nonconstant

    At the default syntax level that happens at run time; `reversed` of a CellList fails there too.

    ## Example

        for block in reversed(self.blocks):
        q, r = divmod(x.shape[0], 2)
        axes = sorted(x.shape)

    becomes

        for block in self.blocks[::-1]:
        q, r = x.shape[0] // 2, x.shape[0] % 2
        shape = x.shape
        axes = sorted(shape)

    ## What the rewrite assumes

    That what is reversed has an index, and that evaluating an operand of `divmod` twice has no effect.

    ## When it is unsafe

    When the kind of the operands is not known. Tensors cannot be sorted by `sorted` at all: `ops.sort` sorts the
    elements of one.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW108"
    name = "builtin-on-traced"
    consequence = Consequence.FALLBACK
    triggers = (b"reversed(", b"divmod(", b"sorted(", b"repr(", b"id(")
    nodes = (ast.Call,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not (isinstance(node.func, ast.Name) and node.func.id in _FIXES and node.args):
            return
        if any(isinstance(a, ast.Starred) for a in node.args) or not is_builtin(node.func, context):
            return
        name = node.func.id
        cells = name == "reversed" and context.kind(node.args[0]).tag is Tag.CELLS
        traced = traced_name(node, context)
        if not traced and not cells:
            return
        message = f"{name}() of a traced value is left to the Python interpreter"
        consequence = Consequence.ERROR if cells else Consequence.FALLBACK
        yield context.finding(self, node, message, evidence=(traced,), fixes=(_FIXES[name](node, context),),
                              consequence=consequence)  # fmt: skip


def _reversed(node: ast.Call, context: FunctionContext) -> Fix:
    value = node.args[0]
    kind = context.kind(value)
    text = guarded(context.text(value), value, ast.Attribute(value, "x", ast.Load()))
    lazy = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("zip", "enumerate")
    rewrite = context.rewrite()
    rewrite.replace(node, f"list({text})[::-1]" if lazy else f"{text}[::-1]", context.parent(node))
    if kind.tag in (Tag.SEQUENCE, Tag.SHAPE, Tag.CELLS) and kind.certain:
        return rewrite.safe("Slice backwards")
    return rewrite.unsafe("Slice backwards", "what is reversed is taken for a tuple or list")


def _divmod(node: ast.Call, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    if len(node.args) != 2 or node.keywords:
        return rewrite.manual("Use // and %", "divmod takes two operands")
    left, right = node.args
    first, second = (guarded(context.text(a), a, ast.Attribute(a, "x", ast.Load())) for a in (left, right))
    rewrite.replace(node, f"({first} // {second}, {first} % {second})", context.parent(node))
    if all(context.kind(a).tag is Tag.CONSTANT and not context.kind(a).variable for a in node.args):
        return rewrite.safe("Use // and %")
    return rewrite.unsafe("Use // and %", "the operands are evaluated twice")


def _sorted(node: ast.Call, context: FunctionContext) -> Fix:
    value = node.args[0]
    rewrite = context.rewrite()
    known = not context.kind(value).variable and not any(traced_name(k.value, context) for k in node.keywords)
    if not known or isinstance(value, ast.Name) or is_later(node, context):
        manual = "ops.sort sorts the elements of a Tensor; a list of Tensors has to be stacked first"
        return rewrite.manual("Sort with ops.sort", manual)
    wanted = value.attr if isinstance(value, ast.Attribute) else "values"
    name = fresh(context, wanted)
    try:
        insert_before(context, rewrite, context.statement(node), [f"{name} = {context.text(value)}"])
    except CannotRewrite as reason:
        return rewrite.manual("Give what is sorted a name", str(reason))
    rewrite.replace(value, name, node)
    return rewrite.safe("Give what is sorted a name, which is a constant")


def _text(node: ast.Call, context: FunctionContext) -> Fix:
    manual = "print(x) shows a Tensor at run time; a text that depends on its values cannot be made in a graph"
    return context.rewrite().manual("Leave the text out of the graph", manual)


_FIXES: dict[str, Callable[[ast.Call, FunctionContext], Fix]] = {
    "reversed": _reversed, "divmod": _divmod, "sorted": _sorted, "repr": _text, "id": _text,
}  # fmt: skip
