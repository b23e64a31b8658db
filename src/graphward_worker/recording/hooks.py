"""Puts the recorder into MindSpore: every call of a Cell, and every function that is handed to `mindspore.jit`, goes
through it and runs in PyNative.
"""

from __future__ import annotations

import atexit
import functools
import inspect
import os
import sys
import types
from typing import Any, Callable

import mindspore as ms

from ..graph import bare
from .recorder import MADE, Recorder

_JIT_NAMES = ("jit", "ms_function")


def install(request: dict[str, str]) -> Recorder:
    """Start to record; there is no way back in this process. A Cell that the script compiles ahead of its first call
    is not compiled either."""
    recorder = Recorder(request)
    stay_in_pynative()
    ms.nn.Cell.compile = lambda self, *args, **kwargs: None
    ms.nn.Cell.compile_and_run = lambda self, *args, **kwargs: self(*args, **kwargs)
    watch_cells(recorder)
    watch_jit(recorder)
    atexit.register(recorder.write_all)
    os.register_at_fork(after_in_child=recorder.forget)
    return recorder


def stay_in_pynative() -> None:
    """Whatever mode the script asks for."""
    from mindspore import context

    holder: Any = context._Context
    original = holder.set_mode

    def set_mode(self: Any, mode: int) -> None:
        if mode not in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
            original(self, mode)  # which raises what the user has to see
        original(self, ms.PYNATIVE_MODE)

    holder.set_mode = set_mode
    setters = getattr(holder, "setters", None)
    if isinstance(setters, dict) and "mode" in setters:
        setters["mode"] = set_mode
    if ms.get_context("mode") != ms.PYNATIVE_MODE:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def watch_cells(recorder: Recorder) -> None:
    """Note how each Cell is made and called."""
    cell: Any = ms.nn.Cell
    new, call = cell.__new__, cell.__call__

    @functools.wraps(new)
    def __new__(class_: Any, *args: Any, **kwargs: Any) -> Any:
        made = new(class_, *args, **kwargs)
        recorder.guard(recorder.note_making, made, args, kwargs)
        recorder.guard(_watch_own_call, recorder, class_)
        return made

    @functools.wraps(call)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        target = recorder.target(type(self))
        if target is None:
            return call(self, *args, **kwargs)
        return recorder.observe(target, self, args, kwargs, lambda: call(self, *args, **kwargs))

    cell.__new__ = __new__
    cell.__call__ = __call__


def _watch_own_call(recorder: Recorder, cls: Any) -> None:
    """A class of the project that replaces `Cell.__call__` may never reach it."""
    for base in cls.__mro__:
        if base is ms.nn.Cell:
            return
        own = vars(base).get("__call__")
        if isinstance(own, types.FunctionType) and not hasattr(own, MADE) and recorder.target(base) is not None:
            setattr(base, "__call__", _observed_call(recorder, own))  # noqa: B010 - mypy refuses the assignment


def _observed_call(recorder: Recorder, own: Any) -> Any:
    @functools.wraps(own)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        target = recorder.target(type(self))
        if target is None:
            return own(self, *args, **kwargs)
        return recorder.observe(target, self, args, kwargs, lambda: own(self, *args, **kwargs))

    setattr(__call__, MADE, True)
    return __call__


def watch_jit(recorder: Recorder) -> None:
    """Functions handed to `jit` run as they are, and their calls are noted."""
    replace_jit(lambda function: _plain(recorder, function))


def replace_jit(wrap: Callable[[Any], Any]) -> None:
    """From now on `jit` is `wrap` and its options mean nothing, wherever MindSpore's modules have it."""
    original = ms.jit

    @functools.wraps(original)
    def jit(function: Any = None, *args: Any, **options: Any) -> Any:
        return wrap if function is None else wrap(function)

    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "mindspore":
            for alias in _JIT_NAMES:
                if vars(module).get(alias) is original:
                    setattr(module, alias, jit)


def unwrapped(function: Any) -> Any:
    """What `jit(function)` is where nothing is compiled and nothing noted."""
    return function.__call__ if isinstance(function, ms.nn.Cell) else function


def _plain(recorder: Recorder, function: Any) -> Any:
    """What `jit(function)` is while recording."""
    if isinstance(function, ms.nn.Cell):
        return function.__call__
    if isinstance(function, types.MethodType):
        return types.MethodType(_plain(recorder, function.__func__), function.__self__)
    if not isinstance(function, types.FunctionType) or hasattr(function, "__wrapped_by_jit__"):
        return function
    inner = bare(function)
    target = recorder.target(inner) if isinstance(inner, types.FunctionType) else None

    @functools.wraps(function)
    def plain(*args: Any, **kwargs: Any) -> Any:
        receiver = _receiver(function, args)
        subject, noted = function, target
        if isinstance(receiver, ms.nn.Cell) and function.__name__ == "construct":
            # A call of the Cell; below `Cell.__call__` it was noted there.
            subject, noted = receiver, recorder.target(type(receiver))
        if noted is None:
            return function(*args, **kwargs)
        rest = args if receiver is None else args[1:]
        return recorder.observe(noted, subject, rest, kwargs, lambda: function(*args, **kwargs))

    plain.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    setattr(plain, "__wrapped_by_jit__", True)  # noqa: B010 - mypy refuses the assignment
    return plain


def _receiver(function: Any, args: tuple[Any, ...]) -> Any:
    """The instance that a method is called on, None for a function."""
    owned = "." in function.__qualname__ and not function.__qualname__.rpartition(".")[0].endswith("<locals>")
    return args[0] if owned and args and hasattr(type(args[0]), function.__name__) else None
