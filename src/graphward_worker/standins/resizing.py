"""Stand-ins: images made larger or smaller."""

from __future__ import annotations

import mindspore as ms
from mindspore import ops

from .registry import kernel
from .samples import floats


@kernel("UpsampleLinear1D", lambda resize: resize(floats(1, 1, 4), (8,), None, False))
def upsample_linear1d(x, output_size=None, scales=None, align_corners=False):
    return _linear(x, 2, output_size, scales, align_corners, 0)


@kernel("UpsampleBilinear2D", lambda resize: resize(floats(1, 1, 4, 4), (8, 8), None, False))
def upsample_bilinear2d(x, output_size=None, scales=None, align_corners=False):
    rows = _linear(x, 2, output_size, scales, align_corners, 0)
    return _linear(rows, 3, output_size, scales, align_corners, 1)


def _target(size, output_size, scales, number):
    """The new size along an axis, and the step between its elements in the old one."""
    if output_size is not None:
        return output_size[number], size / output_size[number]
    return int(size * scales[number]), 1 / scales[number]


def _linear(x, axis, output_size, scales, align_corners, number):
    size = x.shape[axis]
    wanted, step = _target(size, output_size, scales, number)
    places = []
    for i in range(wanted):
        if align_corners:
            place = i * (size - 1) / (wanted - 1) if wanted > 1 else 0.0
        else:
            place = max((i + 0.5) * step - 0.5, 0.0)
        places.append(min(place, size - 1.0))
    low = tuple([int(place) for place in places])
    high = tuple([min(int(place) + 1, size - 1) for place in places])
    weight = ms.Tensor(tuple([place - int(place) for place in places]), x.dtype)
    weight = ops.reshape(weight, (-1,) + (1,) * (x.ndim - 1 - axis))
    left, right = ops.gather(x, ms.Tensor(low, ms.int32), axis), ops.gather(x, ms.Tensor(high, ms.int32), axis)
    return left * (1 - weight) + right * weight
