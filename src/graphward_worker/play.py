"""One performance of a target in one process: load, construct, call, differentiate, and record all of it.

Runs in a forked child, which ends afterwards; so it may patch and seed at will.
"""

from __future__ import annotations

import os
from typing import Any, Callable

import mindspore as ms
import numpy as np

from . import gradients, graph, ingraph, loading, messages, weights
from . import inputs as values
from .record import has_float_tensor, record, state_of
from .recording import hooks, supply

PYNATIVE, STRICT, LAX = "pynative", "strict", "lax"
UNITS = "units"
"""Plain Python that calls graphs of its own, each of them under STRICT."""


def play(request: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> None:
    """`request`: `tree`, `file`, `expr`, `inputs` (spec texts), `mode`, `calls`, `gradients`, `weights`, `train`, `log`
    (where stderr goes), `distinct` (no two parameters hold the same values), `units` (the target, or what it became, is
    several graphs: two more calls, with the training flag turned and turned back). Reports the record after the calls
    and again after the gradients:

    `calls` (each `output`, `arguments` after the call, `compiled`), `before` and `after` (state), `nodes`,
    `interpreted`, `in_place` (see `graph`), `gradients` (variant -> name -> array, or None), `cut` (names of those that
    are zero though the outputs depend on the value), `error` (see `messages.describe`) of the stage where
    it ended.
    """
    performance = Performance(request, report)
    try:
        performance.run()
    except (Exception, SystemExit) as error:
        performance.fail(error)


class Performance:
    """What `play` does, step by step."""

    def __init__(self, request: dict[str, Any], report: Callable[[dict[str, Any]], None]):
        self.request = request
        self.report = report
        self.stage = "import"
        self.tree: str = request["tree"]
        self.graph_mode = request["mode"] != PYNATIVE
        self.units = request["mode"] == UNITS
        self.strict = request["mode"] == STRICT
        self.result: dict[str, Any] = {"calls": [], "nodes": [], "interpreted": [], "in_place": [],
                                       "gradients": None, "cut": [],
                                       "error": None}  # fmt: skip
        self.watch: graph.Watch | None = None

    def prepare(self) -> None:
        """Before any of the user's code runs."""
        if self.request["weights"] == "derived":
            weights.derive_initial_values()
        if self.graph_mode:
            self.watch = graph.Watch()
            if self.units:
                hooks.replace_jit(graph.strictly(ms.jit))
        else:
            # Nested and decorated jit functions must run as plain Python in the reference.
            os.environ["MS_JIT"] = "0"
            hooks.replace_jit(hooks.unwrapped)  # which MS_JIT is no help for: `capture_mode="trace"`
            graph.run_synchronously()
        weights.seed(1)

    def run(self) -> None:
        self.prepare()
        self.module = loading.load_module(self.tree, self.request["file"])
        # The user's module may set a mode or a syntax level when it is imported; the play decides here.
        ms.set_context(mode=ms.PYNATIVE_MODE)
        self.inputs = values.of_request(self.request)
        self.make_calls()
        self.report(self.result)
        if self.request["gradients"]:
            self.stage = "gradient"
            self.result["gradients"] = self.differentiate()
            self.report(self.result)

    def fail(self, error: BaseException) -> None:
        self.result["error"] = messages.describe(error, self.stage, self.tree)
        self.collect_nodes()
        self.report(self.result)

    def construct(self) -> Any:
        """A fresh instance, the same every time."""
        weights.seed(1)
        target = supply.target(self.module, self.request["expr"], self.request.get("recorded"), self.tree)
        if isinstance(target, type):
            target = target()
        if not isinstance(target, ms.nn.Cell) and not callable(target):
            kind = type(target).__name__
            raise TypeError(f"{self.request['expr']} is neither a Cell nor a function, but of type {kind}")
        if isinstance(target, ms.nn.Cell) and (self.request.get("train") or self.request.get("units")):
            # A new Cell is in the phase of training, which `set_train()` then does not change: a graph stays as it is.
            target.set_train(bool(self.request.get("train")))
        if isinstance(target, ms.nn.Cell) and self.request.get("distinct"):
            weights.tell_apart(target)
        return target

    def make_calls(self) -> None:
        self.stage = "construct"
        target = self.construct()
        self.result["before"] = state_of(target, self.module)
        self.stage = "compile" if self.graph_mode else "call"
        if self.units:
            call = target
        else:
            call = graph.compiled(target, self.strict) if self.graph_mode else graph.bare(target)
        variants = values.variants(self.request["calls"])
        for variant in variants:
            self.make_call(call, variant)
        if self.request.get("units") and isinstance(target, ms.nn.Cell):
            # A graph inside of a Cell does not hear of the Cell's `set_train` by itself.
            for train in (not target.training, target.training):
                target.set_train(train)
                self.make_call(call, variants[0], may_compile=True)
        self.result["after"] = state_of(target, self.module)
        self.collect_nodes()

    def make_call(self, call: Callable[..., Any], variant: int, may_compile: bool = False) -> None:
        number = len(self.result["calls"])
        args, kwargs = self.arguments(variant)
        weights.seed(100 + number)
        weights.jump_clock(number)
        before = self.watch.count if self.watch else 0
        output = call(*args, **kwargs)
        self.stage = "call"
        entry = {
            "output": record(output),
            "arguments": record([args, kwargs]),
            "compiled": self.watch.count - before if self.watch and not may_compile else 0,
        }
        self.result["calls"].append(entry)

    def arguments(self, variant: int) -> tuple[list[Any], dict[str, Any]]:
        args, kwargs = values.arguments(self.inputs, variant)
        if self.graph_mode:
            args = [values.as_mutable(value) for value in args]
            kwargs = {name: values.as_mutable(value) for name, value in kwargs.items()}
        return args, kwargs

    def collect_nodes(self) -> None:
        if self.watch is not None:
            with open(self.request["log"], errors="replace") as log:
                found = graph.locate(self.watch.nodes, log.read(), self.tree)
            self.result["nodes"], self.result["interpreted"] = found
            self.result["in_place"] = graph.in_place(self.watch.parsed, self.tree)

    def differentiate(self) -> dict[int, dict[str, np.ndarray]] | None:
        target = self.construct()
        if self.units:
            call = target
        elif self.graph_mode:
            call = graph.compiled_for_gradient(target, self.strict)
        else:
            call = graph.bare(target)
        found = {}
        for variant in (0, 1):
            args, kwargs = self.arguments(variant)
            question = gradients.Question(target, args, kwargs)
            if not question.leaves and not question.parameters:
                return None
            weights.seed(100 + variant)
            found[variant] = self.answer(question, call, variant)
        if not self.graph_mode:
            self.result["cut"] = gradients.cut(question, call, found[1], lambda: weights.seed(101))
        return found

    def answer(self, question: gradients.Question, call: Callable[..., Any], variant: int) -> gradients.Gradients:
        output = self.result["calls"][values.variants(2).index(variant)]["output"]
        if not has_float_tensor(output):
            return question.zeros()
        inside = self.graph_mode and not self.units and not graph.own_call(question.target)
        folder = os.path.dirname(self.request["log"])
        if inside and question.unseen:
            return ingraph.inside(question, output, self.strict, folder)
        try:
            return gradients.around(question, call)
        except Exception:
            if not inside:
                raise
            try:
                return ingraph.inside(question, output, self.strict, folder)
            except Exception as error:
                print(f"the gradient inside a graph fails too: {error}")  # noqa: T201 - the stage's own log
            raise
