"""GW111: `x.expand(...)` as torch means it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule


class TorchExpand(Rule):
    """`Tensor.expand` with sizes works in PyNative only.

    ## What it finds

    `x.expand(a, b, c)` and `x.expand((a, b, c))` on a Tensor in a graph region.

    ## Why

    Graph Mode on CPU takes neither form (MindSpore 2.7 to 2.10):

        TypeError: The parameters number of the function is 2, but the number of provided arguments is 4.
        RuntimeError: The method 'GetShapeVector()' doesn't implement

    ## Example

        mask = mask.expand(batch, 1, length, length)

    becomes

        mask = mask.broadcast_to((batch, 1, length, length))

    ## What the rewrite assumes

    That the sizes are a tuple, a list or numbers, `-1` for "as it is": `broadcast_to` reads them the same way.

    ## When it is unsafe

    When it is not known whether the only argument is a tuple, a list or one number, or the value a Tensor.

    ## References

    `mindspore.Tensor.expand`, `mindspore.Tensor.broadcast_to`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW111"
    name = "torch-expand"
    consequence = Consequence.ERROR
    triggers = (b".expand(",)
    nodes = (ast.Call,)
    names = frozenset({"expand"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not (isinstance(node.func, ast.Attribute) and node.args) or node.keywords:
            return
        kind = context.kind(node.func.value)
        if not (kind.is_tensor or (kind.variable and not kind.on_host)) or context.resolve(node.func):
            return
        opening, closing, doubt = _around_sizes(node, context)
        if not kind.is_tensor:
            doubt = doubt or f"it is not known that {context.text(node.func.value)} is a Tensor"
        rewrite = context.rewrite()
        name_end, call_end = context.module.end(node.func), context.module.end(node)
        rewrite.replace_span(name_end - len("expand"), name_end, "broadcast_to")
        if opening:
            rewrite.insert(context.module.source.utf8.index(b"(", name_end) + 1, opening)
            rewrite.insert(call_end - 1, closing)
        title = "Use broadcast_to"
        fix = rewrite.unsafe(title, doubt) if doubt else rewrite.safe(title)
        message = "expand with sizes does not compile: its Graph Mode form takes neither numbers nor a tuple"
        yield context.finding(self, node, message, evidence=(kind.evidence,), fixes=(fix,))


def _around_sizes(node: ast.Call, context: FunctionContext) -> tuple[str, str, str]:
    """What to put around the arguments to make one tuple of them, and what is not known about them."""
    only = node.args[0]
    if len(node.args) > 1:
        return "(", ")", ""
    if isinstance(only, ast.Starred):
        return "(", ",)", ""
    kind = context.kind(only)
    if isinstance(only, ast.Tuple) or kind.tag is Tag.SHAPE:
        return "", "", ""
    if isinstance(only, (ast.List, ast.ListComp)) or kind.tag is Tag.SEQUENCE:
        return "tuple(", ")", ""
    text = context.text(only)
    if isinstance(only, ast.Constant):
        return "(", ",)", ""
    if kind.tag is Tag.CONSTANT:
        return "(", ",)", f"{text} is taken for one number"
    return "", "", f"{text} is taken for a tuple of sizes"
