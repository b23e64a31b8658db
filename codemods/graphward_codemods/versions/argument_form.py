"""GW806: functions that want their arguments in another form, or another order."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable

from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext, Use
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._arguments import argument, plain
from ._suspects import holds_any

Found = tuple[str, tuple[Fix, ...]]


class ArgumentForm(Rule):
    """A function takes the same arguments in another form since MindSpore 2.0.

    ## What it finds

    `ops.split(x, axis, output_num)`, `ops.pad(x, ((0, 0), (1, 1)))`, `ops.meshgrid((a, b))`, and `index, value =
    ops.max(x, axis)`, whose two results have changed places; only calls that cannot be meant in the new form.

    ## Why

        TypeError: split() got an unexpected keyword argument 'output_num'
        ValueError: For 'pad', the size of padding must be divisible by 2, but got 3
        TypeError: Failed calling Meshgrid with "Meshgrid(indexing=string)(inputs=Tuple<Tuple<Tensor, Tensor>>)"

    `ops.max` raises nothing: what was the index is the value now.

    ## Example

        parts = ops.split(x, axis=1, output_num=3)
        y = ops.pad(x, ((0, 0), (1, 2)))
        index, value = ops.max(x, 1)

    becomes

        parts = ops.Split(axis=1, output_num=3)(x)
        y = ops.pad(x, (1, 2, 0, 0))
        value, index = ops.max(x, 1)

    ## What the rewrite assumes

    Nothing for the first three: the old call raises today. For `ops.max` and `ops.min`, that the names tell the truth.

    ## When it is unsafe

    For `ops.max` and `ops.min`.

    ## References

    Release notes of MindSpore 2.0, "Backwards Incompatible Change". Measured on MindSpore 2.7 and 2.10 CPU.
    """

    code = "GW806"
    name = "argument-form"
    consequence = Consequence.ERROR
    triggers = (b"split", b"pad", b"meshgrid", b"max", b"min")

    @classmethod
    def concerns(cls, data: bytes) -> bool:
        return holds_any(data, frozenset(_FORMS)) and any(p.search(data) is not None for p in _SUSPECT)

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        for use in context.uses:
            look = _FORMS.get(use.name)
            if look is None or use.call is None or not plain(use.call):
                continue
            found = look(context, use, use.call)
            if found is not None:
                message, fixes = found
                swapped = look is _extreme
                yield context.finding(self, use.call, message, fixes=fixes,
                                      consequence=Consequence.DIVERGENCE if swapped else None)  # fmt: skip


def _split(context: ModuleContext, use: Use, call: ast.Call) -> Found | None:
    """`output_num` has gone; as a positional argument it cannot be told from `axis`, unless the axis before it is 0,
    which is no size."""
    named = {k.arg: k.value for k in call.keywords}
    second = call.args[1] if len(call.args) > 1 else None
    by_zero = isinstance(second, ast.Constant) and second.value == 0 and second.value is not False
    if "output_num" not in named and not by_zero:
        return None
    tensor = argument(call, 0, "input_x", "tensor")
    axis, count = argument(call, 1, "axis"), argument(call, 2, "output_num")
    message = "ops.split takes sizes, and no output_num any more"
    if tensor is None or "split_size_or_sections" in named:
        return message, ()
    given = [f"{name}={context.text(value)}" for name, value in (("axis", axis), ("output_num", count)) if value]
    rewrite = context.rewrite(use.names)
    operator = f"{rewrite.spell('mindspore.ops.Split')}({', '.join(given)})"
    rewrite.replace_span(context.module.start(call), context.module.end(call), f"{operator}({context.text(tensor)})")
    return message, (rewrite.safe("Use the operator that splits into equal parts"),)


def _pad(context: ModuleContext, use: Use, call: ast.Call) -> Found | None:
    """Pairs for each dimension, the first one first."""
    old = next((k for k in call.keywords if k.arg == "paddings"), None)
    pads = argument(call, 1, "paddings", "padding")
    if pads is None:
        return None
    pairs = pads.elts if isinstance(pads, (ast.Tuple, ast.List)) else []
    nested = bool(pairs) and all(isinstance(p, (ast.Tuple, ast.List)) and len(p.elts) == 2 for p in pairs)
    if old is None and not nested:
        return None
    message = "ops.pad takes one flat list of numbers, those of the last dimension first"
    if not nested:
        return message, ()
    flat = [context.text(n) for pair in reversed(pairs) for n in pair.elts]  # type: ignore[attr-defined]
    rewrite = context.rewrite(use.names)
    rewrite.replace_span(context.module.start(pads), context.module.end(pads), f"({', '.join(flat)})")
    if old is not None and old.arg is not None:
        start = context.module.start(old)
        rewrite.replace_span(start, start + len(old.arg), "padding")
    return message, (rewrite.safe("Write the numbers flat"),)


def _meshgrid(context: ModuleContext, use: Use, call: ast.Call) -> Found | None:
    given = call.args[0] if len(call.args) == 1 else None
    if not isinstance(given, (ast.Tuple, ast.List)):
        return None
    message = "ops.meshgrid takes its Tensors one by one"
    if not given.elts:
        return message, ()
    inner = ", ".join(context.text(e) for e in given.elts)
    rewrite = context.rewrite(use.names)
    rewrite.replace_span(context.module.start(given), context.module.end(given), inner)
    return message, (rewrite.safe("Hand the Tensors in one by one"),)


# A call of the old form, or another name for the function.
_SUSPECT = (
    re.compile(rb"\boutput_num\b|\bsplit\([^\n]*,\s*0\s*,|\b(?:split|pad|meshgrid|max|min)\s+as\s"),
    re.compile(rb"\bpaddings\b|\bpad\([^\n]*[(\[]\s*[(\[]|\bpad\(\s*\n"),
    re.compile(rb"\bmeshgrid\(\s*[(\[]"),
    re.compile(rb"\b\w*(?:ind|idx|pos|arg)\w*\s*,\s*\w+\s*=\s*[\w.]*(?:max|min)\("),
)
_INDEX = ("index", "idx", "indices", "ind", "pos", "arg")


def _extreme(context: ModuleContext, use: Use, call: ast.Call) -> Found | None:
    """`index, value = ops.max(x, axis)`: told by the names alone."""
    if argument(call, 1, "axis") is None:
        return None
    statement = context.parent(call)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
        return None
    first, second = target.elts
    if not isinstance(first, ast.Name) or not isinstance(second, ast.Name):
        return None
    if not _is_index(first.id) or _is_index(second.id) or second.id == "_":
        return None
    function = use.name.rpartition(".")[2]
    rewrite = context.rewrite(use.names)
    rewrite.replace_span(context.module.start(first), context.module.end(first), second.id)
    rewrite.replace_span(context.module.start(second), context.module.end(second), first.id)
    reason = "that the two are meant the other way round is read off their names"
    message = f"ops.{function} gives (value, index) since MindSpore 2.0, and {first.id} comes first here"
    return message, (rewrite.unsafe("Take the value first", reason),)


def _is_index(name: str) -> bool:
    return any(part in _INDEX for part in name.lower().split("_"))


_FORMS: dict[str, Callable[[ModuleContext, Use, ast.Call], Found | None]] = {
    "mindspore.ops.split": _split, "mindspore.ops.pad": _pad, "mindspore.ops.meshgrid": _meshgrid,
    "mindspore.ops.max": _extreme, "mindspore.ops.min": _extreme,
}  # fmt: skip
