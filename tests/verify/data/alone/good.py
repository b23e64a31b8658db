"""Targets that are graph-safe as they stand."""

import os
import sys

import mindspore as ms
import numpy as np
from mindspore import nn, ops

print("user code prints when it is imported")


class Dense(nn.Cell):
    def __init__(self, width: int = 4):
        super().__init__()
        self.dense = nn.Dense(3, width)
        self.scale = np.sqrt(width)

    def construct(self, x):
        return ops.relu(self.dense(x)) / self.scale


class Noisy(Dense):
    """Writes to standard output and reads standard input, which must not reach the protocol."""

    def __init__(self):
        super().__init__()
        os.write(1, b'{"verdict": "forged"}\n')
        sys.stdin.read()


class Branches(nn.Cell):
    def construct(self, x):
        return x * 2 if x.sum() > 0 else x - 1


class Counter(nn.Cell):
    def __init__(self):
        super().__init__()
        self.count = ms.Parameter(ms.Tensor(0, ms.int32), requires_grad=False)

    def construct(self, x):
        self.count += 1
        return x * self.count


class Root(nn.Cell):
    """NaN wherever x is negative, in PyNative and in the graph."""

    def construct(self, x):
        return ops.sqrt(x)


class OnlyNan(nn.Cell):
    def construct(self, x):
        return ops.sqrt(-ops.abs(x) - 1)


class Nested(nn.Cell):
    def construct(self, pair, options, times):
        first, second = pair
        return first * times, [second, options["bias"] + first]


class Decorated(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2)

    @ms.jit
    def construct(self, x):
        return self.encode(x)

    @ms.jit
    def encode(self, x):
        return self.dense(x)


class OwnCall(nn.Cell):
    """Keeps Python state in `__call__`, outside of the graph."""

    def __init__(self):
        super().__init__()
        self.history = []

    def __call__(self, x):
        y = super().__call__(x)
        self.history.append(1)
        return y * len(self.history)

    def construct(self, x):
        return x + 1


@ms.jit
def doubled(x, y):
    return ops.exp(x) * 2 + y


def scaled(x, times):
    """PyNative cannot differentiate around a graph with a mutable number."""
    return x * times


def plain(x):
    return ops.sin(x)


INSTANCE = Dense(2)
