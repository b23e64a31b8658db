"""Stand-ins: tensors from nothing, or in the likeness of others."""

from __future__ import annotations

import mindspore as ms
from mindspore import ops

from .registry import kernel
from .samples import floats


@kernel("Arange", lambda arange: arange(0, 6, 2, None))
def arange(start=0, end=None, step=1, dtype=None):
    if end is None:
        start, end = 0, start
    if isinstance(start, float) or isinstance(end, float) or isinstance(step, float):
        start, end, step = start * 1.0, end * 1.0, step * 1.0
    values = ops.range(start, end, step)
    return values if dtype is None else ops.cast(values, dtype)


@kernel("ZerosLikeExt", lambda zeros_like: zeros_like(floats(2, 3), None))
def zeros_like(input, dtype=None):
    return ops.zeros(input.shape, input.dtype if dtype is None else dtype)


@kernel("OnesLikeExt", lambda ones_like: ones_like(floats(2, 3), None))
def ones_like(input, dtype=None):
    return ops.ones(input.shape, input.dtype if dtype is None else dtype)


@kernel("FillScalar", lambda full: full((2, 3), 0.5, None))
def full_of_number(size, fill_value, dtype=None):
    if dtype is None:
        if isinstance(fill_value, bool):
            dtype = ms.bool_
        elif isinstance(fill_value, int):
            dtype = ms.int64
        else:
            dtype = ms.float32
    return ops.full(size, fill_value, dtype=dtype)


@kernel("FillTensor", lambda full: full((2, 3), floats(1), None))
def full_of_tensor(size, fill_value, dtype=None):
    values = ops.broadcast_to(ops.reshape(fill_value, (1,)), size)
    return values if dtype is None else ops.cast(values, dtype)


@kernel("FullLike", lambda full_like: full_like(floats(2, 3), 0.5, None))
def full_like(input, fill_value, dtype=None):
    return ops.full(input.shape, fill_value, dtype=input.dtype if dtype is None else dtype)


@kernel("LinSpaceExt", lambda linspace: linspace(0, 1, 5, None))
def linspace(start, end, steps, dtype=None):
    if steps == 1:
        values = ops.full((1,), start, dtype=ms.float32)
    else:
        values = start + ops.cast(ops.range(0, steps, 1), ms.float32) * ((end - start) / (steps - 1))
    return values if dtype is None else ops.cast(values, dtype)


@kernel("OneHotExt", lambda one_hot: one_hot(ms.Tensor([0, 1], ms.int64), 3, ms.Tensor(1), ms.Tensor(0), -1))
def one_hot(tensor, num_classes, on_value, off_value, axis):
    if num_classes == -1:
        num_classes = int(ops.max(ops.reshape(tensor, (-1,)))[0]) + 1
    return ops.one_hot(tensor, num_classes, on_value, off_value, axis)
