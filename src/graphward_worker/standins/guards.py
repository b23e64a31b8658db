"""What Graph Mode compiles in the place of a method call: the stand-in for a tensor, the method for anything else."""

from __future__ import annotations

from typing import Any, Callable

from mindspore import Tensor


def guard(name: str, standin: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the receiver and the arguments."""

    def call(value, *args, **kwargs):
        if isinstance(value, Tensor):
            return standin(value, *args, **kwargs)
        return getattr(value, name)(*args, **kwargs)

    return call
