"""GW901: augmented assignments that write into what others hold."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.ownership import ownership
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._writes import CONTAINERS, named, seen_by

# The operators that the compiler turns into a write, as they are written.
_IN_PLACE: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
}  # fmt: skip
_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)
_PRODUCTS = (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.MatMult, ast.Pow)


class AugmentedAssignment(Rule):
    """An augmented assignment overwrites a Tensor that others hold too.

    ## What it finds

    `x += y`, `-=`, `*=`, `/=`, `//=` and `%=` in a graph region where the Tensor `x` is an argument, an attribute, a
    global, or has a second name or a place in a container that is read afterwards. What a function of the project, an
    inactive dropout or `stop_gradient` handed through counts as the same Tensor. On a value of its own (`x = x * 2`
    before) the statement is harmless, and left alone; so is one in a helper whose callers do not look at the argument
    again.

    ## Why

    PyNative on the CPU computes a new Tensor and binds the name to it. Since MindSpore 2.8 the compiler writes into the
    Tensor itself: the caller's batch, the residual, the attribute change, without a word (2.7 agrees with PyNative).

    ## Example

        residual = x
        x += self.attention(x)
        return x + residual

    becomes

        residual = x
        x = x + self.attention(x)
        return x + residual

    ## What the rewrite assumes

    That the result is meant and not the write: the meaning of PyNative on the CPU.

    ## When it is unsafe

    Where the Tensor is an argument, an attribute or a global: somebody may count on the graph's write into it. A second
    name inside of the function is an alias that PyNative does not touch; there the rewrite is safe, but for Tensors
    whose dtype the operation would change, which is why it is never declared so.

    ## References

    Measured on MindSpore 2.7.0 and 2.10.0 CPU. `JIT_ENABLE_AUGASSIGN_INPLACE` in MindSpore's `compile_config`.
    """

    code = "GW901"
    name = "augmented-assignment"
    consequence = Consequence.DIVERGENCE
    triggers = (b"+=", b"-=", b"*=", b"/=", b"%=")
    targets = ">=2.8"
    nodes = (ast.AugAssign,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.AugAssign)
        symbol = _IN_PLACE.get(type(node.op))
        if symbol is None or isinstance(node.target, ast.Attribute):
            return
        target = node.target
        base = target.value if isinstance(target, ast.Subscript) else target
        if not isinstance(base, ast.Name):
            return
        if isinstance(target, ast.Subscript):
            if context.kind(base).tag not in CONTAINERS:
                return
        elif not context.kind(target).is_tensor:
            return
        own = ownership(context.inference, context.function)
        if isinstance(target, ast.Subscript) and not context.kind(target).is_tensor:
            return
        holders = seen_by(context, node, own.value(target), base.id, views=False)
        if not holders:
            return
        text = context.text(target)
        message = f"`{text} {symbol}= ...` writes into {named(holders)} in the graph; PyNative makes a new Tensor"
        yield context.finding(
            self, node, message, evidence=(context.kind(target).evidence,), fixes=(_fix(context, node, symbol),)
        )


def _fix(context: FunctionContext, node: ast.AugAssign, symbol: str) -> Fix:
    module = context.module
    start, end = module.end(node.target), module.start(node.value)
    between = module.source.utf8[start:end].decode()
    text = context.text(node.target)
    spelled = between.replace(f"{symbol}=", f"= {text} {symbol}", 1)
    rewrite = context.rewrite()
    # Parentheses of the value's own stand in `between`.
    bare = "(" not in between and not _binds_tighter(node.value, symbol)
    rewrite.replace_span(start, end, spelled + ("(" if bare else ""))
    if bare:
        rewrite.insert(module.end(node.value), ")")
    reason = (
        "the result is a new Tensor, as in PyNative on the CPU; who counted on the graph's write into the old one sees "
        "it no more"
    )
    return rewrite.unsafe(f"Use {text} = {text} {symbol} ...", reason)


def _binds_tighter(value: ast.expr, symbol: str) -> bool:
    """Whether the value needs no parentheses to the right of the operator."""
    if isinstance(value, _ATOMS):
        return True
    return symbol in ("+", "-") and isinstance(value, ast.BinOp) and isinstance(value.op, _PRODUCTS)
