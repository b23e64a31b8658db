"""Stand-ins: normalisations, in float32 as the kernels compute them."""

from __future__ import annotations

import mindspore as ms
from mindspore import ops

from .registry import kernel
from .samples import floats


@kernel("LayerNormExt", lambda norm: norm(floats(2, 3), (3,), floats(3), floats(3), 1e-5))
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    axes = tuple(range(-len(normalized_shape), 0))
    wide = ops.cast(input, ms.float32)
    mean = ops.mean(wide, axes, True)
    centred = wide - mean
    scale = ops.rsqrt(ops.mean(centred * centred, axes, True) + eps)
    value = centred * scale
    if weight is not None:
        value = value * weight
    if bias is not None:
        value = value + bias
    return ops.cast(value, input.dtype), mean, scale


@kernel(
    "BatchNormExt",
    lambda norm: norm(floats(2, 3), floats(3), floats(3), floats(3), floats(3), False, 0.1, 1e-5),
)
def batch_norm(
    input, weight=None, bias=None, running_mean=None, runnning_var=None, training=False, momentum=0.1, epsilon=1e-5
):
    """The parameter names are the primitive's. The running values are updated in training, as the kernel does."""
    channels = (1, input.shape[1]) + (1,) * (input.ndim - 2)
    wide = ops.cast(input, ms.float32)
    if training or running_mean is None:
        axes = tuple([0] + list(range(2, input.ndim)))
        mean = ops.mean(wide, axes)
        centred = wide - ops.reshape(mean, channels)
        variance = ops.mean(centred * centred, axes)
        if running_mean is not None and momentum != 0:
            count = input.size // input.shape[1]
            unbiased = ops.stop_gradient(variance) * (count / max(count - 1, 1))
            ops.assign(running_mean, (1 - momentum) * running_mean + momentum * ops.stop_gradient(mean))
            ops.assign(runnning_var, (1 - momentum) * runnning_var + momentum * unbiased)
    else:
        mean, variance = running_mean, runnning_var
        centred = wide - ops.reshape(mean, channels)
    scale = ops.rsqrt(variance + epsilon)
    value = centred * ops.reshape(scale, channels)
    if weight is not None:
        value = value * ops.reshape(weight, channels)
    if bias is not None:
        value = value + ops.reshape(bias, channels)
    return ops.cast(value, input.dtype), mean, scale


@kernel("LinalgVectorNorm", lambda norm: norm(floats(2, 3), 2, None, False, None))
def vector_norm(x, ord=2, dim=None, keepdim=False, dtype=None):
    if dtype is not None:
        x = ops.cast(x, dtype)
    if isinstance(dim, int):
        dim = (dim,)
    size = ops.abs(x)
    if ord == float("inf"):
        return ops.amax(size, dim, keepdim)
    if ord == float("-inf"):
        return ops.amin(size, dim, keepdim)
    axes = dim if dim is not None else tuple(range(x.ndim))
    if ord == 0:
        return ops.sum(ops.cast(size > 0, x.dtype), axes, keepdim)
    if ord == 1:
        return ops.sum(size, axes, keepdim)
    if ord == 2:
        return ops.sqrt(ops.sum(x * x, axes, keepdim))
    return ops.pow(ops.sum(ops.pow(size, ord), axes, keepdim), 1 / ord)
