"""Stand-ins: what writes into a tensor. In PyNative only: a graph has no other way to write into a tensor in place."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import ops

from .random import drawn
from .registry import method
from .samples import booleans, floats


def _written(tensor: Any, values: Any) -> Any:
    """The tensor, now with these values (a tensor, or a NumPy array or scalar), which keep its dtype."""
    if not isinstance(values, ms.Tensor):
        values = ms.Tensor(np.broadcast_to(np.asarray(values), tensor.shape))
    values = ops.broadcast_to(values.astype(tensor.dtype), tensor.shape)
    if isinstance(tensor, ms.Parameter):
        tensor.set_data(values)
    else:
        tensor.assign_value(values)
    return tensor


@method("fill_", "InplaceFillScalar", lambda fill: fill(floats(2, 3), 1.0), compiles=False)
def fill_(self, value):
    return _written(self, value)


@method("zero_", "InplaceZero", lambda zero: zero(floats(2, 3)), compiles=False)
def zero_(self):
    return _written(self, 0)


@method("normal_", "InplaceNormal", lambda normal: normal(floats(2, 3)), compiles=False)
def normal_(self, mean=0, std=1, *, generator=None):
    return _written(self, drawn("normal", self.shape, mean, std))


@method("uniform_", "InplaceUniform", lambda uniform: uniform(floats(2, 3)), compiles=False)
def uniform_(self, from_=0, to=1, *, generator=None):
    return _written(self, drawn("uniform", self.shape, from_, to))


@method(
    "masked_fill_",
    "InplaceMaskedFillScalar",
    lambda fill: fill(floats(2, 3), booleans(2, 3), 1.0),
    compiles=False,
)
def masked_fill_(self, mask, value):
    return _written(self, ops.masked_fill(self, mask, value))
