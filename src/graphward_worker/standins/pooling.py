"""Stand-ins: pooling."""

from __future__ import annotations

from mindspore import ops

from .registry import kernel
from .samples import floats


@kernel("FuncMaxPool2D", lambda pool: pool(floats(1, 1, 4, 4), 2, None, 0, (1, 1), False, False))
def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=(1, 1), ceil_mode=False, return_indices=False):
    """Always a pair; the second half is of use only with `return_indices`."""
    if stride is None:
        stride = kernel_size
    if return_indices:
        return ops.max_pool2d(input, kernel_size, stride, padding, dilation, True, ceil_mode)
    values = ops.max_pool2d(input, kernel_size, stride, padding, dilation, False, ceil_mode)
    return values, values


@kernel("AvgPool2D", lambda pool: pool(floats(1, 1, 4, 4), (2, 2), (2, 2), (0, 0), False, True, None))
def avg_pool2d(
    input, kernel_size, stride, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    divisor = 0 if divisor_override is None else divisor_override
    return ops.avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor)


@kernel("AvgPool1D", lambda pool: pool(floats(1, 1, 4), (2,), (2,), (0,), False, True))
def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    stride = kernel_size if stride is None else stride
    size, step, margin = _first(kernel_size), _first(stride), _first(padding)
    image = ops.expand_dims(input, -2)
    pooled = ops.avg_pool2d(image, (1, size), (1, step), (0, margin), ceil_mode, count_include_pad, 0)
    return ops.squeeze(pooled, -2)


@kernel("AdaptiveAvgPool2DExt", lambda pool: pool(floats(1, 1, 4, 4), (1, 1)))
def adaptive_avg_pool2d(input, output_size):
    if isinstance(output_size, int):
        output_size = (output_size, output_size)
    return _averaged(_averaged(input, -2, output_size[0]), -1, output_size[1])


@kernel("AdaptiveAvgPool1D", lambda pool: pool(floats(1, 1, 4), (1,)))
def adaptive_avg_pool1d(input, output_size):
    return _averaged(input, -1, _first(output_size))


def _averaged(input, axis, count):
    """The means of `count` stretches along an axis, which overlap where the size is no multiple."""
    size = input.shape[axis]
    if count is None or count == size:
        return input
    if count == 1:
        return ops.mean(input, axis, True)
    parts = []
    for i in range(count):
        start, stop = i * size // count, ((i + 1) * size + count - 1) // count
        stretch = ops.gather(input, ops.range(start, stop, 1), axis)
        parts.append(ops.mean(stretch, axis, True))
    return ops.concat(parts, axis)


def _first(value):
    return value[0] if isinstance(value, (tuple, list)) else value
