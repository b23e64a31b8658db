"""Initial values that cost nothing, for a search that only asks whether something runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore.common.initializer import Initializer

_SMALL = 1 << 16  # elements
_PERIOD = 4099  # a prime, so that the rows of a matrix differ
_CONSTANT = ("Zero", "One", "Constant")


def quick_initial_values() -> None:
    """From now on large random tensors repeat a short sequence. For one forked child: there is no way back."""
    draw = Initializer.__call__
    sequence = (((np.arange(_PERIOD) + 1) * 0.6180339887498949) % 1.0 - 0.5) * 0.05

    many = np.resize(sequence.astype(np.float32), _PERIOD * 64)

    def quick(self: Any, arr: np.ndarray) -> Any:
        if arr.size < _SMALL or type(self).__name__ in _CONSTANT or arr.dtype.kind != "f":
            return draw(self, arr)
        flat = arr.reshape(-1)  # a new array lies in one piece, so this is no copy
        if not np.shares_memory(flat, arr):
            return draw(self, arr)
        for start in range(0, flat.size, many.size):
            part = flat[start : start + many.size]
            part[...] = many[: part.size]
        return None

    Initializer.__call__ = quick
