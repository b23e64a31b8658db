"""Finds inputs that a target accepts, when nobody declared any: a bounded search guided by what runs in PyNative.

What is found is a guess: the verdict says so.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any, Callable

import mindspore as ms

from . import graph, loading, messages, weights
from .constructors import Unknown
from .holders import from_holders
from .quick import quick_initial_values
from .search import Search, lacks_kernel

_OWN_SHARE = 0.6  # of the time; the rest is for the Cells that hold the target


def infer(request: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> None:
    """`request`: `tree`, `file`, `expr`, `train`, `budget` (seconds). Reports `specs` (texts), `expr` (with the
    constructor's arguments filled in), `notes` and `error` (stage `inputs` when the search failed)."""
    try:
        os.environ["MS_JIT"] = "0"
        weights.derive_initial_values()
        weights.seed(1)
        module = loading.load_module(request["tree"], request["file"])
    except (Exception, SystemExit) as error:
        report(_failed(request, error, "import"))
        return
    infer_in(module, request, report)


def infer_in(module: Any, request: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> None:
    """The same for a module that is there already."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    graph.run_synchronously()
    quick_initial_values()
    started = time.monotonic()
    deadline = started + request["budget"]
    train = bool(request.get("train"))
    search = Search(module, request["expr"], train=train, deadline=started + _OWN_SHARE * request["budget"])
    try:
        search.run()
    except (Exception, SystemExit) as error:
        report(_failed(request, error, "inputs" if isinstance(error, Unknown) else search.stage))
        held = None
        if not lacks_kernel(error):
            with contextlib.suppress(Exception, SystemExit):  # the error of the target itself stays
                held = from_holders(module, request["expr"], train, deadline)
        if held is None:
            return
        search = held
    report({"specs": search.specs, "expr": search.expr, "notes": search.notes, "error": None})


def _failed(request: dict[str, Any], error: BaseException, stage: str) -> dict[str, Any]:
    described = messages.describe(error, stage, request["tree"])
    return {"specs": None, "expr": request["expr"], "notes": [], "error": described}
