"""Initial values that do not depend on the order in which layers are made.

A layer that a rewrite moved from `construct` to `__init__`, or up a line, is initialised at another point of the random
stream. To compare both versions, each initialiser draws from a generator that is seeded by what it fills: its own
class, the shape and the dtype. The distribution, and so the scale, stays what the user asked for.
"""

from __future__ import annotations

import random
import time
import zlib
from typing import Any

import mindspore as ms
import numpy as np
from mindspore.common.initializer import Initializer

from .record import to_numpy


def derive_initial_values() -> None:
    """From now on initial values derive from shape and dtype. For one forked child: there is no way back."""
    draw = Initializer.__call__

    def derived(self: Any, arr: np.ndarray) -> Any:
        before = np.random.get_state()
        key = f"{type(self).__name__}{arr.shape}{arr.dtype}"
        np.random.seed(zlib.crc32(key.encode()))
        try:
            return draw(self, arr)
        finally:
            np.random.set_state(before)

    Initializer.__call__ = derived


def tell_apart(cell: Any) -> None:
    """Parameters that hold the same values, as layers of one shape do, get different ones, by the order of their names:
    with the same names on both sides, a rewrite that takes one layer for another then shows in what it returns."""
    seen: dict[Any, int] = {}
    for _, parameter in sorted(cell.parameters_and_names(), key=lambda item: item[0]):
        value = to_numpy(parameter)
        if value.dtype.kind != "f":
            continue
        twins = seen.get(key := (value.shape, str(parameter.dtype), value.tobytes()), 0)
        seen[key] = twins + 1
        if twins:
            other = np.roll(value.reshape(-1)[::-1], twins).reshape(value.shape)
            parameter.set_data(ms.Tensor(other, dtype=parameter.dtype))


def jump_clock(call: int) -> None:
    """From now on `time.time()` is that of a run some days later for each call, as if there were time between calls:
    a clock that a graph read once, while compiling, then shows, and one that `__call__` reads is right."""
    if call:
        now, ahead = _NOW, call * _DAYS
        time.time = lambda: now() + ahead


_NOW = time.time
_DAYS = 1e6  # seconds; large enough to show when it is added to a float32 tensor


def seed(number: int) -> None:
    """Seed every generator that user code may draw from."""
    random.seed(number)
    np.random.seed(number)
    ms.set_seed(number)
    np.random.seed(number)
