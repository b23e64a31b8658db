"""Gradients of a scalar made from all outputs, with respect to every float input and every trainable parameter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

import mindspore as ms
import numpy as np

from . import inputs as values
from .record import to_numpy

_CUT_LIMIT = 8  # gradients that are looked into

Gradients = dict[str, np.ndarray]
"""`input[0]`, `parameter weight` -> gradient. Inputs count float tensors only, from left to right."""


class Question:
    """What to differentiate in one call: the arguments with their float leaves, and the trainable parameters."""

    def __init__(self, target: Any, args: list[Any], kwargs: dict[str, Any]):
        self.target = target
        self.args = args
        self.kwargs = kwargs
        self.leaves = [leaf for leaf in leaves_of((args, kwargs)) if is_float(leaf)]
        owner = target if isinstance(target, ms.nn.Cell) else getattr(target, "__self__", None)
        found = owner.parameters_and_names() if isinstance(owner, ms.nn.Cell) else ()
        self.parameters = [(name, p) for name, p in found if p.requires_grad and is_float(p)]

    @property
    def weights(self) -> Any:
        """The parameters as `mindspore.grad` wants them."""
        return ms.ParameterTuple([p for _, p in self.parameters]) if self.parameters else None

    @property
    def unseen(self) -> bool:
        """Whether a float tensor comes in a dict or by keyword: around a graph, PyNative may give it a zero gradient
        without a word."""
        return any(map(is_float, leaves_of([self.kwargs, list(_dicts(self.args))])))

    def zeros(self) -> Gradients:
        """The answer when no output is a float tensor."""
        return self.answer([np.zeros(t.shape, np.float32) for t in [*self.leaves, *(p for _, p in self.parameters)]])

    def unpack(self, found: Any) -> Gradients:
        """The answer in what `mindspore.grad` returned for all leaves and weights."""
        if self.leaves and self.parameters:
            of_inputs, of_parameters = found
        else:
            of_inputs, of_parameters = (found, ()) if self.leaves else ((), found)
        return self.answer([to_numpy(value) for value in (*_as_tuple(of_inputs), *_as_tuple(of_parameters))])

    def answer(self, arrays: list[np.ndarray]) -> Gradients:
        """Arrays in the order of leaves and parameters, by name."""
        names = [f"input[{i}]" for i in range(len(self.leaves))]
        return dict(zip(names + [f"parameter {name}" for name, _ in self.parameters], arrays))


def around(question: Question, call: Callable[..., Any]) -> Gradients:
    """Differentiate from PyNative around `call`, which may be a graph: both versions by the same code."""

    def loss(*tensors: ms.Tensor) -> ms.Tensor:
        replacement = dict(zip(map(id, question.leaves), tensors))
        args, kwargs = _replaced((question.args, question.kwargs), replacement)
        return _scalar(call(*args, **kwargs))

    positions = tuple(range(len(question.leaves))) if question.leaves else None
    return question.unpack(ms.grad(loss, positions, question.weights)(*question.leaves))


def cut(question: Question, call: Callable[..., Any], found: Gradients, outputs: Callable[[], None]) -> list[str]:
    """Which of the gradients that are zero throughout are cut: the loss changes with the value all the same. `outputs`
    makes the state of random generators the same before each call."""

    def loss(args: Any, kwargs: Any) -> float:
        outputs()
        return float(_scalar(call(*args, **kwargs)).asnumpy())

    zero = [name for name, array in found.items() if array.size and not array.any()][:_CUT_LIMIT]
    if not zero:
        return []
    usual = loss(question.args, question.kwargs)
    names = []
    for i, leaf in enumerate(question.leaves):
        if f"input[{i}]" in zero:
            args, kwargs = _replaced((question.args, question.kwargs), {id(leaf): _moved(leaf)})
            if loss(args, kwargs) != usual:
                names.append(f"input[{i}]")
    for name, parameter in question.parameters:
        if f"parameter {name}" in zero:
            before = parameter.value().copy()
            parameter.set_data(_moved(before))
            if loss(question.args, question.kwargs) != usual:
                names.append(f"parameter {name}")
            parameter.set_data(before)
    return names


def _moved(value: ms.Tensor) -> ms.Tensor:
    return ms.Tensor(to_numpy(value) * 1.25 + 0.125, dtype=value.dtype)


def weights_of(shape: tuple[int, ...]) -> ms.Tensor:
    """A fixed cosine for each element, so that errors do not cancel in the sum."""
    count = int(np.prod(shape, dtype=np.int64))
    return ms.Tensor(np.cos(np.arange(count) * 0.7 + 0.3).reshape(shape).astype(np.float32))


def _scalar(output: Any) -> ms.Tensor:
    total = ms.Tensor(0.0, ms.float32)
    for leaf in leaves_of(output):
        if is_float(leaf):
            total = total + (leaf.astype(ms.float32) * weights_of(leaf.shape)).sum()
    return total


def is_float(value: Any) -> bool:
    """Whether a value is a tensor that has a gradient."""
    return isinstance(value, ms.Tensor) and value.dtype in (ms.float16, ms.float32, ms.float64, ms.bfloat16)


def leaves_of(value: Any) -> Iterator[Any]:
    """What nested containers and dataclasses hold, from left to right."""
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves_of(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves_of(item)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from leaves_of(getattr(value, name))
    else:
        yield value


def _dicts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _dicts(item)


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
