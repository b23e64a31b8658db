"""Originals for what a proof compares in a pair: containers, state, arguments, weights."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass, fields
from typing import Any, Optional

import numpy as np
from mindspore import Parameter, Tensor, nn, ops

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
    def construct(self, x):
        return answer(x * 2)


OtherKey = OtherLength = OtherNone = NoneForTensor = OtherLabel = OtherField = PlainTuple = OtherNumber = Same


class OtherParameter(nn.Cell):
    def __init__(self):
        super().__init__()
        self.average = Parameter(ops.zeros((3,)), name="average", requires_grad=False)

    def construct(self, x):
        self.average = self.average * 0.5 + ops.stop_gradient(x.mean(0))
        return x * 2


class OtherBuffer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.average = Tensor(np.zeros(3, np.float32))

    def construct(self, x):
        self.average = self.average * 0.5 + ops.stop_gradient(x.mean(0))
        return x * 2


class OtherRegistered(nn.Cell):
    def __init__(self):
        super().__init__()
        self.register_buffer("average", Tensor(np.zeros(3, np.float32)))

    def construct(self, x):
        ops.assign(self.average, self.average * 0.5 + ops.stop_gradient(x.mean(0)))
        return x * 2


class WritesIntoDict(nn.Cell):
    def construct(self, x, cache):
        cache["seen"] = x * 1
        return x * 2


class Nests(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(3, 4)
        self.norm = nn.LayerNorm((4,))
        self.second = nn.Dense(4, 3)

    def construct(self, x):
        return self.second(self.norm(self.first(x)))


class Swaps(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(3, 3)
        self.second = nn.Dense(3, 3)

    def construct(self, x):
        return self.second(ops.tanh(self.first(x)))


class SwapsUnseen(Swaps):
    """No gradient tells its layers apart."""

    def construct(self, x):
        return ops.stop_gradient(self.second(ops.tanh(self.first(x))))


class SwapsRenamed(SwapsUnseen):
    pass
