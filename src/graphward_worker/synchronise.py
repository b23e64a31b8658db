"""Waiting for the device."""

from __future__ import annotations

from typing import Any


def synchronise(value: Any) -> None:
    """PyNative runs ahead of Python; an error shows when the value is asked for. Containers are entered."""
    if hasattr(value, "asnumpy"):
        value.asnumpy()
    elif isinstance(value, dict):
        synchronise(tuple(value.values()))
    elif isinstance(value, (tuple, list)):
        for item in value:
            synchronise(item)
