"""GW105: Tensors made from traced values."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Kind, Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix
from graphward.source.precedence import guarded

from .._python import display
from ._cut import alternatives

_MAKERS = frozenset({"mindspore.Tensor", "mindspore.tensor", "mindspore.numpy.array", "mindspore.numpy.asarray"})
_CASTS = {"int": "int64", "float": "float32", "bool": "bool_"}


class TensorOfTraced(Rule):
    """A Tensor made from a list of Tensors, or from a number read off one, is made by the Python interpreter.

    ## What it finds

    `Tensor([a, b])`, `ms.tensor([t.sum() for t in parts])`, `Tensor(x.sum().item())` and `mnp.array([a, b])` in a graph
    region. `Tensor(x.shape)` and Tensors of constants compile; `Tensor(x)` of a Tensor is GW102.

    ## Why

    MindSpore 2.7 to 2.10, with `fullgraph=True`:

        ValueError: When handling script 'Tensor(input_data, dtype, ...) in graph mode', the inputs should be constant

    At the default syntax level it is made at run time, without a gradient. `mnp.array` of Tensors gives other values,
    silently.

    ## Example

        return Tensor([a.sum(), b.sum()])

    becomes

        return ops.stack((a.sum(), b.sum()))

    ## What the rewrite assumes

    That the Tensors have one shape; that Python's numbers among them are float32.

    ## When it is unsafe

    Always: the Tensors keep their dtype. The first alternative has a gradient, which the original cuts; the second
    keeps it cut, with `ops.stop_gradient`.

    ## References

    `mindspore.ops.stack`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW105"
    name = "tensor-of-traced"
    consequence = Consequence.FALLBACK
    triggers = (b"ensor(", b"array(")
    nodes = (ast.Call,)
    names = frozenset(name.rpartition(".")[2] for name in _MAKERS)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, (ast.Name, ast.Attribute)) or not node.args:
            return
        name = context.resolve(node.func)
        if name not in _MAKERS:
            return
        kind = context.kind(node.args[0])
        if not kind.variable or kind.tag not in (Tag.SEQUENCE, Tag.SCALAR):
            return
        elements = _flat(kind)
        if any(e.tag is Tag.NDARRAY for e in elements):
            return
        by_numpy = name.startswith("mindspore.numpy.") and kind.tag is Tag.SEQUENCE
        consequence = Consequence.DIVERGENCE if by_numpy else Consequence.FALLBACK
        message = "a Tensor made from traced values: the Python interpreter makes it, and the gradient is cut"
        yield context.finding(self, node, message, evidence=(kind.evidence,), fixes=_fixes(node, kind, context),
                              consequence=consequence)  # fmt: skip


def _flat(kind: Kind) -> list[Kind]:
    found = []
    for element in kind.elements or ():
        found += _flat(element) if element.tag is Tag.SEQUENCE else [element]
    return found


def _fixes(node: ast.Call, kind: Kind, context: FunctionContext) -> tuple[Fix, ...]:
    keywords = {k.arg: k.value for k in node.keywords}
    dtype = keywords.pop("dtype", None) or (node.args[1] if len(node.args) > 1 else None)
    if keywords or len(node.args) > 2:
        return (context.rewrite().manual("Stack the Tensors", "the arguments of this call are not known"),)
    cast = f".astype({context.text(dtype)})" if dtype is not None else ""
    value = node.args[0]

    def write(rewrite: Rewrite) -> str:
        made = _stacked if kind.tag is Tag.SEQUENCE else _number
        return made(value, context, rewrite)

    if not write(context.rewrite()):
        manual = "keep the value a Tensor: read no number off it"
        return (context.rewrite().manual("Compute it with Tensors", manual),)
    title = "Stack the Tensors" if kind.tag is Tag.SEQUENCE else "Use the Tensor itself"
    reason = "the Tensors keep their dtype"
    return alternatives(context, node, lambda rewrite: write(rewrite) + cast, title, reason)


def _stacked(node: ast.expr, context: FunctionContext, rewrite: Rewrite) -> str:
    stack = rewrite.spell("mindspore.ops.stack")
    if isinstance(node, (ast.List, ast.Tuple)):
        parts = [_element(e, context, rewrite) for e in node.elts]
        if any(isinstance(e, ast.Starred) for e in node.elts) or not all(parts):
            return ""
        return f"{stack}(({display(parts)}))"
    return f"{stack}({context.text(node)})"


def _element(node: ast.expr, context: FunctionContext, rewrite: Rewrite) -> str:
    kind = context.kind(node)
    if isinstance(node, (ast.List, ast.Tuple)):
        return _stacked(node, context, rewrite)
    if kind.is_tensor:
        return context.text(node)
    if kind.variable:
        return _number(node, context, rewrite)
    return f"{rewrite.spell('mindspore.Tensor')}({context.text(node)}, {rewrite.spell('mindspore.float32')})"


def _number(node: ast.expr, context: FunctionContext, rewrite: Rewrite) -> str:
    """The Tensor that a Python number is read off; "" where it is not seen."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        return context.text(node.func.value)
    if isinstance(node.func, ast.Name) and node.func.id in _CASTS and len(node.args) == 1:
        value = node.args[0]
        if context.kind(value).is_tensor:
            text = guarded(context.text(value), value, ast.Attribute(value, "x", ast.Load()))
            return f"{text}.astype({rewrite.spell('mindspore.' + _CASTS[node.func.id])})"
    return ""
