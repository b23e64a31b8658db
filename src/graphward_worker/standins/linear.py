"""Stand-ins: products of vectors and matrices."""

from __future__ import annotations

from mindspore import ops

from .registry import function, kernel
from .samples import floats


@kernel("Outer", lambda outer: outer(floats(2), floats(3)))
def outer(input, vec2):
    return ops.expand_dims(input, 1) * ops.expand_dims(vec2, 0)


@kernel("Addmm", lambda addmm: addmm(floats(2, 2), floats(2, 3), floats(3, 2), 1, 1))
def addmm(input, mat1, mat2, beta=1, alpha=1):
    return beta * input + alpha * ops.matmul(mat1, mat2)


@kernel("Baddbmm", lambda baddbmm: baddbmm(floats(1, 2, 2), floats(1, 2, 3), floats(1, 3, 2), 1, 1))
def baddbmm(input, batch1, batch2, beta=1, alpha=1):
    return beta * input + alpha * ops.matmul(batch1, batch2)


@kernel("Addbmm", lambda addbmm: addbmm(floats(2, 2), floats(1, 2, 3), floats(1, 3, 2), 1, 1))
def addbmm(input, batch1, batch2, beta=1, alpha=1):
    return beta * input + alpha * ops.sum(ops.matmul(batch1, batch2), 0)


@kernel("Dot", lambda dot: dot(floats(3), floats(3)))
def dot(input, other):
    return ops.sum(input * other)


@kernel("Mv", lambda mv: mv(floats(2, 3), floats(3)))
def mv(input, vec):
    return ops.squeeze(ops.matmul(input, ops.expand_dims(vec, 1)), 1)


@function("einsum", "einsum", lambda einsum: einsum("ij,jk->ik", (floats(2, 3), floats(3, 2))))
def einsum(equation, *operands):
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    shapes = tuple([operand.ndim for operand in operands])
    steps, total, order = _plan(equation, shapes)
    value = operands[0]
    for i in range(1, len(operands)):
        left, right, summed = steps[i - 1]
        value = _aligned(value, left) * _aligned(operands[i], right)
        if len(summed) > 0:
            value = ops.sum(value, summed)
    if len(total) > 0:
        value = ops.sum(value, total)
    return ops.transpose(value, order) if len(order) > 1 else value


def _aligned(value, axes):
    """The axes in the order of `axes`, where -1 asks for a new one of size 1."""
    order = tuple([axis for axis in axes if axis >= 0])
    if len(order) > 1:
        value = ops.transpose(value, order)
    for i in range(len(axes)):
        if axes[i] < 0:
            value = ops.expand_dims(value, i)
    return value


@ops.constexpr(check=False)
def _plan(equation, ranks):
    """How to multiply the operands one after the other: for each the axes of both sides and what is summed then; the
    axes summed at the end; the order of the result. An ellipsis becomes labels of its own, aligned to the right."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    rest = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks)]
    extra = "".join(chr(0x3B1 + i) for i in range(max([n for n, t in zip(rest, terms) if "..." in t], default=0)))
    terms = [t.replace("...", extra[len(extra) - n :]) for t, n in zip(terms, rest)]
    if any(len(set(term)) != len(term) for term in terms):
        raise ValueError("einsum only supports Ascend where an operand repeats an index")
    letters = "".join(terms)
    once = "".join(sorted(c for c in set(letters) if letters.count(c) == 1 and c not in extra))
    result = right.replace("...", extra) if arrow else extra + once
    labels, steps = terms[0], []
    for i, term in enumerate(terms[1:], 1):
        joined = labels + "".join(c for c in term if c not in labels)
        needed = result + "".join(terms[i + 1 :])
        summed = tuple(k for k, c in enumerate(joined) if c not in needed)
        steps.append((tuple(labels.find(c) for c in joined), tuple(term.find(c) for c in joined), summed))
        labels = "".join(c for c in joined if c in needed)
    total = tuple(k for k, c in enumerate(labels) if c not in result)
    labels = "".join(c for c in labels if c in result)
    return tuple(steps), total, tuple(labels.index(c) for c in result)
