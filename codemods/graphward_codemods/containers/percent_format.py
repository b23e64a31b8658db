"""GW424: `%` on strings."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._python import is_message, traced_name
from ._templates import literal, of_percent


class PercentFormat(Rule):
    """`%` on a string with a traced value is left to the Python interpreter.

    ## What it finds

    `"a%d" % x.shape[0]` in a graph region where the values name a Tensor, unless the text is for people: in `raise`,
    `assert`, `print`, logs and warnings. Of constants it is folded, and is left alone.

    ## Why

    MindSpore 2.7 to 2.10:

        ValueError: When handling script '"a%d" % x.shape[0] in graph mode', the inputs should be constant

    At the default syntax level the text is made at run time, and what depends on it is no longer known.

    ## Example

        key = "layer%d" % x.shape[0]

    becomes

        key = "layer{:d}".format(x.shape[0])

    ## What the rewrite assumes

    That the values are of the type that the letter asks for: `%d` of a float cuts it, `{:d}` refuses it.

    ## When it is unsafe

    Whenever a letter other than `s` is used.

    ## References

    `str.format`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW424"
    name = "percent-format"
    consequence = Consequence.FALLBACK
    triggers = (b"%",)
    nodes = (ast.BinOp,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.BinOp)
        if not (isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)):
            return
        if not isinstance(node.left.value, str) or is_message(node, context):
            return
        traced = traced_name(node.right, context)
        if traced:
            message = "% on a string with a traced value is left to the Python interpreter"
            fix = _fix(node, node.left.value, context)
            yield context.finding(self, node, message, evidence=(traced,), fixes=(fix,))


def _fix(node: ast.BinOp, text: str, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    found = of_percent(text)
    right = node.right
    if found is None or isinstance(right, ast.Dict) or context.kind(right).tag is Tag.DICT:
        return rewrite.manual("Use str.format", "the form of this template has no like in str.format")
    template, letters = found
    if isinstance(right, ast.Tuple):
        values = ", ".join(context.text(e) for e in right.elts)
    elif len(letters) > 1 or context.kind(right).tag in (Tag.SHAPE, Tag.SEQUENCE):
        values = f"*{context.text(right)}"
    else:
        values = context.text(right)
    rewrite.replace(node, f"{literal(template)}.format({values})", context.parent(node))
    if set(letters) <= {"s", "r"}:
        return rewrite.safe("Use str.format")
    return rewrite.unsafe("Use str.format", "a number of another type than the letter asks for is an error")
