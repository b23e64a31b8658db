"""Gradients of a scalar made from all outputs, with respect to every float input and every trainable parameter."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import mindspore as ms
import numpy as np

from . import inputs as values
from .record import to_numpy


def gradients(
    target: Any, call: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]
) -> dict[str, np.ndarray] | None:
    """Name (`input[0]`, `parameter weight`) -> gradient; None when there is nothing to differentiate.

    The scalar is the sum of all float outputs, each element times a fixed cosine, so that errors do not cancel. Works
    in PyNative around `call`, which may be a graph: both versions are differentiated by the same code.
    """
    leaves = [leaf for leaf in _leaves((args, kwargs)) if _is_float(leaf)]
    parameters = _trainable(target)
    if not leaves and not parameters:
        return None
    names = [f"input[{i}]" for i in range(len(leaves))]

    def loss(*tensors: ms.Tensor) -> ms.Tensor:
        replacement = dict(zip(map(id, leaves), tensors))
        new_args, new_kwargs = _replaced((args, kwargs), replacement)
        return _scalar(call(*new_args, **new_kwargs))

    weights = ms.ParameterTuple([parameter for _, parameter in parameters]) if parameters else None
    positions = tuple(range(len(leaves))) if leaves else None
    found = ms.grad(loss, positions, weights)(*leaves)
    if leaves and parameters:
        of_inputs, of_parameters = found
    else:
        of_inputs, of_parameters = (found, ()) if leaves else ((), found)
    result = dict(zip(names, map(_host, _as_tuple(of_inputs))))
    result.update(zip((f"parameter {name}" for name, _ in parameters), map(_host, _as_tuple(of_parameters))))
    return result


def _trainable(target: Any) -> list[tuple[str, ms.Parameter]]:
    owner = target if isinstance(target, ms.nn.Cell) else getattr(target, "__self__", None)
    if not isinstance(owner, ms.nn.Cell):
        return []
    return [(name, p) for name, p in owner.parameters_and_names() if p.requires_grad and _is_float(p)]


def _scalar(output: Any) -> ms.Tensor:
    total = ms.Tensor(0.0, ms.float32)
    for leaf in _leaves(output):
        if _is_float(leaf):
            count = int(np.prod(leaf.shape, dtype=np.int64))
            weight = np.cos(np.arange(count) * 0.7 + 0.3).reshape(leaf.shape).astype(np.float32)
            total = total + (leaf.astype(ms.float32) * ms.Tensor(weight)).sum()
    return total


def _is_float(value: Any) -> bool:
    return isinstance(value, ms.Tensor) and value.dtype in (ms.float16, ms.float32, ms.float64, ms.bfloat16)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from _leaves(getattr(value, name))
    else:
        yield value


def _replaced(value: Any, replacement: dict[int, Any]) -> Any:
    """A copy of nested arguments with some leaves exchanged; what was mutable stays mutable."""
    if id(value) in replacement:
        return replacement[id(value)]
    if isinstance(value, dict):
        copy: Any = {key: _replaced(item, replacement) for key, item in value.items()}
    elif isinstance(value, (list, tuple)):
        items = [_replaced(item, replacement) for item in value]
        copy = items if isinstance(value, list) else tuple(items)
    else:
        return value
    return values.as_mutable(copy) if type(value).__module__.endswith(".mutable") else copy


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _host(value: Any) -> np.ndarray:
    return to_numpy(value)
