"""`graphward bench --ops` under the user's interpreter: times every pair of operators.py and prints JSON lines.

Started by path, with nothing of Graphward but this folder. A line is one pair at one size, or a failure. The forms of
a pair are called in turn, so that a busy machine slows all of them alike.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np

from .operators import PAIRS, Pair

SIZES = ("small", "medium", "large")
_FORMS = ("pynative", "hand", "native")
_LEAST = 7  # calls of each form


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.8)
    parser.add_argument("--out", required=True)
    asked = parser.parse_args(arguments)
    with open(asked.out, "w", encoding="utf-8") as out:
        _write(out, {"mindspore": ms.__version__, "numpy": np.__version__, "cores": os.cpu_count(),
                     "pairs": len(PAIRS)})  # fmt: skip
        for step in range(asked.start, len(PAIRS) * len(SIZES)):
            pair, size = PAIRS[step // len(SIZES)], step % len(SIZES)
            if asked.only and pair.name != asked.only:
                continue
            line = {"step": step, "name": pair.name, "form": pair.form, "size": SIZES[size]}
            _write(out, {**line, "begun": True})
            _write(out, {**line, **_measured(pair, size, asked.seconds)})
    sys.stdout.flush()
    # An interpreter that has compiled may fail while it shuts down.
    os._exit(0)


def _write(out: Any, line: dict[str, Any]) -> None:
    out.write(json.dumps(line) + "\n")
    out.flush()


def _measured(pair: Pair, size: int, seconds: float) -> dict[str, Any]:
    """Shapes, the largest difference, and per form the seconds of a forward call and of a call with gradient; or the
    `error`, and in which form."""
    inputs = pair.inputs(size)
    forms: dict[str, Callable[..., Any]] = {}
    forward: dict[str, Any] = {}
    for form in _FORMS:
        function = pair.native if form == "native" else pair.hand
        forms[form] = function if form == "pynative" else ms.jit(function)
        try:
            forward[form] = forms[form](*inputs).asnumpy()
        except Exception as error:
            return {"error": f"{type(error).__name__}: {_first_line(error)}", "where": form}
    found: dict[str, Any] = {"shapes": [list(value.shape) for value in inputs]}
    found["difference"] = float(np.max(np.abs(forward["hand"] - forward["native"])))
    found["forward"] = _times(forms, inputs, seconds)
    try:
        graded = {form: _with_gradient(pair.native if form == "native" else pair.hand, form) for form in _FORMS}
        for function in graded.values():
            _wait(function(*inputs))
        found["gradient"] = _times(graded, inputs, seconds)
    except Exception as error:
        found["gradient_error"] = f"{type(error).__name__}: {_first_line(error)}"
    return found


def _first_line(error: Exception) -> str:
    """The first line of a message that holds words."""
    return next((line.strip() for line in str(error).splitlines() if any(c.isalpha() for c in line)), "")


def _with_gradient(function: Callable[..., Any], form: str) -> Callable[..., Any]:
    def loss(*values: Any) -> Any:
        return function(*values).sum()

    graded = ms.value_and_grad(loss, 0)

    def step(*values: Any) -> Any:
        return graded(*values)

    return step if form == "pynative" else ms.jit(step)


def _wait(value: Any) -> None:
    """PyNative runs ahead of Python."""
    if isinstance(value, tuple):
        for item in value:
            _wait(item)
    else:
        value.asnumpy()


def _times(
    forms: dict[str, Callable[..., Any]], inputs: tuple[Any, ...], seconds: float
) -> dict[str, dict[str, float]]:
    """Per form the minimum and the median of the seconds of one call."""
    taken: dict[str, list[float]] = {form: [] for form in forms}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(taken["native"]) < _LEAST:
        for form, function in forms.items():
            if form == "pynative" and (len(taken[form]) >= _LEAST or sum(taken[form]) > seconds):
                continue
            start = time.perf_counter()
            _wait(function(*inputs))
            taken[form].append(time.perf_counter() - start)
    return {form: {"min": min(times), "median": statistics.median(times)} for form, times in taken.items()}
