"""What the parent does once so that no child has to: load what a first compilation loads, and settle the heap.

Nothing here compiles or runs an operator: a fork after that hangs.
"""

from __future__ import annotations

import contextlib
import gc
import importlib

_LATE = (
    # Imported by MindSpore when it compiles, or differentiates, for the first time.
    "mindspore.ops._grad_experimental",
    "mindspore.ops.tensor_method",
    "asttokens.mark_tokens",
)


def settle() -> None:
    """Call after importing MindSpore and before the first fork."""
    for name in _LATE:
        with contextlib.suppress(ImportError):  # a version that keeps it elsewhere loads it in the child
            importlib.import_module(name)
    # A collection in a child would write to every object of the parent and so copy half of its memory.
    gc.collect()
    gc.freeze()
