"""Stand-ins: convolutions, made of the two-dimensional ones."""

from __future__ import annotations

from mindspore import ops

from .registry import function, kernel
from .samples import floats


@kernel("Conv2DExt", lambda conv: conv(floats(1, 1, 3, 3), floats(1, 1, 2, 2), None, 1, 0, 1, 1))
def conv2d_numbers(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return planar(input, weight, bias, stride, padding, dilation, groups)


@kernel("Conv2DPadding", lambda conv: conv(floats(1, 1, 3, 3), floats(1, 1, 2, 2), None, 1, "valid", 1, 1))
def conv2d_word(input, weight, bias=None, stride=1, padding="valid", dilation=1, groups=1):
    return planar(input, weight, bias, stride, padding, dilation, groups)


@function("conv2d", "Conv2DExt", lambda conv: conv(floats(1, 1, 3, 3), floats(1, 1, 2, 2)))
def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return planar(input, weight, bias, stride, padding, dilation, groups)


@kernel("Conv1DExt", lambda conv: conv(floats(1, 1, 3), floats(1, 1, 2), None, 1, 0, 1, 1))
def conv1d_numbers(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return linear(input, weight, bias, stride, padding, dilation, groups)


@kernel("Conv1DPadding", lambda conv: conv(floats(1, 1, 3), floats(1, 1, 2), None, 1, "valid", 1, 1))
def conv1d_word(input, weight, bias=None, stride=1, padding="valid", dilation=1, groups=1):
    return linear(input, weight, bias, stride, padding, dilation, groups)


@function("conv1d", "Conv1DExt", lambda conv: conv(floats(1, 1, 3), floats(1, 1, 2)))
def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return linear(input, weight, bias, stride, padding, dilation, groups)


@kernel(
    "ConvTranspose2D",
    lambda conv: conv(floats(1, 1, 3, 3), floats(1, 1, 2, 2), None, (1, 1), (0, 0), (0, 0), 1, (1, 1)),
)
def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The input spread out by the stride, then a convolution with the kernel turned around."""
    stride, padding = _pair(stride), _pair(padding)
    output_padding, dilation = _pair(output_padding), _pair(dilation)
    spread = _spread(_spread(input, 2, stride[0]), 3, stride[1])
    margins = []
    for i in range(2):
        full = dilation[i] * (weight.shape[2 + i] - 1) - padding[i]
        margins.append((full, full + output_padding[i]))
    spread = _margin(_margin(spread, 2, margins[0]), 3, margins[1])
    inputs, outputs = weight.shape[0] // groups, weight.shape[1]
    turned = ops.reverse(weight, (2, 3)) if weight.shape[2] * weight.shape[3] > 1 else weight
    turned = ops.reshape(turned, (groups, inputs, outputs) + weight.shape[2:])
    turned = ops.reshape(ops.swapaxes(turned, 1, 2), (groups * outputs, inputs) + weight.shape[2:])
    return planar(spread, turned, bias, 1, 0, dilation, groups)


def planar(input, weight, bias, stride, padding, dilation, groups):
    """`padding`: a number, two of them, or "same" and "valid"."""
    if input.ndim == 3:
        return ops.squeeze(planar(ops.expand_dims(input, 0), weight, bias, stride, padding, dilation, groups), 0)
    if isinstance(padding, str):
        return ops.conv2d(input, weight, bias, _pair(stride), padding, 0, _pair(dilation), groups)
    return ops.conv2d(input, weight, bias, _pair(stride), "pad", _pair(padding), _pair(dilation), groups)


def linear(input, weight, bias, stride, padding, dilation, groups):
    """The same in one dimension, as an image that is one pixel high."""
    if input.ndim == 2:
        return ops.squeeze(linear(ops.expand_dims(input, 0), weight, bias, stride, padding, dilation, groups), 0)
    margin = padding if isinstance(padding, str) else (0, _single(padding))
    image, kernels = ops.expand_dims(input, 2), ops.expand_dims(weight, 2)
    return ops.squeeze(planar(image, kernels, bias, (1, _single(stride)), margin, (1, _single(dilation)), groups), 2)


def _pair(value):
    if isinstance(value, (tuple, list)):
        return (value[0], value[0]) if len(value) == 1 else (value[0], value[1])
    return (value, value)


def _single(value):
    return value[0] if isinstance(value, (tuple, list)) else value


def _spread(input, axis, step):
    """Zeros between the elements along an axis."""
    if step == 1:
        return input
    size = input.shape[axis]
    parts = [ops.expand_dims(input, axis + 1)]
    gap = input.shape[: axis + 1] + (step - 1,) + input.shape[axis + 1 :]
    parts.append(ops.zeros(gap, input.dtype))
    wide = ops.concat(parts, axis + 1)
    wide = ops.reshape(wide, input.shape[:axis] + (size * step,) + input.shape[axis + 1 :])
    return ops.gather(wide, ops.range(0, (size - 1) * step + 1, 1), axis)


def _margin(input, axis, widths):
    """Zeros before and after along an axis; a negative width takes elements away."""
    before, after = widths
    size = input.shape[axis]
    if before < 0 or after < 0:
        input = ops.gather(input, ops.range(max(0, -before), size - max(0, -after), 1), axis)
    parts = [input]
    if before > 0:
        parts = [ops.zeros(input.shape[:axis] + (before,) + input.shape[axis + 1 :], input.dtype), input]
    if after > 0:
        parts = parts + [ops.zeros(input.shape[:axis] + (after,) + input.shape[axis + 1 :], input.dtype)]
    return ops.concat(parts, axis) if len(parts) > 1 else input
