"""Rewrites of the same names."""

import numpy as np
from mindspore import Parameter, Tensor, jit, nn, ops

from collections import OrderedDict, namedtuple
from dataclasses import dataclass, fields
from typing import Any, Optional

Pair = namedtuple("Pair", ["first", "second"])


@dataclass
class Record:
    values: Any
    label: str = ""


class ModelOutput(OrderedDict):
    """As model libraries write it: a dataclass that is a dict of the fields that are not None."""

    def __post_init__(self):
        for field in fields(self):
            if getattr(self, field.name) is not None:
                self[field.name] = getattr(self, field.name)


@dataclass
class Answer(ModelOutput):
    logits: Any = None
    states: Optional[tuple] = None
    record: Optional[Record] = None
    pair: Optional[Pair] = None


def answer(y):
    """A bit of everything."""
    return Answer(y, (None, [y, {"scale": y * 2, "none": None}]), Record([y, 1.5], "label"), Pair(y, (y, 3)))


class Same(nn.Cell):
    """Not one graph: plain Python around one, which can return what a graph cannot."""

    @jit(fullgraph=True)
    def double(self, x):
        return x * 2

    def construct(self, x):
        return answer(self.double(x))


class OtherKey(Same):
    def construct(self, x):
        y = self.double(x)
        return Answer(y, (None, [y, {"size": y * 2, "none": None}]), Record([y, 1.5], "label"), Pair(y, (y, 3)))


class OtherLength(Same):
    def construct(self, x):
        y = self.double(x)
        return Answer(y, (None, [y]), Record([y, 1.5], "label"), Pair(y, (y, 3)))


class OtherNone(Same):
    """None where the original has a tensor."""

    def construct(self, x):
        y = self.double(x)
        return Answer(y, (None, [y, {"scale": None, "none": None}]), Record([y, 1.5], "label"), Pair(y, (y, 3)))


class NoneForTensor(Same):
    """A ModelOutput without one of its entries."""

    def construct(self, x):
        y = self.double(x)
        return Answer(y, None, Record([y, 1.5], "label"), Pair(y, (y, 3)))


class OtherLabel(Same):
    def construct(self, x):
        y = self.double(x)
        return Answer(y, (None, [y, {"scale": y * 2, "none": None}]), Record([y, 1.5], "table"), Pair(y, (y, 3)))


class OtherField(Same):
    def construct(self, x):
        y = self.double(x)
        return Answer(y, (None, [y, {"scale": y * 2, "none": None}]), Record([y + 1, 1.5], "label"), Pair(y, (y, 3)))


class PlainTuple(Same):
    def construct(self, x):
        y = self.double(x)
        return Answer(y, (None, [y, {"scale": y * 2, "none": None}]), Record([y, 1.5], "label"), (y, (y, 3)))


class OtherNumber(Same):
    def construct(self, x):
        y = self.double(x)
        return Answer(y, (None, [y, {"scale": y * 2, "none": None}]), Record([y, 1.5], "label"), Pair(y, (y, 4)))


class OtherParameter(nn.Cell):
    """Takes the mean into the running average only once."""

    def __init__(self):
        super().__init__()
        self.average = Parameter(ops.zeros((3,)), name="average", requires_grad=False)

    def construct(self, x):
        self.average = self.average * 0.25 + ops.stop_gradient(x.mean(0))
        return x * 2


class OtherBuffer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.average = Parameter(Tensor(np.zeros(3, np.float32)), name="average", requires_grad=False)

    def construct(self, x):
        self.average = self.average * 0.25 + ops.stop_gradient(x.mean(0))
        return x * 2


class OtherRegistered(nn.Cell):
    def __init__(self):
        super().__init__()
        self.register_buffer("average", Tensor(np.zeros(3, np.float32)))

    def construct(self, x):
        ops.assign(self.average, self.average * 0.25 + ops.stop_gradient(x.mean(0)))
        return x * 2


class WritesIntoDict(nn.Cell):
    def construct(self, x, cache):
        return x * 2


class Body(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([nn.LayerNorm((4,)), nn.Dense(3, 4)])

    def construct(self, x):
        return self.layers[0](self.layers[1](x))


class Nests(nn.Cell):
    """Made in another order, under other names, one level deeper."""

    def __init__(self):
        super().__init__()
        self.head = nn.Dense(4, 3)
        self.body = Body()

    def construct(self, x):
        return self.head(self.body(x))


class Swaps(nn.Cell):
    """Takes one layer for the other, which is of the same shape."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(3, 3)
        self.second = nn.Dense(3, 3)

    def construct(self, x):
        return self.first(ops.tanh(self.second(x)))


class SwapsUnseen(Swaps):
    def construct(self, x):
        return ops.stop_gradient(self.first(ops.tanh(self.second(x))))


class SwapsRenamed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(3, 3), nn.Dense(3, 3)])

    def construct(self, x):
        return ops.stop_gradient(self.layers[1](ops.tanh(self.layers[0](x))))
