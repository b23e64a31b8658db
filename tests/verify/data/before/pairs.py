"""Originals; `after/pairs.py` holds a rewrite of each under the same name."""

from collections import namedtuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

Pair = namedtuple("Pair", "first second")


class MovedLayers(nn.Cell):
    """Layers built on every call, in another order than a rewrite would create them."""

    def construct(self, x):
        x = nn.Dense(3, 4)(x)
        return nn.Dense(4, 2)(x)


class NumpyArray(nn.Cell):
    def construct(self, x):
        return np.exp(x.asnumpy())


class NumpyTensor(nn.Cell):
    """Its gradient is cut: NumPy has none."""

    def construct(self, x):
        return Tensor(np.exp(x.asnumpy()))


class KeptCut(NumpyTensor):
    pass


class PartlyCut(nn.Cell):
    def construct(self, x):
        return x * 3 + Tensor(np.exp(x.asnumpy()))


class WrongRestored(NumpyTensor):
    pass


class Named(nn.Cell):
    def construct(self, x):
        return Pair(x, x * 2)


class Listed(nn.Cell):
    def construct(self, x):
        return [x, x * 2]


class OtherDtype(nn.Cell):
    def construct(self, x):
        return x.astype(ms.float32)


class OtherShape(nn.Cell):
    def construct(self, x):
        return x.sum(axis=0, keepdims=True)


class OtherValue(nn.Cell):
    def construct(self, x):
        return x * 2


class OtherGradient(nn.Cell):
    def construct(self, x):
        return x * x


class WritesArgument(nn.Cell):
    def construct(self, x):
        x[0] = 9.0
        return x * 2


class CountsOnSelf(nn.Cell):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def construct(self, x):
        self.calls += 1
        return x * self.calls


class Remembers(nn.Cell):
    def __init__(self):
        super().__init__()
        self.last = None

    def construct(self, x):
        self.last = x
        return x * 2


class SecondCall(nn.Cell):
    """Right the first time only, in the rewrite."""

    def construct(self, x):
        return ops.abs(x)


class StillFalls(nn.Cell):
    def construct(self, x):
        return Tensor(np.exp(x.asnumpy()))


class DoesNotLoad(nn.Cell):
    def construct(self, x):
        return x


class UsesNoKernel(nn.Cell):
    def construct(self, x):
        return ops.gelu(x)


class NanForNumber(nn.Cell):
    def construct(self, x):
        return ops.abs(x) + 1


class BrokenBefore(nn.Cell):
    def construct(self, x):
        return x + undefined  # noqa: F821


class WrongAndRefused(nn.Cell):
    def construct(self, x):
        return x * 2


class GraphOnly(nn.Cell):
    def construct(self, x):
        return ops.tanh(x * np.sqrt(2.0))


class OtherInPyNative(nn.Cell):
    def construct(self, x):
        return x * 2


class StateInPyNative(nn.Cell):
    def __init__(self):
        super().__init__()
        self.seen = []

    def construct(self, x):
        return x * 2


class OtherGradientInPyNative(OtherInPyNative):
    pass


class HangsInPyNative(OtherInPyNative):
    pass


class NoKernelInPyNative(OtherInPyNative):
    pass
