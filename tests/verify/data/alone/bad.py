"""Targets that are not graph-safe; each for one reason."""

import dataclasses
import os
import signal
import time

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, nn, ops


class NumpyInside(nn.Cell):
    def construct(self, x):
        y = x * 2
        return Tensor(np.exp(y.asnumpy()))


class CallsNumpy(nn.Cell):
    def construct(self, x):
        return Tensor(np.exp(x))


@dataclasses.dataclass
class Output:
    first: ms.Tensor
    second: ms.Tensor


class ReturnsDataclass(nn.Cell):
    """Runs under LAX with the right values and another gradient."""

    def construct(self, x):
        return Output(x, x * 2)


class PopsDict(nn.Cell):
    """Runs under LAX with the wrong values."""

    def construct(self, x):
        values = {"first": x, "second": x * 2}
        values.pop("first")
        return x * len(values)


class SetInside(nn.Cell):
    def construct(self, x):
        axes = {0, 1}
        return x * len(axes)


class Appends(nn.Cell):
    """The graph drops the append, so the second call sees another length."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def construct(self, x):
        self.seen.append(1)
        return x * len(self.seen)


class AppendsUnseen(nn.Cell):
    """The same, but no output shows it: only the state differs."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def construct(self, x):
        self.seen.append(1)
        return x * 2


TOTAL = 0


class CountsGlobally(nn.Cell):
    def construct(self, x):
        global TOTAL
        TOTAL = TOTAL + 1
        return x * 2


class FrozenRandom(nn.Cell):
    def construct(self, x):
        return x + float(np.random.rand())


class FrozenClock(nn.Cell):
    def construct(self, x):
        return x + time.time()


class ReturnsDict(nn.Cell):
    def construct(self, x):
        values = {"double": x * 2}
        values.update({"triple": x * 3})
        return values


class CellPerCall(nn.Cell):
    """A new Cell for each call compiles each time."""

    def __call__(self, x):
        return Doubles()(x)

    def construct(self, x):
        return x * 2


class Doubles(nn.Cell):
    def construct(self, x):
        return x * 2


class NoKernel(nn.Cell):
    def construct(self, x):
        return mint.cummin(x, 0)[0]


class Segfaults(nn.Cell):
    def __init__(self):
        super().__init__()
        print("the last words")
        os.kill(os.getpid(), signal.SIGSEGV)


class Leaves(nn.Cell):
    def __init__(self):
        super().__init__()
        os._exit(3)


class Endless(nn.Cell):
    def construct(self, x):
        while True:
            time.sleep(0.01)
        return x


class BrokenCall(nn.Cell):
    def construct(self, x):
        return ops.reshape(x, (5, 5))


class BrokenInit(nn.Cell):
    def __init__(self):
        super().__init__()
        raise ValueError("no such checkpoint")

    def construct(self, x):
        return x


class Choosy(nn.Cell):
    def construct(self, x):
        if x.shape != (7, 11, 13):
            raise ValueError("only 7 by 11 by 13")
        return x


class NeedsText(nn.Cell):
    def __init__(self, path: str):
        super().__init__()
        self.path = path

    def construct(self, x):
        return x


NUMBER = 3
ms.set_seed(7)
