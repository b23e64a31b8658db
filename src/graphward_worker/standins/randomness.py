"""Stand-ins for random operators that do have a kernel.

PyNative and a graph draw from different streams, so what they compute cannot be compared. Where a proof finds a
difference, it is made once more with numbers that derive from the shape: the same on both sides, call after call."""

from __future__ import annotations

import mindspore as ms
from mindspore import nn, ops

from .random import drawn
from .registry import function, kernel, primitive_class

RANDOM = "random"
"""What takes the place of the kernel: nothing is missing, the numbers are."""

_MODULE = "mindspore.ops.function.random_func."


def _no_example(original):
    """Nothing is missing."""


def thinned(input, p):
    """Dropout with a mask that derives from the shape."""
    if p == 0:
        return input
    if p >= 1:
        return input * 0
    kept = ops.cast(drawn("uniform", input.shape, 0.0, 1.0) >= p, input.dtype)
    return input * kept / (1 - p)


@primitive_class("mindspore.ops.operations.Dropout", RANDOM, _no_example)
class Dropout(nn.Cell):
    """In the place of the primitive: output and mask."""

    def __init__(self, keep_prob=0.5, Seed0=0, Seed1=0):
        super().__init__()
        self.p = 1 - keep_prob

    def construct(self, x):
        return thinned(x, self.p), ops.ones_like(x)


@function("mindspore.ops.function.nn_func.dropout", RANDOM, _no_example)
def dropout(input, p=0.5, training=True, seed=None):
    return thinned(input, p) if training else input


@kernel("FuncDropoutExt", lambda dropout: None, of="DropoutExt")
def dropout_ext(input, p=0.5, training=True, inplace=False, seed=None, offset=None):
    return thinned(input, p) if training else input


@function("mindspore.ops.function.nn_func.dropout_ext", RANDOM, _no_example)
def random_dropout_ext(input, p=0.5, training=True, inplace=False):
    return thinned(input, p) if training else input


@function(_MODULE + "standard_normal", RANDOM, _no_example)
def standard_normal(shape, seed=None):
    return drawn("normal", shape, 0.0, 1.0)


@function(_MODULE + "normal", RANDOM, _no_example)
def normal(shape, mean, stddev, seed=None):
    return drawn("normal", shape, 0.0, 1.0) * stddev + mean


@function(_MODULE + "uniform", RANDOM, _no_example)
def uniform(shape, minval, maxval, seed=None, dtype=ms.float32):
    values = drawn("uniform", shape, 0.0, 1.0) * (maxval - minval) + minval
    return ops.cast(ops.floor(values) if dtype == ms.int32 else values, dtype)


@function(_MODULE + "randn", RANDOM, _no_example)
def randn(*size, dtype=None, seed=None):
    return _cast(drawn("normal", _shape(size), 0.0, 1.0), dtype)


@function(_MODULE + "rand", RANDOM, _no_example)
def rand(*size, dtype=None, seed=None):
    return _cast(drawn("uniform", _shape(size), 0.0, 1.0), dtype)


@function(_MODULE + "randn_like", RANDOM, _no_example)
def randn_like(input, seed=None, *, dtype=None):
    return ops.cast(drawn("normal", input.shape, 0.0, 1.0), input.dtype if dtype is None else dtype)


@function(_MODULE + "rand_like", RANDOM, _no_example)
def rand_like(input, seed=None, *, dtype=None):
    return ops.cast(drawn("uniform", input.shape, 0.0, 1.0), input.dtype if dtype is None else dtype)


@function(_MODULE + "randint", RANDOM, _no_example)
def randint(low, high, size, seed=None, *, dtype=None):
    return ops.cast(drawn("integers", size, low, high), ms.int64 if dtype is None else dtype)


@function("mindspore.ops.function.math_func.bernoulli", RANDOM, _no_example)
def bernoulli(input, p=0.5, seed=None):
    return ops.cast(drawn("uniform", input.shape, 0.0, 1.0) < p, input.dtype)


def _shape(size):
    return size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def _cast(values, dtype):
    return values if dtype is None else ops.cast(values, dtype)
