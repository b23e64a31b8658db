"""Finds inputs that a target accepts, when nobody declared any: a bounded search guided by what runs in PyNative.

What is found is a guess: the verdict says so.
"""

from __future__ import annotations

import inspect
import itertools
import os
import time
from typing import Any, Callable

import mindspore as ms

from . import graph, loading, messages, weights
from . import inputs as values
from .candidates import combinations
from .constructors import Unknown, constructor_arguments
from .signatures import optional, required
from .specs import Input

_ATTEMPTS = 80


class _NoInputs(Exception):
    """The search gave up; the text says why."""


def infer(request: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> None:
    """`request`: `tree`, `file`, `expr`, `train`, `budget` (seconds). Reports `specs` (texts), `expr` (with the
    constructor's arguments filled in) and `error` (stage `inputs` when the search failed)."""
    stage = "import"
    try:
        os.environ["MS_JIT"] = "0"
        weights.derive_initial_values()
        weights.seed(1)
        module = loading.load_module(request["tree"], request["file"])
        ms.set_context(mode=ms.PYNATIVE_MODE)
        stage = "construct"
        search = _Search(module, request)
        expr = search.construct()
        stage = "inputs"
        specs = search.find()
        report({"specs": specs, "expr": expr, "error": None})
    except (Exception, SystemExit) as error:
        if isinstance(error, Unknown):
            stage = "inputs"
        report({"specs": None, "expr": request["expr"], "error": messages.describe(error, stage, request["tree"])})


class _Search:
    def __init__(self, module: Any, request: dict[str, Any]):
        self.module = module
        self.request = request
        self.deadline = time.monotonic() + request["budget"]
        self.expr: str = request["expr"]
        self.target: Any = None
        self.call: Callable[..., Any] = _nothing

    def construct(self) -> str:
        """Make the target; the expression that made it."""
        named = loading.evaluate(self.module, self.expr)
        if not isinstance(named, type):
            self.target = named
            return self.expr
        first: Exception | None = None
        for arguments in constructor_arguments(named, self.module):
            expr = f"{self.expr}({arguments})" if arguments else self.expr
            weights.seed(1)
            try:
                self.target = loading.evaluate(self.module, f"{self.expr}({arguments})")
            except Exception as error:
                first = first or error
                continue
            return expr
        assert first is not None
        raise first

    def find(self) -> list[str]:
        """The specs of the first combination that PyNative accepts."""
        if isinstance(self.target, ms.nn.Cell) and self.request.get("train"):
            self.target.set_train(True)
        self.call = graph.bare(self.target)
        function = self.target.construct if isinstance(self.target, ms.nn.Cell) else self.call
        parameters = required(function)
        if parameters:
            return self.search(function, parameters)
        try:
            self.attempt([])
            return []
        except Exception:
            # Every argument may be left out, but not all of them.
            wanted = optional(function)
            if not wanted:
                raise
        return self.search(function, wanted[:1])

    def search(self, function: Callable[..., Any], parameters: list[inspect.Parameter]) -> list[str]:
        first: Exception | None = None
        for combination in itertools.islice(combinations(self.target, function, parameters), _ATTEMPTS):
            if time.monotonic() > self.deadline:
                break
            try:
                self.attempt(combination)
            except Exception as error:
                first = first or error
                continue
            return [str(item) for item in combination]
        names = ", ".join(parameter.name for parameter in parameters)
        reason = f"; PyNative says {messages.first_line(str(first))}" if first else ""
        raise _NoInputs(f"found no values for {names} that it accepts: declare them with --input{reason}") from first

    def attempt(self, combination: list[Input]) -> None:
        """Call with both variants, so that a value which fits by luck is not taken."""
        for variant in (0, 1):
            args, kwargs = values.arguments(combination, variant)
            weights.seed(100)
            _synchronise(self.call(*args, **kwargs))


def _nothing() -> None:
    """Stands for the target until there is one."""


def _synchronise(output: Any) -> None:
    """PyNative runs ahead of Python; an error shows when the value is asked for."""
    if isinstance(output, ms.Tensor):
        output.asnumpy()
    elif isinstance(output, dict):
        _synchronise(tuple(output.values()))
    elif isinstance(output, (tuple, list)):
        for item in output:
            _synchronise(item)
