"""What functions of `math` and SciPy are on Tensors: a template of MindSpore operators for each."""

from __future__ import annotations

# `{0}` and `{1}` are the arguments; `ops.` and `mint.` are spelled as the file imports them. `math` rounds to integers,
# which stay Tensors here. Signatures: https://docs.python.org/3/library/math.html.
MATH: dict[str, tuple[str, ...]] = {
    name: (f"ops.{operator}({{0}})",)
    for name, operator in {
        "exp": "exp", "expm1": "expm1", "log10": "log10", "log1p": "log1p", "log2": "log2", "sqrt": "sqrt",
        "fabs": "abs", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "sin": "sin", "cos": "cos", "tan": "tan",
        "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
        "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "erf": "erf", "erfc": "erfc", "lgamma": "lgamma",
        "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite", "degrees": "rad2deg", "radians": "deg2rad",
    }.items()
} | {
    "log": ("ops.log({0})", "(ops.log({0}) / math.log({1}))"),
    "pow": ("", "ops.pow({0}, {1})"), "atan2": ("", "ops.atan2({0}, {1})"), "fmod": ("", "ops.fmod({0}, {1})"),
    "hypot": ("", "ops.hypot({0}, {1})"), "copysign": ("", "ops.copysign({0}, {1})"),
}  # fmt: skip
SCIPY: dict[str, tuple[str, ...]] = {
    f"special.{name}": (f"ops.{operator}({{0}})",)
    for name, operator in {
        "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "expit": "sigmoid", "gammaln": "lgamma", "psi": "digamma",
        "digamma": "digamma", "log1p": "log1p", "expm1": "expm1", "i0": "bessel_i0", "i1": "bessel_i1",
        "exp2": "exp2", "log_expit": "logsigmoid",
    }.items()
} | {
    "special.softmax": ("", "ops.softmax({0}, axis={1})"),
    "special.log_softmax": ("", "ops.log_softmax({0}, axis={1})"),
    "special.logsumexp": ("", "ops.logsumexp({0}, {1})"), "special.xlogy": ("", "ops.xlogy({0}, {1})"),
}  # fmt: skip
# Keywords that stand where the template wants the second argument.
SECOND = frozenset({"axis"})
FUNCTIONS = {f"math.{k}": v for k, v in MATH.items()} | {f"scipy.{k}": v for k, v in SCIPY.items()}
