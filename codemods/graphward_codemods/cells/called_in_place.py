"""GW218: Primitives and layers that are made and called in place in a function."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from .._blocks import put_call

# Primitives without arguments of their own whose call and function take the same arguments in the same order.
_SAME = {
    "Abs": "abs", "ACos": "acos", "Add": "add", "Asin": "asin", "Atan": "atan", "BatchMatMul": "bmm",
    "Cast": "cast", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Div": "div", "Equal": "equal",
    "Erf": "erf", "Erfc": "erfc", "Exp": "exp", "ExpandDims": "expand_dims", "Expm1": "expm1", "Floor": "floor",
    "Gather": "gather", "GatherD": "gather_d", "GatherNd": "gather_nd", "Greater": "greater",
    "GreaterEqual": "greater_equal", "Less": "less", "LessEqual": "less_equal", "Log": "log", "Log1p": "log1p",
    "LogicalAnd": "logical_and", "LogicalNot": "logical_not", "LogicalOr": "logical_or", "MatMul": "matmul",
    "Maximum": "maximum", "Minimum": "minimum", "Mul": "mul", "Neg": "neg", "NotEqual": "not_equal",
    "OnesLike": "ones_like", "Pow": "pow", "ReLU": "relu", "ReLU6": "relu6", "Reciprocal": "reciprocal",
    "Reshape": "reshape", "Round": "round", "Rsqrt": "rsqrt", "Select": "select", "Sigmoid": "sigmoid", "Sign": "sign",
    "Sin": "sin", "Sinh": "sinh", "Sqrt": "sqrt", "Square": "square", "Sub": "sub", "Tan": "tan", "Tanh": "tanh",
    "Tile": "tile", "Transpose": "transpose", "ZerosLike": "zeros_like",
}  # fmt: skip


class _Along(NamedTuple):
    """A function that takes the one argument of a Primitive or layer after the Tensor. `keyword` is what it is called
    when it is made, `default` its value where it is left out."""

    function: str
    keyword: str
    default: str


_ALONG = {
    "Softmax": _Along("softmax", "axis", "-1"),
    "LogSoftmax": _Along("log_softmax", "axis", "-1"),
    "Concat": _Along("concat", "axis", "0"),
    "Stack": _Along("stack", "axis", "0"),
}
_LAYERS = {"ReLU": "relu", "Sigmoid": "sigmoid", "Tanh": "tanh", "ReLU6": "relu6"}
_LAYERS_ALONG = {"Softmax": _ALONG["Softmax"], "LogSoftmax": _ALONG["LogSoftmax"]}


class CalledInPlace(Rule):
    """A Primitive or a layer without weights is made and called in one expression in a function.

    ## What it finds

    `ops.Softmax(axis=-1)(x)`, `P.Concat(axis=1)((a, b))`, `ops.Exp()(x)` and `nn.ReLU()(x)` in functions that a graph
    region compiles and that no Cell owns. In a Cell GW203 and GW201 move them to `__init__`. With
    `op-style = "primitive"` Primitives are left alone: that is the style that was asked for.

    ## Why

    A graph makes the Primitive once, while it is compiled, and loses nothing. PyNative makes it at each call: 106
    microseconds for `ops.Exp()(x)` on a small Tensor against 50 for `ops.exp(x)` (MindSpore 2.10, CPU).

    ## Example

        return ops.Concat(axis=1)((a, b))

    becomes

        return ops.concat((a, b), 1)

    ## What the rewrite assumes

    Nothing: the functions were compared with the Primitives.

    ## When it is unsafe

    Never. A Primitive with other arguments, or without a function that takes the same, is left alone.

    ## References

    `mindspore.ops`. Measured on MindSpore 2.10 CPU.
    """

    code = "GW218"
    name = "called-in-place"
    consequence = Consequence.INFO
    triggers = (b"ops", b"nn.", b"mindspore")
    nodes = (ast.Call,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        made = node.func
        if made.__class__ is not ast.Call or node.keywords or context.cell is not None:
            return
        assert isinstance(made, ast.Call)
        name = context.resolve(made.func) or ""
        package, _, last = name.rpartition(".")
        if package not in ("mindspore.ops", "mindspore.nn"):
            return
        if package == "mindspore.ops" and context.options.op_style == "primitive":
            return
        if any(isinstance(a, ast.Starred) for a in (*made.args, *node.args)) or not node.args:
            return
        found = _function(context, package, last, made, node)
        if found is None:
            return
        function, more = found
        rewrite = context.rewrite()
        arguments = ", ".join([*(context.text(a) for a in node.args), *more])
        put_call(context, rewrite, node, f"{rewrite.spell(f'mindspore.ops.{function}')}({arguments})")
        fix = rewrite.safe(f"Use ops.{function}")
        message = f"{last} is made for this one call: PyNative makes it anew each time"
        yield context.finding(self, node, message, fixes=(fix,))


def _function(
    context: FunctionContext, package: str, last: str, made: ast.Call, node: ast.Call
) -> tuple[str, list[str]] | None:
    """The function that does the same, and the arguments that it takes besides those of the call."""
    bare = not made.args and not made.keywords
    layer = package == "mindspore.nn"
    plain = (_LAYERS if layer else _SAME).get(last)
    if plain and bare:
        return plain, []
    along = (_LAYERS_ALONG if layer else _ALONG).get(last)
    if along is None or len(node.args) != 1 or len(made.args) + len(made.keywords) > 1:
        return None
    if made.keywords and made.keywords[0].arg != along.keyword:
        return None
    value = made.args[0] if made.args else made.keywords[0].value if made.keywords else None
    return along.function, [context.text(value) if value is not None else along.default]
