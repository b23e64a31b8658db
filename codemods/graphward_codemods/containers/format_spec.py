"""GW407: f-strings with a format or a conversion."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from .._python import is_message
from ._templates import literal, of_f_string


class FormatSpec(Rule):
    """The format of an f-string is ignored in a graph.

    ## What it finds

    `f"{value:03d}"` and `f"{value!r}"` in a graph region, unless they only make text for people: in `raise`, `assert`,
    `print`, logs and warnings, or are never read. f-strings without a format compile, and are left alone.

    ## Why

    The compiler leaves the format and the conversion out, silently (MindSpore 2.7 to 2.10): `f"{2:03d}"` is `2`.
    `str.format` is computed by Python while the graph is compiled.

    ## Example

        key = f"{x.shape[0]:03d}"

    becomes

        key = "{:03d}".format(x.shape[0])

    ## What the rewrite assumes

    Nothing: it is the same text in PyNative.

    ## When it is unsafe

    Never. The text of a Tensor, or of a number read off one, is reported and left: a graph has no operator that formats
    it, in an f-string or in `str.format`.

    ## References

    `str.format`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW407"
    name = "format-spec"
    consequence = Consequence.DIVERGENCE
    triggers = (b'f"', b"f'", b'F"', b"F'", b'fr"', b"fr'", b'rf"', b"rf'")
    nodes = (ast.JoinedStr,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.JoinedStr)
        formatted = [v for v in node.values if isinstance(v, ast.FormattedValue)]
        if not any(v.format_spec is not None or v.conversion in (97, 114) for v in formatted):
            return
        parent = context.parent(node)
        if isinstance(parent, ast.FormattedValue) or is_message(node, context) or _unread(parent, context):
            return
        message = "the format in an f-string is ignored in a graph"
        kinds = [context.kind(v.value) for v in formatted]
        traced = next((k for k in kinds if k.variable), None)
        if traced is not None:
            advice = "no operator formats a Tensor: return the Tensor, and make the text of it outside the graph"
            fix = context.rewrite().manual("Make the text outside", advice)
            yield context.finding(self, node, message, evidence=(traced.evidence,), fixes=(fix,))
            return
        template, values = of_f_string(node, context)
        rewrite = context.rewrite()
        rewrite.replace(node, f"{literal(template)}.format({', '.join(values)})", parent)
        fix = rewrite.safe("Use str.format")
        yield context.finding(self, node, message, fixes=(fix,))


def _unread(parent: ast.AST | None, context: FunctionContext) -> bool:
    """Whether a text goes nowhere: the compiler leaves out what nothing reads."""
    if isinstance(parent, ast.Expr):
        return True
    if not isinstance(parent, ast.Assign) or not all(isinstance(t, ast.Name) for t in parent.targets):
        return False
    names = {t.id for t in parent.targets if isinstance(t, ast.Name)}
    return not any(
        isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Load)
        for n in ast.walk(context.function.node)
    )
