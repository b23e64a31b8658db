"""Values for the inputs of a call: deterministic, different from call to call, without ties.

The first variant is positive (so that a logarithm or a root has a value), the second has mixed signs and a negative
sum (so that a branch on a sum goes the other way), later ones shift the same sequence.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import mindspore as ms
import numpy as np

from .recording import supply
from .specs import DTYPES, Input, Literal, TensorSpec, parse_input

_GOLDEN = 0.6180339887498949  # its multiples modulo 1 are spread evenly and never repeat
_DEFAULT_BOUND = 3  # small enough for an index into most things


def variants(calls: int) -> list[int]:
    """Which variant each call gets: A, B, A again (what stale state would spoil), then new ones."""
    return [0, 1, 0, *range(2, calls)][: max(2, calls)]


def of_request(request: dict[str, Any]) -> list[Input]:
    """The inputs of a play: those of a recorded call, else the specs."""
    if request.get("recorded") is not None:
        return supply.inputs(request["recorded"], request["tree"])
    return [parse_input(text) for text in request["inputs"]]


def arguments(inputs: list[Input], variant: int) -> tuple[list[Any], dict[str, Any]]:
    """Fresh positional and keyword arguments for one call."""
    counter = iter(range(1_000_000))
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for item in inputs:
        value = _build(item.spec, variant, counter)
        if item.name is None:
            args.append(value)
        else:
            kwargs[item.name] = value
    return args, kwargs


def _build(spec: Any, variant: int, counter: Iterator[int]) -> Any:
    if isinstance(spec, supply.Recorded):
        return spec.build(variant, next(counter))
    if isinstance(spec, Literal):
        return copy.deepcopy(spec.value)
    if isinstance(spec, TensorSpec):
        return ms.Tensor(_array(spec, variant, next(counter)), dtype=getattr(ms, _ms_name(spec.dtype)))
    items = [_build(item, variant, counter) for item in spec.items]
    if spec.kind == "mutable":
        return ms.mutable(items[0])
    if spec.kind == "dict":
        return dict(zip(spec.keys, items))
    return tuple(items) if spec.kind == "tuple" else items


def _ms_name(dtype: str) -> str:
    name = DTYPES[dtype]
    return "bool_" if name == "bool" else name


def _array(spec: TensorSpec, variant: int, leaf: int) -> np.ndarray:
    """NumPy values of the spec's shape; bfloat16 comes as float32, which MindSpore then rounds."""
    count = int(np.prod(spec.shape, dtype=np.int64))
    spread = ((np.arange(count) + 1) * _GOLDEN + 0.37 * leaf + 0.29 * variant) % 1.0
    name = DTYPES[spec.dtype]
    if name == "bool":
        flat = spread < 0.5
    elif name.startswith(("int", "uint")):
        bound = spec.bound or (256 if name == "uint8" else _DEFAULT_BOUND)
        flat = np.floor(spread * bound).astype(np.int64).clip(0, bound - 1)
    elif name.startswith("complex"):
        flat = _floats(spread, variant) + 1j * _floats(spread[::-1], variant)
    else:
        flat = _floats(spread, variant)
    kind = "float32" if name == "bfloat16" else name
    return flat.reshape(spec.shape).astype(kind)


def _floats(spread: np.ndarray, variant: int) -> np.ndarray:
    if variant % 2 == 0:
        return 0.1 + 1.9 * spread
    mixed = -2.2 + 3.4 * spread
    return -np.abs(mixed) if mixed.size == 1 else mixed


def as_mutable(value: Any) -> Any:
    """A container of tensors as `mindspore.mutable`: unless it is, its *identity* is part of the compiled graph's
    key and each call compiles again, whatever the function does."""
    if isinstance(value, (list, tuple, dict)) and not hasattr(value, "_fields"):
        leaves = list(_leaves(value))
        if leaves and all(isinstance(leaf, ms.Tensor) for leaf in leaves):
            return ms.mutable(value)
    return value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value
