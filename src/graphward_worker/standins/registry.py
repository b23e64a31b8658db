"""What a stand-in is, and the list of all of them."""

from __future__ import annotations

import functools
import importlib
import sys
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Callable

import mindspore as ms

Function = Callable[..., Any]

_OVERLOADS = "mindspore.ops.functional_overload"
_GROUPS = (
    "activations",
    "arrays",
    "convolution",
    "creation",
    "inplace",
    "linear",
    "losses",
    "methods",
    "normalisation",
    "pooling",
    "random",
    "randomness",
    "reductions",
    "resizing",
    "sorting",
)


@dataclass(frozen=True)
class StandIn:
    """A replacement for what `kind` says: a `kernel` (every primitive of this name that a module of MindSpore holds;
    the function takes what the primitive is called with), a `function` (of `mindspore.ops.functional_overload`, or
    else a dotted name), a `class` of primitives (by its dotted name), or a `method` of Tensor.

    `kernel` is the one without which the original does not work, as MindSpore's error names it. `example` calls the
    original on a few numbers. `compiles`: whether it works in Graph Mode too; otherwise the kernel is missing there."""

    kind: str
    name: str
    kernel: str
    function: Function
    example: Function
    compiles: bool = True

    @property
    def title(self) -> str:
        """How the verdict names it."""
        return f"Tensor.{self.name}" if self.kind == "method" else self.name.rpartition(".")[2]

    def original(self) -> Any:
        """The function or the method; None where this version has none of the name."""
        module, _, name = self.name.rpartition(".")
        owner = ms.Tensor if self.kind == "method" else sys.modules.get(module or _OVERLOADS)
        return getattr(owner, name, None)


_ALL: list[StandIn] = []


def kernel(name: str, example: Function, *, of: str | None = None) -> Callable[[Function], Function]:
    """The decorated function stands in for the primitive `name`; `example` gets the primitive. `of`: the kernel that
    MindSpore misses, where that is another one."""
    return _adder(StandIn("kernel", name, of or name, _nothing, example))


def function(name: str, kernel: str, example: Function) -> Callable[[Function], Function]:
    """The decorated function stands in for one that gets at its kernel without a primitive that a module holds."""
    return _adder(StandIn("function", name, kernel, _nothing, example))


def method(name: str, kernel: str, example: Function, *, compiles: bool = True) -> Callable[[Function], Function]:
    """The decorated function stands in for a method of Tensor, which calls its kernel without Python."""
    return _adder(StandIn("method", name, kernel, _nothing, example, compiles))


def primitive_class(name: str, kernel: str, example: Function) -> Callable[[Any], Any]:
    """The decorated Cell stands in for a class of primitives that the user's code makes instances of."""
    return _adder(StandIn("class", name, kernel, _nothing, example))


def _nothing() -> None:
    """Until the decorator knows the function."""


def _adder(entry: StandIn) -> Callable[[Function], Function]:
    def add(replacement: Function) -> Function:
        _ALL.append(replace(entry, function=replacement))
        return replacement

    return add


@cache
def all_standins() -> tuple[StandIn, ...]:
    """Every stand-in there is."""
    for group in _GROUPS:
        importlib.import_module(f"{__package__}.{group}")
    return tuple(_ALL)


def chosen(kernels: Any) -> list[StandIn]:
    """Those for the kernels that are named."""
    return [entry for entry in all_standins() if entry.kernel in kernels or entry.name in kernels]


def noted(entry: StandIn, used: set[str]) -> Function:
    """The stand-in as PyNative calls it: it says that it was. Graph Mode compiles what is wrapped."""

    if isinstance(entry.function, type):
        return _noted_class(entry, used)

    @functools.wraps(entry.function)
    def call(*args: Any, **kwargs: Any) -> Any:
        used.add(entry.title)
        return entry.function(*args, **kwargs)

    return call


def _noted_class(entry: StandIn, used: set[str]) -> Any:
    """The Cell that notes when one is made, whatever calls or compiles it."""
    made: Any = entry.function
    make = made.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        used.add(entry.title)
        make(self, *args, **kwargs)

    made.__init__ = __init__
    return made
