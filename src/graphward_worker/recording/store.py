"""Writes what was recorded, whole files at a time, so that a process may die at any moment."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

import numpy as np

_BYTES = 1 << 18
"""An array up to this size is kept with its elements; one of integers or booleans, which mean something, up to four
times as much."""
_TOTAL = 1 << 26
"""Bytes of elements that one process keeps altogether."""


class Store:
    """`folder` is that of the run; each process writes into a folder of its own below it."""

    def __init__(self, folder: str):
        self.folder = folder
        self.kept = 0

    def write(self, name: str, data: dict[str, Any]) -> None:
        """Write, or replace, `name`.json."""
        text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
        self._put(f"{name}.json", text.encode())

    def array(self, array: np.ndarray) -> str | None:
        """Keep the elements; the file's name relative to the folder of the run, None when they are too many."""
        limit = _BYTES * (1 if array.dtype.kind in "fc" else 4)
        if array.dtype.kind not in "biufc" or array.nbytes > limit or self.kept + array.nbytes > _TOTAL:
            return None
        contiguous = np.ascontiguousarray(array)
        digest = hashlib.blake2b(contiguous.tobytes(), digest_size=12)
        digest.update(f"{array.dtype}{array.shape}".encode())
        name = f"{digest.hexdigest()}.npy"
        path = os.path.join(self._own(), name)
        if not os.path.exists(path):
            partial = f"{path}.partial"
            with open(partial, "wb") as file:
                np.save(file, array, allow_pickle=False)
            os.replace(partial, path)
            self.kept += array.nbytes
        return f"{os.getpid()}/{name}"

    def _put(self, name: str, data: bytes) -> None:
        path = os.path.join(self._own(), name)
        partial = f"{path}.partial"
        with open(partial, "wb") as file:
            file.write(data)
        os.replace(partial, path)

    def _own(self) -> str:
        own = os.path.join(self.folder, str(os.getpid()))
        os.makedirs(own, exist_ok=True)
        return own
