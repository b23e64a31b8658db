"""Stand-ins: functions of each element, and the softmax family."""

from __future__ import annotations

import math

import mindspore as ms
from mindspore import ops

from .registry import function, kernel
from .samples import floats


@kernel("GeluExt", lambda gelu: gelu(floats(2, 3), "none"))
def gelu_of_kernel(input, approximate="none"):
    return _gelu(input, approximate)


@function("gelu", "GeluExt", lambda gelu: gelu(floats(2, 3)))
def gelu(input, *, approximate="none"):
    return _gelu(input, approximate)


def _gelu(input, approximate):
    if approximate == "tanh":
        inner = 0.7978845608028654 * (input + 0.044715 * input * input * input)
        return 0.5 * input * (1 + ops.tanh(inner))
    return 0.5 * input * (1 + ops.erf(input / 1.4142135623730951))


@kernel("LeakyReLUExt", lambda leaky_relu: leaky_relu(floats(2, 3), 0.1))
def leaky_relu(input, negative_slope=0.01):
    return ops.where(input > 0, input, input * negative_slope)


@kernel("EluExt", lambda elu: elu(floats(2, 3), 1.0))
def elu(input, alpha=1.0):
    return ops.where(input > 0, input, alpha * (ops.exp(ops.minimum(input, 0)) - 1))


@kernel("SeLUExt", lambda selu: selu(floats(2, 3)))
def selu(input):
    scale = 1.0507009873554805
    alpha = 1.6732632423543772
    return scale * ops.where(input > 0, input, alpha * (ops.exp(ops.minimum(input, 0)) - 1))


@kernel("MishExt", lambda mish: mish(floats(2, 3)))
def mish(input):
    return input * ops.tanh(ops.log1p(ops.exp(-ops.abs(input))) + ops.maximum(input, 0))


@kernel("Hardtanh", lambda hardtanh: hardtanh(floats(2, 3), -1, 1))
def hardtanh(input, min_val=-1, max_val=1):
    return ops.clip_by_value(input, min_val, max_val)


@kernel("LogSoftmaxExt", lambda log_softmax: log_softmax(floats(2, 3), -1, None))
def log_softmax_of_kernel(input, dim=None, dtype=None):
    return log_softmax(input, dim, dtype=dtype)


@function(
    "mindspore.ops.function.nn_func.log_softmax_ext", "LogSoftmaxExt", lambda log_softmax: log_softmax(floats(2, 3))
)
def log_softmax(input, dim=None, *, dtype=None):
    if dtype is not None:
        input = ops.cast(input, dtype)
    if dim is None:
        dim = 0 if input.ndim in (0, 1, 3) else 1
    shifted = input - ops.stop_gradient(ops.amax(input, dim, True))
    return shifted - ops.log(ops.sum(ops.exp(shifted), dim, True))


@kernel("Swiglu", lambda swiglu: swiglu(floats(2, 4), -1))
def swiglu(input, dim=-1):
    half = input.shape[dim] // 2
    gate, value = ops.split(input, half, dim)
    return gate * ops.sigmoid(gate) * value


@kernel("Log2", lambda log2: log2(floats(2, 3)))
def log2(input):
    if not ops.is_floating_point(input):
        input = ops.cast(input, ms.float32)
    return ops.log(input) / math.log(2.0)


@kernel("Log10", lambda log10: log10(floats(2, 3)))
def log10(input):
    return ops.log(input) / math.log(10.0)


@kernel("Exp2", lambda exp2: exp2(floats(2, 3)))
def exp2(input):
    return ops.exp(input * math.log(2.0))


@kernel("LogAddExp", lambda logaddexp: logaddexp(floats(2, 3), floats(2, 3)))
def logaddexp(input, other):
    return ops.maximum(input, other) + ops.log1p(ops.exp(-ops.abs(input - other)))


@kernel("LogSigmoid", lambda log_sigmoid: log_sigmoid(floats(2, 3)))
def log_sigmoid(input):
    """A pair, of which the second half is the kernel's own."""
    value = ops.minimum(input, 0) - ops.log1p(ops.exp(-ops.abs(input)))
    return value, value


@kernel("Threshold", lambda threshold: threshold(floats(2, 3), 1.0, 0.0))
def threshold(input, threshold, value):
    return ops.where(input > threshold, input, ops.full(input.shape, value, dtype=input.dtype))


@kernel("Frac", lambda frac: frac(floats(2, 3)))
def frac(input):
    return input - ops.trunc(input)


@kernel("Atan2Ext", lambda atan2: atan2(floats(2, 3), floats(2, 3)))
def atan2(input, other):
    return ops.atan2(input, other)


@function("addcdiv", "AddcdivExt", lambda addcdiv: addcdiv(floats(2), floats(2), floats(2)))
def addcdiv(input, tensor1, tensor2, *, value=1):
    return input + value * (tensor1 / tensor2)


@kernel("AddcmulExt", lambda addcmul: addcmul(floats(2), floats(2), floats(2), 1))
def addcmul(input, tensor1, tensor2, value=1):
    return input + value * (tensor1 * tensor2)
