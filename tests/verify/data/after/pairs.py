"""Rewrites of `before/pairs.py`, good and bad."""

import time

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class MovedLayers(nn.Cell):
    def __init__(self):
        super().__init__()
        self.second = nn.Dense(4, 2)
        self.first = nn.Dense(3, 4)

    def construct(self, x):
        return self.second(self.first(x))


class NumpyArray(nn.Cell):
    def construct(self, x):
        return ops.stop_gradient(ops.exp(x))


class NumpyTensor(nn.Cell):
    def construct(self, x):
        return ops.exp(x)


class KeptCut(nn.Cell):
    def construct(self, x):
        return ops.stop_gradient(ops.exp(x))


class PartlyCut(nn.Cell):
    def construct(self, x):
        return x * 3 + ops.exp(x)


class WrongRestored(nn.Cell):
    """Restores the gradient in PyNative on the first call only; the graph, which drops the append, on each."""

    def __init__(self):
        super().__init__()
        self.cuts = []

    def construct(self, x):
        y = ops.exp(x)
        for _ in self.cuts:
            y = ops.stop_gradient(y)
        self.cuts.append(1)
        return y


class Named(nn.Cell):
    def construct(self, x):
        return x, x * 2


class Listed(nn.Cell):
    def construct(self, x):
        return (x, x * 2)


class OtherDtype(nn.Cell):
    def construct(self, x):
        return x.astype(ms.float16)


class OtherShape(nn.Cell):
    def construct(self, x):
        return x.sum(axis=0)


class OtherValue(nn.Cell):
    def construct(self, x):
        return x * 2.01


class OtherGradient(nn.Cell):
    def construct(self, x):
        return ops.stop_gradient(x) * x


class WritesArgument(nn.Cell):
    def construct(self, x):
        x = ops.concat((ops.full_like(x[:1], 9.0), x[1:]))
        return x * 2


class CountsOnSelf(nn.Cell):
    def __init__(self):
        super().__init__()
        self.calls = ms.Parameter(ms.Tensor(0, ms.int32), name="calls", requires_grad=False)

    def construct(self, x):
        self.calls += 1
        return x * self.calls


class Remembers(nn.Cell):
    def construct(self, x):
        return x * 2


class SecondCall(nn.Cell):
    def construct(self, x):
        return x


class StillFalls(nn.Cell):
    def construct(self, x):
        y = ops.exp(x)
        return Tensor(y.asnumpy())


class DoesNotLoad(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = missing  # noqa: F821

    def construct(self, x):
        return x


class UsesNoKernel(nn.Cell):
    def construct(self, x):
        return ms.mint.cummin(x, 0)[0]


class NanForNumber(nn.Cell):
    def construct(self, x):
        return ops.sqrt(x) * 0 + ops.abs(x) + 1


class BrokenBefore(nn.Cell):
    def construct(self, x):
        return x


class WrongAndRefused(nn.Cell):
    def construct(self, x):
        axes = {0, 1, 2}
        return x * len(axes) + float(np.pi)


class GraphOnly(nn.Cell):
    """A NumPy number on the left takes the Tensor in PyNative and makes an array of it; the compiler folds it."""

    def construct(self, x):
        y = np.sqrt(2.0) * x
        return ops.tanh(y)


class OtherInPyNative(nn.Cell):
    """The graph drops the append, so only PyNative sees the second call differ."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def construct(self, x):
        self.calls.append(1)
        return x * 2 if len(self.calls) < 2 else x


class StateInPyNative(nn.Cell):
    def __init__(self):
        super().__init__()
        self.seen = []

    def construct(self, x):
        self.seen.append(1)
        return x * 2


class OtherGradientInPyNative(OtherInPyNative):
    def construct(self, x):
        self.calls.append(1)
        return x * 2 if len(self.calls) < 2 else ops.stop_gradient(x * 2)


class HangsInPyNative(OtherInPyNative):
    def construct(self, x):
        self.calls.append(1)
        if len(self.calls) > 1:
            time.sleep(600)
        return x * 2


class NoKernelInPyNative(OtherInPyNative):
    def construct(self, x):
        self.calls.append(1)
        return x * 2 if len(self.calls) < 2 else ms.mint.cummin(x, 0)[0]
