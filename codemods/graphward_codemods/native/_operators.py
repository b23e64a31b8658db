"""The operators that terms are made of, under every name that MindSpore gives them."""

from __future__ import annotations

from typing import NamedTuple

UNARY = {
    "exp": "exp", "log": "log", "tanh": "tanh", "erf": "erf", "sigmoid": "sigmoid", "abs": "abs", "absolute": "abs",
    "relu": "relu", "neg": "neg", "negative": "neg", "sqrt": "sqrt", "rsqrt": "rsqrt", "square": "square",
    "reciprocal": "reciprocal", "inv": "reciprocal", "zeros_like": "zeros_like", "stop_gradient": "stop_gradient",
    "zeroslike": "zeros_like",
}  # fmt: skip
BINARY = {
    "add": "add", "tensoradd": "add", "sub": "sub", "subtract": "sub", "mul": "mul", "multiply": "mul", "div": "div",
    "divide": "div", "true_divide": "div", "realdiv": "div", "pow": "pow", "maximum": "maximum", "minimum": "minimum",
    "greater": "gt", "gt": "gt", "less": "lt", "lt": "lt", "greater_equal": "ge", "greaterequal": "ge", "ge": "ge",
    "less_equal": "le", "lessequal": "le", "le": "le", "matmul": "matmul", "bmm": "matmul", "mm": "matmul",
    "batchmatmul": "matmul", "bias_add": "add_last", "biasadd": "add_last",
}  # fmt: skip


class Reduction(NamedTuple):
    """`axis` and `keep` are the positions of the two arguments after the tensor, -1 where they are keywords only."""

    op: str
    axis: int = 0
    keep: int = 1


# By form: functions of ops and mint, and methods, whose arguments stand in another order.
FUNCTION_REDUCTIONS = {
    "sum": Reduction("sum"), "mean": Reduction("mean"), "amax": Reduction("max"), "logsumexp": Reduction("logsumexp"),
    "reduce_sum": Reduction("sum", 0, -1), "reduce_mean": Reduction("mean", 0, -1),
    "reduce_max": Reduction("max", 0, -1),
}  # fmt: skip
METHOD_REDUCTIONS = {
    "sum": Reduction("sum", 0, 2), "mean": Reduction("mean"), "amax": Reduction("max"), "max": Reduction("max"),
    "logsumexp": Reduction("logsumexp"),
}  # fmt: skip
# What gives `(values, indices)`; the Primitive gives them the other way round.
PAIRS = {"max": Reduction("max")}
PRIMITIVE_REDUCTIONS = {"ReduceSum": "sum", "ReduceMean": "mean", "ReduceMax": "max"}
AXIS_NAMES = frozenset({"axis", "dim"})
KEEP_NAMES = frozenset({"keepdims", "keepdim", "keep_dims"})
# Functions and layers along one axis: the position of the axis after the tensor, or among the layer's arguments.
ALONG = {"softmax": "softmax", "log_softmax": "log_softmax", "logsoftmax": "log_softmax"}
# Layers of nn that are one operator.
LAYERS = {
    "Sigmoid": "sigmoid", "Tanh": "tanh", "ReLU": "relu", "Softmax": "softmax", "LogSoftmax": "log_softmax",
}  # fmt: skip
METHODS = frozenset(
    {*UNARY, *BINARY, *METHOD_REDUCTIONS, *ALONG, "max", "where", "masked_fill", "astype", "to", "type_as", "float",
     "half", "bfloat16", "swapaxes", "swapdims", "transpose", "permute", "t", "expand_dims", "unsqueeze", "squeeze",
     "gather_elements"}
)  # fmt: skip
ROOTS = ("mindspore.ops.", "mindspore.mint.nn.functional.", "mindspore.mint.special.", "mindspore.mint.")
