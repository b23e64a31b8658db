"""Which einsum contractions are a matrix product: `einsum` has no CPU kernel, and a product is the faster operator."""

from __future__ import annotations


def matrix_product(subscripts: str) -> tuple[bool, bool] | None:
    """Whether the last two axes of the first and of the second operand must be swapped for the contraction to be
    their matrix product; None when it is no such product.

    `ij,jk->ik` is (False, False), `bhid,bhjd->bhij` is (False, True). Leading axes must be the same in both operands
    and come first in the result; an ellipsis, a diagonal or a sum over one operand is no product.
    """
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    operands = inputs.split(",")
    if len(operands) != 2 or "." in subscripts or any(len(set(o)) != len(o) for o in (*operands, output)):
        return None
    first, second = operands
    if not arrow:
        output = "".join(sorted(set(first) ^ set(second)))
    if min(len(first), len(second), len(output)) < 2:
        return None
    batch, rows, columns = output[:-2], output[-2], output[-1]
    summed = set(first) & set(second) - set(output)
    if len(summed) != 1 or first[:-2] != batch or second[:-2] != batch:
        return None
    inner = summed.pop()
    if {first[-2], first[-1]} != {rows, inner} or {second[-2], second[-1]} != {inner, columns}:
        return None
    return first[-1] == rows, second[-2] == columns
