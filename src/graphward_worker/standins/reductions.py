"""Stand-ins: reductions and running sums."""

from __future__ import annotations

import mindspore as ms
from mindspore import ops

from .registry import kernel
from .samples import floats


@kernel("CumsumExt", lambda cumsum: cumsum(floats(2, 3), 1, None))
def cumsum(input, dim, dtype=None):
    kind = dtype
    if kind is None:
        kind = input.dtype if ops.is_floating_point(input) else ms.int64
    if ops.is_floating_point(input):
        total = ops.cumsum(input, dim)
    else:  # CPU sums up no bool and no int64
        total = ops.cumsum(ops.cast(input, ms.int32), dim)
    return ops.cast(total, kind)


@kernel("Var", lambda var: var(floats(2, 3), None, 1, False))
def var(input, dim=None, correction=1, keepdim=False):
    return spread(input, dim, correction, keepdim)[0]


@kernel("Std", lambda std: std(floats(2, 3), None, 1, False))
def std(input, dim=None, correction=1, keepdim=False):
    return ops.sqrt(spread(input, dim, correction, keepdim)[0])


@kernel("VarMean", lambda var_mean: var_mean(floats(2, 3), None, 1, False))
def var_mean(input, dim=None, correction=1, keepdim=False):
    return spread(input, dim, correction, keepdim)


@kernel("StdMean", lambda std_mean: std_mean(floats(2, 3), None, 1, False))
def std_mean(input, dim=None, correction=1, keepdim=False):
    variance, mean = spread(input, dim, correction, keepdim)
    return ops.sqrt(variance), mean


def spread(input, dim, correction, keepdim):
    """Variance and mean; the sum of squares is divided by the number of elements less `correction`."""
    if dim is None:
        dim = tuple(range(input.ndim))
    if isinstance(dim, int):
        dim = (dim,)
    mean = ops.mean(input, dim, True)
    count = input.size // mean.size
    centred = input - mean
    variance = ops.sum(centred * centred, dim, keepdim) / (count - correction)
    return variance, mean if keepdim else ops.mean(input, dim)


@kernel("LogSumExp", lambda logsumexp: logsumexp(floats(2, 3), (1,), False))
def logsumexp(input, dim, keepdim=False):
    top = ops.stop_gradient(ops.amax(input, dim, True))
    total = ops.log(ops.sum(ops.exp(input - top), dim, True)) + top
    return total if keepdim else ops.sum(total, dim)


@kernel("Nansum", lambda nansum: nansum(floats(2, 3), None, False, None))
def nansum(input, dim=None, keepdim=False, dtype=None):
    if dtype is not None:
        input = ops.cast(input, dtype)
    axes = tuple(range(input.ndim)) if dim is None else dim
    return ops.sum(ops.where(input != input, ops.zeros(input.shape, input.dtype), input), axes, keepdim)


@kernel("ArgMaxExt", lambda argmax: argmax(floats(2, 3), 1, False))
def argmax(input, dim=None, keepdim=False):
    return _place(input, dim, keepdim)


@kernel("ArgMinExt", lambda argmin: argmin(floats(2, 3), 1, False))
def argmin(input, dim=None, keepdim=False):
    return _place(-input, dim, keepdim)


def _place(input, dim, keepdim):
    if dim is None:
        return ops.cast(ops.argmax(ops.reshape(input, (-1,)), 0, False), ms.int64)
    return ops.cast(ops.argmax(input, dim, keepdim), ms.int64)


@kernel("CountNonZero", lambda count: count(floats(2, 3), None))
def count_nonzero(input, dim=None):
    axes = tuple(range(input.ndim)) if dim is None else dim
    return ops.cast(ops.sum(ops.cast(input != 0, ms.int32), axes), ms.int64)
