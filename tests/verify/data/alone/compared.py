"""Cells for what a proof compares, and how it says so."""

from collections import namedtuple

import numpy as np
from mindspore import Parameter, Tensor, nn, ops

Pair = namedtuple("Pair", ["first", "second"])


class Cuts(nn.Cell):
    """One gradient is cut, one is truly zero."""

    def construct(self, x, y):
        return ops.stop_gradient(x) * 2 + 0 * y


class DeepInside(nn.Cell):
    """Differs at one place of a nested output."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def construct(self, x):
        self.seen.append(1)
        return x, (x, [x + 1, (x, x * len(self.seen))])


class InPlace(nn.Cell):
    def construct(self, x):
        y = x * 1
        z = y
        z += 1
        return y + z


class InPlaceAlike(nn.Cell):
    def construct(self, x):
        own = x * 2
        own += 1
        return own


class FixedRows(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(ops.ones((3,)))

    def construct(self, x):
        if x.shape[0] == 4:
            return Tensor(np.exp(x.asnumpy()))
        return x * self.weight


class OnlyWhenTraining(nn.Cell):
    def construct(self, x):
        if self.training:
            return Tensor(np.exp(x.asnumpy()))
        return x


class CompileTime(nn.Cell):
    def construct(self, x):
        table = Tensor(np.arange(3).astype(np.float32))
        return x + table


class NotForExport(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weights = [Parameter(ops.ones((3,)), name="hidden")]

    def construct(self, x):
        return x * self.weights[0], x


def doubled(x):
    return x * 2, (x,)


class ByKeyword(nn.Cell):
    def construct(self, x, pair, mask=None, other=None, **others):
        return x * pair[0] + pair[1] + ops.exp(mask)
