"""Stand-ins: losses."""

from __future__ import annotations

from mindspore import ops

from .registry import kernel
from .samples import floats


@kernel("MSELossExt", lambda loss: loss(floats(2, 3), floats(2, 3), "mean"))
def mse_loss(input, target, reduction="mean"):
    gap = input - target
    return reduced(gap * gap, reduction)


@kernel("L1LossExt", lambda loss: loss(floats(2, 3), floats(2, 3), "mean"))
def l1_loss(input, target, reduction="mean"):
    return reduced(ops.abs(input - target), reduction)


@kernel("KLDiv", lambda loss: loss(floats(2, 3), floats(2, 3), "mean", False))
def kl_div(input, target, reduction="mean", log_target=False):
    if log_target:
        return reduced(ops.exp(target) * (target - input), reduction)
    known = ops.where(target > 0, target, ops.ones(target.shape, target.dtype))
    return reduced(target * (ops.log(known) - input), reduction)


def reduced(values, reduction):
    """The mean, the sum, or all of them ("none")."""
    if reduction == "mean":
        return ops.mean(values)
    if reduction == "sum":
        return ops.sum(values)
    return values
