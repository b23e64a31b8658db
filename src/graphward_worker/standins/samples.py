"""Small tensors for the examples that the originals are called with."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np


def floats(*shape: int) -> Any:
    """0.5, 1.5, ..."""
    return ms.Tensor(np.arange(int(np.prod(shape))).reshape(shape) + 0.5, ms.float32)


def integers(*shape: int, dtype: Any = ms.int64) -> Any:
    """Zeros and ones in turn."""
    return ms.Tensor(np.arange(int(np.prod(shape))).reshape(shape) % 2, dtype)


def booleans(*shape: int) -> Any:
    """True and False in turn."""
    return ms.Tensor(np.arange(int(np.prod(shape))).reshape(shape) % 2 == 0)
