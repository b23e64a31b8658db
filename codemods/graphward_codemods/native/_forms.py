"""The operators by what they compute: each function takes a term and gives the operands, or None."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ._terms import (
    ONE,
    ZERO,
    Term,
    add,
    apply,
    div,
    factors,
    mul,
    neg,
    num,
    number,
    power,
    split,
    sub,
    summands,
    without,
)  # fmt: skip


class Found(NamedTuple):
    """An operator recognised in a term. `form` names the row of the table that speaks of this spelling; `operands` are
    the terms of the values that it takes, `axis` as in `Reader`; `constant` those that must not be Tensors, `whole` the
    positions of Tensors of integers, `ranks` what is asked of the ranks, 0 for nothing (Parameters are believed)."""

    operator: str
    form: str
    operands: tuple[Term, ...]
    axis: object = None
    constant: tuple[Term, ...] = ()
    whole: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()


def relu(term: Term) -> Found | None:
    if term.op == "maximum" and ZERO in term.args:
        x = term.args[0] if term.args[1] == ZERO else term.args[1]
        return Found("relu", "maximum(x, 0)", (x,))
    if term.op == "where":
        for x, other in _kept_where_positive(term):
            if other == ZERO:
                return Found("relu", "where(x > 0, x, 0)", (x,))
    for mask in factors(term):
        if _is_positive_mask(mask) and div(term, mask) == mask.args[0]:
            return Found("relu", "x * (x > 0)", (mask.args[0],))
    for part in summands(term):
        for inner in factors(part):
            if inner.op == "abs":
                x = inner.args[0]
                if term == add(mul(num(0.5), x), mul(num(0.5), inner)):
                    return Found("relu", "(x + abs(x)) / 2", (x,))
    return None


def leaky_relu(term: Term) -> Found | None:
    if term.op == "where":
        for x, other in _kept_where_positive(term):
            slope = div(other, x)
            if other != ZERO and (slope.op == "leaf" or number(slope) is not None):
                return Found("leaky_relu", "where(x > 0, x, a * x)", (x, slope), constant=(slope,))
    if term.op == "maximum":
        for x, other in (term.args, term.args[::-1]):
            slope = div(other, x)
            value = number(slope)
            if value is not None and 0 < value < 1:
                return Found("leaky_relu", "maximum(x, a * x)", (x, slope), constant=(slope,))
    return None


def sigmoid(term: Term) -> Found | None:
    x = _logistic(term)
    if x is not None:
        return Found("sigmoid", "1 / (1 + exp(-x))", (x,))
    for inner in factors(term):
        if inner.op == "exp" and without(term, inner) == power(add(ONE, inner), -1):
            return Found("sigmoid", "exp(x) / (1 + exp(x))", (inner.args[0],))
    for part in summands(term):
        for inner in factors(part):
            if inner.op == "tanh" and term == add(num(0.5), mul(num(0.5), inner)):
                return Found("sigmoid", "0.5 * (1 + tanh(x / 2))", (mul(num(2), inner.args[0]),))
    return None


def silu(term: Term) -> Found | None:
    for inner in factors(term):
        x = _logistic(inner)
        if x is not None and div(term, inner) == x:
            return Found("silu", "x / (1 + exp(-x))", (x,))
        if inner.op == "sigmoid" and div(term, inner) == inner.args[0]:
            return Found("silu", "x * sigmoid(x)", (inner.args[0],))
        if inner.op == "exp" and without(term, inner) == mul(inner.args[0], power(add(ONE, inner), -1)):
            return Found("silu", "x / (1 + exp(-x))", (inner.args[0],))
    return None


def gelu(term: Term) -> Found | None:
    """Both forms, and a Gaussian error function scaled by any spelling of the square root of two."""
    for part in factors(term):
        for inner in (p for s in summands(part) for p in factors(s)):
            if inner.op == "erf":
                x = _times_root_two(inner.args[0])
                if term == mul(num(0.5), x, add(ONE, inner)):
                    return Found("gelu", "0.5 * x * (1 + erf(x / sqrt(2)))", (x,))
            if inner.op == "tanh":
                for x in _cubed(inner.args[0]):
                    wanted = mul(num(0.797885), add(x, mul(num(0.044715), power(x, 3))))
                    if inner.args[0] == wanted and term == mul(num(0.5), x, add(ONE, inner)):
                        return Found("gelu tanh", "0.5 * x * (1 + tanh(c * (x + d * x * x * x)))", (x,))
    return None


def softmax(term: Term) -> Found | None:
    if term.op == "exp":
        lowered = log_softmax(term.args[0])
        if lowered is not None and lowered.form == "x - logsumexp(x)":
            return Found("softmax", "exp(x - logsumexp(x))", lowered.operands, lowered.axis)
    for part in factors(term):
        total = part.args[0] if part.op == "pow" and part.value == -1 else None
        if total is None or total.op != "sum" or total.args[0].op != "exp":
            continue
        if _one_kept(total) and div(term, part) == total.args[0]:
            axis = _axis(total)
            x, shifted = _unshifted(total.args[0].args[0], axis)
            form = "the same of x - max(x)" if shifted else "exp(x) / exp(x).sum(-1)"
            return Found("softmax", form, (x,), axis)
    return None


def log_softmax(term: Term) -> Found | None:
    if term.op == "log":
        inner = term.args[0]
        if inner.op == "softmax":
            return Found("log_softmax", "log(softmax(x))", inner.args, inner.value)
        found = softmax(inner)
        if found is not None:
            return Found("log_softmax", "x - log(exp(x).sum(-1))", found.operands, found.axis)
    for part in summands(term):
        lowered = neg(part)
        rest = sub(term, part)
        if lowered.op == "logsumexp" and lowered.args[0] == rest and _one_kept(lowered):
            return Found("log_softmax", "x - logsumexp(x)", (rest,), _axis(lowered))
        if lowered.op != "log" or lowered.args[0].op != "sum" or lowered.args[0].args[0].op != "exp":
            continue
        total = lowered.args[0]
        if _one_kept(total) and rest == total.args[0].args[0]:
            axis = _axis(total)
            x, shifted = _unshifted(rest, axis)
            form = "the same of x - max(x)" if shifted else "x - log(exp(x).sum(-1))"
            return Found("log_softmax", form, (x,), axis)
    return None


def layer_norm(term: Term) -> Found | None:
    """`(x - mean) / sqrt(var + eps)`, over the last axis, with a factor and a summand of the width of that axis or
    without."""
    for scaled in summands(term):
        for part in factors(scaled):
            spread = _spread(part)
            if spread is None:
                continue
            x = spread
            centred = sub(x, apply("mean", x, value=(-1, True)))
            weight = div(scaled, mul(centred, part))
            bias = sub(term, scaled)
            plain = weight == ONE and bias == ZERO
            if plain or (weight != ONE and bias != ZERO and _simple(weight) and _simple(bias)):
                return Found("layer_norm", "(x - mean) / sqrt(var + eps) * w + b", (x,))
    return None


def rms_norm(term: Term) -> Found | None:
    for part in factors(term):
        if part.op != "pow" or part.value != -0.5 or part.args[0].op != "add":
            continue
        for mean in part.args[0].args:
            if mean.op == "mean" and mean.value == (-1, True):
                x = power(mean.args[0], 0.5)
                x = x.args[0].args[0] if x.op == "pow" and x.args[0].op == "pow" else x
                weight = div(term, mul(x, part))
                if power(x, 2) == mean.args[0] and _simple(weight):
                    return Found("rms_norm", "x * rsqrt(mean(x * x) + eps) * w", (x,))
    return None


def l2_normalize(term: Term) -> Found | None:
    for part in factors(term):
        total = part.args[0] if part.op == "pow" else None
        if total is None:
            continue
        if part.value == -1 and total.op == "norm" and _one_kept(total) and div(term, part) == total.args[0]:
            return Found("L2Normalize", "x / norm(x)", total.args, _axis(total))
        if part.value == -0.5 and total.op == "sum" and _one_kept(total):
            x = div(term, part)
            if total.args[0] == power(x, 2):
                return Found("L2Normalize", "x / sqrt(sum(x * x))", (x,), _axis(total))
    return None


def cross_entropy(term: Term) -> Found | None:
    """The mean negative logarithm of the probabilities at the labels."""
    if term.op == "nll_loss":
        x = _log_probabilities(term.args[0])
        form = "nll_loss(log_softmax(x), labels)"
        return None if x is None else Found("sparse cross entropy", form, (x, term.args[1]), whole=(1,))
    lowered = term if term.op == "mean" else neg(term)
    if lowered.op != "mean" or lowered.value != (None, False):
        return None
    inner = neg(lowered.args[0]) if lowered is term else lowered.args[0]
    inner = inner.args[0] if inner.op == "squeeze" else inner
    if inner.op == "gather" and inner.value in (1, -1) and inner.args[1].op == "expand_dims":
        x = _log_probabilities(inner.args[0])
        if x is not None and inner.args[1].value in (1, -1):
            labels = inner.args[1].args[0]
            form = "-gather(log_softmax(x), labels).mean()"
            return Found("sparse cross entropy", form, (x, labels), whole=(1,))
    if inner.op == "sum" and inner.value in ((-1, False), (1, False)):
        for part in factors(inner.args[0]):
            x = _log_probabilities(without(inner.args[0], part)) if part.op == "one_hot" else None
            if x is not None:
                form = "-(one_hot * log_softmax(x)).sum(-1).mean()"
                return Found("sparse cross entropy", form, (x, part.args[0]), whole=(1,))
    return None


def _log_probabilities(term: Term) -> Term | None:
    """x of the logarithm of its softmax over the classes, native or by hand."""
    if term.op == "log_softmax" and term.value in (-1, 1):
        return term.args[0]
    found = log_softmax(term)
    return found.operands[0] if found is not None and found.axis in (-1, 1) else None


def mse_loss(term: Term) -> Found | None:
    if term.op != "mean" or term.value != (None, False):
        return None
    inner = term.args[0]
    if inner.op != "pow" or inner.value != 2 or inner.args[0].op != "add" or len(inner.args[0].args) != 2:
        return None
    first, second = inner.args[0].args
    if neg(second).op not in ("mul", "num"):
        first, second = first, neg(second)
    elif neg(first).op not in ("mul", "num"):
        first, second = second, neg(first)
    else:
        return None
    return Found("mse_loss", "((a - b) ** 2).mean()", (first, second))


def linear(term: Term) -> Found | None:
    for product in summands(term):
        if product.op == "sum" and product.value == (-1, False):
            bias = sub(term, product)
            parts = factors(product.args[0])
            for column, weight in (parts, parts[::-1]) if len(parts) == 2 else ():
                if column.op == "expand_dims" and column.value in (1, -2) and bias.op == weight.op == "leaf":
                    operands = (column.args[0], weight, bias)
                    return Found("dense", "(x[:, None] * w).sum(-1) + b", operands, ranks=(0, 2, 1))
        if product.op == "matmul" and product.args[1].op == "transpose":
            bias = sub(term, product)
            if bias != ZERO and _simple(bias):
                operands = (product.args[0], product.args[1].args[0], bias)
                return Found("dense", "matmul(x, w.T) + b", operands, ranks=(0, 2, 1))
    return None


def attention(term: Term) -> Found | None:
    if term.op != "matmul":
        return None
    weights, v = term.args
    by_hand = softmax(weights)
    if by_hand is not None:
        scores, axis, form = by_hand.operands[0], by_hand.axis, "the same, softmax by hand"
    elif weights.op == "softmax":
        scores, axis, form = weights.args[0], weights.value, "matmul(softmax(matmul(q, k.T) / sqrt(d)), v)"
    else:
        return None
    products = [part for part in factors(scores) if part.op == "matmul"]
    if axis != -1 or len(products) != 1 or products[0].args[1].op != "transpose":
        return None
    q, k = products[0].args[0], products[0].args[1].args[0]
    return Found("attention", form, (q, k, v))


def matmul(term: Term) -> Found | None:
    """`(a[:, :, None] * b[None]).sum(1)` of two matrices, in either order."""
    if term.op != "sum" or term.value not in ((1, False), (-2, False)):
        return None
    parts = factors(term.args[0])
    if len(parts) != 2 or any(part.op != "expand_dims" for part in parts):
        return None
    by_axis = {part.value: part.args[0] for part in parts}
    first, second = by_axis.get(-1), by_axis.get(-3)
    if first is None or second is None:
        first, second = by_axis.get(2), by_axis.get(0)
    if first is None or second is None:
        return None
    return Found("matmul", "(a[:, :, None] * b[None]).sum(1)", (first, second))


# A comparison that is a value, as an operator or by name; a power, a new axis, and what exchanges two axes.
_COMPARED = frozenset({">", "greater", "less", "gt", "lt", "ge", "le", "greater_equal", "less_equal", "greaterequal",
                       "lessequal"})  # fmt: skip
_SQUARED = frozenset({"**", "*", "pow", "square", "mul"})
_ROOT = frozenset({"**", "sqrt", "rsqrt", "pow"})
_WIDENED = frozenset({"expand_dims", "unsqueeze", "expanddims", "[None]"})
_EXCHANGED = frozenset({"t", "mt", "transpose", "swapaxes", "swapdims", "permute", "matmul made", "batchmatmul made"})
_PRODUCT = frozenset({"matmul", "batchmatmul", "bmm", "mm", "@"})
_SUM, _MEAN = frozenset({"sum", "reducesum"}), frozenset({"mean", "reducemean"})
_LOGARITHM = frozenset({"nll_loss", "log_softmax", "logsoftmax", "logsumexp", "log"})

# The operators in the order in which they are asked for, by what must be read in a function to hold one: at least one
# name of each set.
FORMS: dict[str, tuple[Callable[[Term], Found | None], tuple[frozenset[str], ...]]] = {
    "attention": (attention, (frozenset({"softmax", "exp"}), _PRODUCT)),
    "cross_entropy": (cross_entropy, (_LOGARITHM, _MEAN | {"nll_loss"})),
    "layer_norm": (layer_norm, (_MEAN, _ROOT)),
    "rms_norm": (rms_norm, (_MEAN, _ROOT)),
    "silu": (silu, (frozenset({"exp", "sigmoid"}),)),
    "gelu": (gelu, (frozenset({"erf", "tanh"}),)),
    "log_softmax": (log_softmax, (frozenset({"log", "logsumexp"}),)),
    "softmax": (softmax, (frozenset({"exp"}), _SUM | {"logsumexp"})),
    "sigmoid": (sigmoid, (frozenset({"exp", "tanh"}),)),
    "L2Normalize": (l2_normalize, (_ROOT | {"norm"}, _SUM | {"norm"})),
    "mse_loss": (mse_loss, (_MEAN, _SQUARED)),
    "relu": (relu, (_COMPARED | {"maximum", "abs"},)),
    "leaky_relu": (leaky_relu, (_COMPARED | {"maximum"},)),
    "dense": (linear, (_PRODUCT | _SUM, _EXCHANGED | _WIDENED)),
    "matmul": (matmul, (_SUM, _WIDENED)),
}


def _is_positive_mask(term: Term) -> bool:
    return term.op in ("gt", "ge") and term.args[1] == ZERO


def _kept_where_positive(term: Term) -> Iterator[tuple[Term, Term]]:
    """`(x, other)` of a choice that takes x where it is positive."""
    condition, first, second = term.args
    if condition.op not in ("gt", "ge"):
        return
    left, right = condition.args
    if right == ZERO and first == left:
        yield first, second
    if left == ZERO and second == right:
        yield second, first


def _logistic(term: Term) -> Term | None:
    """x of `1 / (1 + exp(-x))`."""
    if term.op != "pow" or term.value != -1 or term.args[0].op != "add" or len(term.args[0].args) != 2:
        return None
    one, exponential = term.args[0].args
    return neg(exponential.args[0]) if one == ONE and exponential.op == "exp" else None


def _times_root_two(term: Term) -> Term:
    """The term times the square root of two, however many digits of it were written."""
    scale, rest = split(term)
    factor = scale * 2**0.5
    return rest if abs(factor - 1) < 1e-4 else mul(num(factor), rest)


def _cubed(term: Term) -> Iterator[Term]:
    """What is raised to the third power in a sum."""
    for part in summands(term):
        for inner in factors(part):
            if inner.op == "pow" and inner.value == 3:
                yield inner.args[0]


def _one_kept(term: Term) -> bool:
    """Whether a reduction goes over one axis, which stays."""
    return bool(term.value[1]) and _axis(term) is not None and not isinstance(_axis(term), tuple)  # type: ignore[index]


def _axis(term: Term) -> object:
    """The axes of a reduction."""
    return term.value[0]  # type: ignore[index]


def _unshifted(term: Term, axis: object) -> tuple[Term, bool]:
    """x of `x - max(x)`, and whether it is that."""
    for part in summands(term):
        top = neg(part)
        if top.op == "max" and top.value in ((axis, True), (None, True), (None, False)):
            rest = sub(term, part)
            if rest == top.args[0]:
                return rest, True
    return term, False


def _spread(term: Term) -> Term | None:
    """x of `1 / sqrt(var + eps)` over the last axis."""
    if term.op != "pow" or term.value != -0.5 or term.args[0].op != "add" or len(term.args[0].args) != 2:
        return None
    for variance in term.args[0].args:
        if variance.op == "mean" and variance.value == (-1, True):
            squared = variance.args[0]
            for x in _centred(squared):
                if squared == power(sub(x, apply("mean", x, value=(-1, True))), 2):
                    return x
    return None


def _centred(squared: Term) -> Iterator[Term]:
    """Each x of which the mean is taken away in a square."""
    if squared.op == "pow":
        for part in summands(squared.args[0]):
            for inner in factors(part):
                if inner.op == "mean":
                    yield inner.args[0]


def _simple(term: Term) -> bool:
    """A value and no arithmetic."""
    return term.op == "leaf" or term == ONE
