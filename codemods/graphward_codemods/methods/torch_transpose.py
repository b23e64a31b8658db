"""GW110: `x.transpose(a, b)` as torch means it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule


class TorchTranspose(Rule):
    """`Tensor.transpose` with two axes swaps them in PyNative only.

    ## What it finds

    `x.transpose(a, b)` on a Tensor in a graph region: the torch spelling for "swap axes a and b". PyNative takes it
    so; Graph Mode takes the two numbers for a full permutation. `x.transpose(1, 0)` on what may be a matrix is left
    alone: there both readings agree.

    ## Why

    On a Tensor of three dimensions or more the compiler refuses, LAX or not (MindSpore 2.7 to 2.10):

        ValueError: 'For Tensor.transpose, the number of axes must be equal to the dimension of Tensor, but got 2 in
        the number of axes.'

    On a matrix, `x.transpose(0, 1)` and `x.transpose(-2, -1)` compile under STRICT and return `x` unchanged, with no
    error: a silent divergence.

    ## Example

        scores = query @ key.transpose(-1, -2)

    becomes

        scores = query @ key.swapaxes(-1, -2)

    ## What the rewrite assumes

    Nothing: `swapaxes` means in both modes what PyNative's two-axis `transpose` means.

    ## When it is unsafe

    Never for a Tensor. Where the kind of the value is not known, the fix is offered as unsafe.

    ## References

    `mindspore.Tensor.transpose`, `mindspore.Tensor.swapaxes`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW110"
    name = "torch-transpose"
    consequence = Consequence.ERROR
    triggers = (b".transpose(",)
    nodes = (ast.Call,)
    names = frozenset({"transpose"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not (isinstance(node.func, ast.Attribute) and _two_axes(node)):
            return
        kind = context.kind(node.func.value)
        axes = tuple(_integer(a) for a in node.args)
        if not (kind.is_tensor or (kind.variable and not kind.on_host)) or context.resolve(node.func):
            return
        if (axes == (1, 0) and kind.rank in (None, 2)) or (axes == (-1, -2) and kind.rank == 2):
            return
        rewrite = context.rewrite()
        end = context.module.end(node.func)
        rewrite.replace_span(end - len("transpose"), end, "swapaxes")
        title = "Use swapaxes"
        if kind.is_tensor:
            fix = rewrite.safe(title)
        else:
            fix = rewrite.unsafe(title, f"it is not known that {context.text(node.func.value)} is a Tensor")
        silent = kind.rank == 2
        message = (
            "transpose with two axes is a full permutation in Graph Mode: "
            + ("a matrix comes back unchanged" if silent
               else "it fails on three dimensions or more, and returns a matrix unchanged")
        )
        consequence = Consequence.DIVERGENCE if silent else None
        yield context.finding(self, node, message, evidence=(kind.evidence,), fixes=(fix,), consequence=consequence)


def _two_axes(node: ast.Call) -> bool:
    return len(node.args) == 2 and not node.keywords and not any(
        isinstance(a, (ast.Starred, ast.Tuple, ast.List)) for a in node.args
    )


def _integer(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int) else None
