"""GW805: `nn.Dropout` told what to keep."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._arguments import argument, plain
from ._suspects import holds_any


class DropoutKeepProb(Rule):
    """`nn.Dropout` is given the share to keep, where everything else asks for the share to drop.

    ## What it finds

    `nn.Dropout(keep_prob=0.9)`, and `nn.Dropout(0.9)`: a bare number is the share that is *kept*, also on 2.10. What
    follows PyTorch, `mint.nn.Dropout` and `ops.dropout` among it, means the share that is dropped.

    ## Why

    The parameter goes away, and with it the meaning of the bare number:

        [WARNING] For Dropout, this parameter `keep_prob` will be deprecated, please use `p` instead.

    A layer that was meant to drop one in ten and keeps one in ten trains without any error.

    ## Example

        self.drop = nn.Dropout(keep_prob=0.9)

    becomes

        self.drop = nn.Dropout(p=0.1)

    ## What the rewrite assumes

    That the code means what MindSpore does with it.

    ## When it is unsafe

    Always: whoever wrote a bare number may have meant the share to drop; then the code was wrong before, and the other
    alternative, which takes the number for what is dropped, is the right one. It comes first where the name of the
    argument says so (`nn.Dropout(config.hidden_dropout)`).

    ## References

    API of `mindspore.nn.Dropout`. Measured on MindSpore 2.7 and 2.10 CPU.
    """

    code = "GW805"
    name = "dropout-keep-prob"
    consequence = Consequence.DEPRECATED
    triggers = (b"Dropout",)

    @classmethod
    def concerns(cls, data: bytes) -> bool:
        return _SUSPECT.search(data) is not None and holds_any(data, _LAYERS)

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        for use in context.uses:
            if use.call is None or use.name not in _LAYERS or not plain(use.call):
                continue
            keep = argument(use.call, 0, "keep_prob")
            if keep is None or any(k.arg == "p" for k in use.call.keywords):
                continue
            bare = bool(use.call.args)
            how = "a bare number is the share that is kept" if bare else "keep_prob is going away"
            message = f"{use.name}: {how}; say p, the share that is dropped"
            yield context.finding(self, use.call, message, fixes=_fixes(context, use.call, keep, bare))


# A layer that is not told p first, by whatever name it was imported.
_SUSPECT = re.compile(rb"\bDropout(?:[ \t]*\(\s*(?!p\s*=|\s|\))|\s+as\s)|\bkeep_prob\s*=")
_LAYERS = frozenset({"mindspore.nn.Dropout"})


def _fixes(context: ModuleContext, call: ast.Call, keep: ast.expr, bare: bool) -> tuple[Fix, ...]:
    reason = "written for a bare number that is dropped, as PyTorch has it, the code was wrong before" if bare else (
        "1 - keep_prob is rounded in another place"
    )
    rewrite = context.rewrite()
    _replace(context, rewrite, call, keep, _complement(context, keep))
    faithful = rewrite.unsafe("Say what is dropped", reason)
    if not bare:
        return (faithful,)
    other = context.rewrite()
    _replace(context, other, call, keep, context.text(keep))
    meant = other.unsafe("Take the number for what is dropped", "the layer then drops what it kept before")
    return (meant, faithful) if _names_what_is_dropped(keep) else (faithful, meant)


def _names_what_is_dropped(keep: ast.expr) -> bool:
    """`config.hidden_dropout`, `drop_rate`: the name says that the author took the number for what is dropped."""
    name = keep.attr if isinstance(keep, ast.Attribute) else keep.id if isinstance(keep, ast.Name) else ""
    return "drop" in name.lower() and "keep" not in name.lower()


def _replace(context: ModuleContext, rewrite: Rewrite, call: ast.Call, keep: ast.expr, value: str) -> None:
    keyword = next((k for k in call.keywords if k.value is keep), None)
    start = context.module.start(keyword or keep)
    rewrite.replace_span(start, context.module.end(keep), f"p={value}")


def _complement(context: ModuleContext, keep: ast.expr) -> str:
    if isinstance(keep, ast.Constant) and isinstance(keep.value, (int, float)):
        return repr(round(1 - keep.value, 12) + 0.0)
    text = context.text(keep)
    if isinstance(keep, ast.BinOp) and isinstance(keep.op, ast.Sub) and isinstance(keep.left, ast.Constant):
        # 1 - (1 - rate) is rate.
        if keep.left.value in (1, 1.0) and isinstance(keep.right, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
            return context.text(keep.right)
    simple = isinstance(keep, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant))
    return f"1 - {text}" if simple else f"1 - ({text})"
