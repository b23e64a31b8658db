"""The two rewrites of an expression that cuts the gradient: one that brings it back, and one that keeps it cut."""

from __future__ import annotations

import ast
from collections.abc import Callable

from graphward.analysis.gradients import differentiated
from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite
from graphward.source.fixes import Fix

_WITHOUT_GRADIENT = ("int", "uint", "bool")


def alternatives(
    context: FunctionContext,
    node: ast.expr,
    write: Callable[[Rewrite], str],
    title: str,
    reason: str,
    dtype: str | None = None,
) -> tuple[Fix, ...]:
    """Fixes that put what `write` writes in the place of `node`, with a gradient and with `ops.stop_gradient` around
    it, this one first where the graph itself takes the gradient; one only if `dtype`, that of the Tensor, is known to
    have none. `reason` is what else may change."""
    rewrite = context.rewrite()
    rewrite.replace(node, write(rewrite), context.parent(node))
    if dtype is not None and dtype.startswith(_WITHOUT_GRADIENT):
        return (rewrite.unsafe(title, reason),)
    why = f"the original cuts the gradient, the rewrite has one; {reason}"
    restored = rewrite.unsafe(f"{title}, with its gradient", why, restores_gradient=True)
    rewrite = context.rewrite()
    stop = rewrite.spell("mindspore.ops.stop_gradient")
    rewrite.replace(node, f"{stop}({write(rewrite)})", context.parent(node))
    kept = rewrite.unsafe(f"{title}, the gradient cut as before", reason)
    return (kept, restored) if differentiated(context.inference, context.function) else (restored, kept)
