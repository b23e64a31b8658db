"""`graphward bench TARGET` under the user's interpreter: one process, one version, one list of measurements.

Started by `start.py`. Reads a request, writes the seconds that each step took and what it saw.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import resource
import statistics
import sys
import time
import warnings
from typing import Any, Callable

import mindspore as ms
import numpy as np

from .. import graph, loading, weights
from .. import inputs as values
from ..gradients import is_float, leaves_of, weights_of
from ..record import to_numpy
from ..specs import parse_input

_STEPS = 7  # calls that the step time is the median of


def main(arguments: list[str]) -> None:
    """`--request FILE --out FILE`; see `_measure`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--request", required=True)
    parser.add_argument("--out", required=True)
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    with open(asked.request, encoding="utf-8") as file:
        request = json.load(file)
    try:
        found = _measure(request)
    except Exception as error:
        found = {"error": f"{type(error).__name__}: {error}"}
    with open(asked.out, "w", encoding="utf-8") as file:
        json.dump(found, file)
    sys.stdout.flush()
    # An interpreter that has compiled may fail while it shuts down.
    os._exit(0)


class _Compilations:
    """Counts the graphs that are compiled."""

    def __init__(self) -> None:
        self._phases: set[str] = set()
        for executor in graph.EXECUTORS:
            self._patch(executor)

    def _patch(self, executor: Any) -> None:
        original = executor.compile

        def counted(this: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(this, *args, **kwargs)
            self._phases.add(result[0] if isinstance(result, tuple) else result)
            return result

        counted.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
        executor.compile = counted

    @property
    def count(self) -> int:
        return len(self._phases)


def _measure(request: dict[str, Any]) -> dict[str, Any]:
    """`request`: `tree`, `file`, `expr`, `inputs` (specs), `gradient` (whether a step differentiates), `head` (the
    attribute that gets a new Cell, or empty), `more` (whether to go on after the first call).

    Returns seconds: `first`, and with `more`: `step`, `head` (until a new head's output is there), `batch` (the
    first call with one row less) and `head_batch` (of the head with two rows less; of the whole where the head is no
    graph of its own, since nothing else compiles the head for them); `compiled`, the graphs of each, `cpu`, its CPU
    seconds; `stale` (whether a new head changed nothing until the whole was made anew) and `memory` (peak, in MB).
    """
    compilations = _Compilations()
    module = loading.load_module(request["tree"], request["file"])
    ms.set_context(mode=ms.PYNATIVE_MODE)
    clock = _Clock(compilations)
    make = _maker(module, request["expr"])
    target = make()
    specs = [parse_input(text) for text in request["inputs"]]
    args, kwargs = values.arguments(specs, 0)
    step = _differentiated if request["gradient"] else _forward
    clock.time("first", lambda: step(target, args, kwargs))
    if request["more"]:
        times = [clock.seconds(lambda: step(target, args, kwargs)) for _ in range(_STEPS)]
        clock.found["step"] = statistics.median(times)
        if request["head"]:
            _new_head(request["head"], target, make, step, args, kwargs, clock)
        _other_batch(request["head"], target, step, args, kwargs, clock)
    clock.found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return clock.found


class _Clock:
    def __init__(self, compilations: _Compilations):
        self._compilations = compilations
        self.found: dict[str, Any] = {"compiled": {}, "cpu": {}}

    def seconds(self, call: Callable[[], Any]) -> float:
        start = time.perf_counter()
        _wait(call())
        return time.perf_counter() - start

    def time(self, name: str, call: Callable[[], Any]) -> None:
        before, spent = self._compilations.count, time.process_time()
        self.found[name] = self.seconds(call)
        self.found["cpu"][name] = time.process_time() - spent
        self.found["compiled"][name] = self._compilations.count - before


def _maker(module: Any, expr: str) -> Callable[[], Any]:
    def make() -> Any:
        weights.seed(1)
        found = loading.evaluate(module, expr)
        return found() if isinstance(found, type) else found

    return make


def _forward(target: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return target(*args, **kwargs)


def _differentiated(target: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Outputs and gradients, as a training step asks for them; the gradient of all float inputs where there are no
    weights."""
    trained = ms.ParameterTuple(target.trainable_params()) if isinstance(target, ms.nn.Cell) else None

    def loss(*given: Any) -> Any:
        outputs = [leaf for leaf in leaves_of(target(*given, **kwargs)) if is_float(leaf)]
        return sum((leaf.astype(ms.float32) * weights_of(leaf.shape)).sum() for leaf in outputs)

    floats = tuple(i for i, value in enumerate(args) if isinstance(value, ms.Tensor) and is_float(value))
    return ms.value_and_grad(loss, None if trained else floats, trained)(*args)


def _wait(result: Any) -> list[np.ndarray]:
    return [to_numpy(leaf) for leaf in leaves_of(result) if isinstance(leaf, ms.Tensor)]


def _new_head(
    name: str, target: Any, make: Callable[[], Any], step: Callable[..., Any], args: list[Any], kwargs: dict[str, Any],
    clock: _Clock,
) -> None:  # fmt: skip
    """The notebook: another head on the same encoder. What goes on with the old head is made anew around the encoder,
    which is what its user has to do."""
    other = make()
    head = getattr(other, name)
    for parameter in head.get_parameters():
        parameter.set_data(ms.Tensor(np.cos(np.arange(parameter.size)).reshape(parameter.shape), parameter.dtype))
    setattr(target, name, head)
    clock.time("head", lambda: step(target, args, kwargs))
    got, want = _wait(step(target, args, kwargs)), _eager(lambda: step(target, args, kwargs))
    clock.found["stale"] = not all(a.shape == b.shape and np.allclose(a, b, 1e-3, 1e-4) for a, b in zip(got, want))
    if clock.found["stale"]:
        for child, cell in target.name_cells().items():
            setattr(other, child, cell)
        clock.time("head", lambda: step(other, args, kwargs))


def _eager(call: Callable[[], Any]) -> list[np.ndarray]:
    """What the call gives in PyNative."""
    os.environ["MS_JIT"] = "0"
    try:
        return _wait(call())
    finally:
        del os.environ["MS_JIT"]


def _other_batch(
    head: str, target: Any, step: Callable[..., Any], args: list[Any], kwargs: dict[str, Any], clock: _Clock
) -> None:
    """One row less, in everything that has as many rows as the first tensor; two for the head alone, which sees the
    first with the whole."""
    rows = next((value.shape[0] for value in args if isinstance(value, ms.Tensor) and value.ndim), 0)
    if rows < 3:
        return
    seen: list[Any] = []
    if head:
        part = getattr(target, head)
        handle = part.register_forward_pre_hook(lambda cell, given: seen.append(given))
        _eager(lambda: target(*args, **kwargs))
        handle.remove()

    def less(value: Any, by: int = 1) -> Any:
        cut = isinstance(value, ms.Tensor) and value.ndim and value.shape[0] == rows
        return ms.Tensor(to_numpy(value)[:-by], value.dtype) if cut else value

    if seen and not isinstance(seen[0], dict):
        given = [less(value, 2) for value in seen[0]]
        clock.time("head_batch", lambda: step(part, given, {}))
        if not clock.found["compiled"]["head_batch"]:  # it is no graph of its own
            rest = [less(value, 2) for value in args]
            others = {key: less(value, 2) for key, value in kwargs.items()}
            clock.time("head_batch", lambda: step(target, rest, others))
    fewer = [less(value) for value in args]
    named = {key: less(value) for key, value in kwargs.items()}
    clock.time("batch", lambda: step(target, fewer, named))
