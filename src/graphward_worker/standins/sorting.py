"""Stand-ins: sorted values, their places, and distinct ones."""

from __future__ import annotations

import mindspore as ms
from mindspore import ops

from .registry import kernel
from .samples import floats, integers


@kernel("SortExt", lambda sort: sort(floats(2, 3), -1, False, False))
def sort(input, dim=-1, descending=False, stable=False):
    values, places = ops.sort(input, dim, descending)
    return values, ops.cast(places, ms.int64)


@kernel("ArgSort", lambda argsort: argsort(floats(2, 3), -1, False, False))
def argsort(input, dim=-1, descending=False, stable=False):
    return ops.cast(ops.sort(input, dim, descending)[1], ms.int64)


@kernel("TopkExt", lambda topk: topk(floats(2, 3), 2, -1, True, True))
def topk(input, k, dim=-1, largest=True, sorted=True):
    values, places = ops.topk(input, k, dim, largest, sorted)
    return values, ops.cast(places, ms.int64)


@kernel("Kthvalue", lambda kthvalue: kthvalue(floats(2, 3), 1, -1, False))
def kthvalue(input, k, dim=-1, keepdim=False):
    values, places = ops.sort(input, dim, False)
    index = ops.range(k - 1, k, 1)
    value, place = ops.gather(values, index, dim), ops.cast(ops.gather(places, index, dim), ms.int64)
    return (value, place) if keepdim else (ops.squeeze(value, dim), ops.squeeze(place, dim))


@kernel("Unique2", lambda unique: unique(integers(4), True, False, False))
def unique(input, sorted=True, return_inverse=False, return_counts=False):
    flat = ops.reshape(input, (-1,))
    values, inverse = ops.unique(flat)
    values = ops.sort(ops.cast(values, ms.float32))[0]
    values = ops.cast(values, input.dtype)
    same = ops.expand_dims(values, 1) == ops.expand_dims(flat, 0)
    counts = ops.cast(ops.sum(ops.cast(same, ms.int32), 1), ms.int64)
    places = ops.argmax(ops.cast(same, ms.float32), 0)
    inverse = ops.reshape(ops.cast(places, ms.int64), input.shape)
    return values, inverse, counts
