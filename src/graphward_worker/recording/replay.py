"""The last resort for a Cell whose constructor arguments, or inputs, cannot be stored: the script that was recorded
runs again over a copy of the tree, and its outermost calls of the Cell are the calls of the play.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Callable

import mindspore as ms

from .. import graph, messages, weights
from .. import inputs as values
from ..gradients import Question
from ..play import Performance
from ..record import record, state_of
from . import hooks, script

try:
    from mindspore.graph.api import _pynative_executor
except ImportError:  # MindSpore before 2.10
    from mindspore.common.api import _pynative_executor


def replay(request: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> None:
    """Like `play`; `request["recorded"]["replay"]` holds `arguments` (what followed the interpreter on the command
    line), `folder` (the working directory, relative to the tree) and `root` (absolute path of the tree that was
    recorded)."""
    performance = _Replay(request, report)
    try:
        performance.run()
    except (Exception, SystemExit) as error:
        performance.finish(error)


class NotCalled(Exception):
    """The script ended without a call of the Cell."""


class _Replay(Performance):
    def __init__(self, request: dict[str, Any], report: Callable[[dict[str, Any]], None]):
        super().__init__(request, report)
        self.how = request["recorded"]["replay"]
        self.tree = os.path.join(os.getcwd(), "tree")
        self.stage = "inputs"
        self.target: Any = None
        self.inside = False
        self.given: list[tuple[Any, Any]] = []

    def run(self) -> None:
        script.copy_tree(self.request["tree"], self.tree)
        os.chdir(os.path.join(self.tree, *self.how["folder"].split("/")))
        self.compile = ms.jit
        hooks.stay_in_pynative()
        self.prepare()
        if self.graph_mode:
            os.environ.pop("MS_JIT", None)
        hooks.replace_jit(hooks.unwrapped)
        self.watch_cells()
        script.run(self.how["arguments"], {self.how["root"]: self.tree, self.request["tree"]: self.tree})
        self.finish(None)

    def watch_cells(self) -> None:
        cell: Any = ms.nn.Cell
        original = cell.__call__

        def __call__(this: Any, *args: Any, **kwargs: Any) -> Any:
            if self.inside or not self.is_target(this):
                return original(this, *args, **kwargs)
            return self.call(this, args, kwargs)

        cell.__call__ = __call__

    def is_target(self, cell: Any) -> bool:
        """Whether this is the first instance of the class that the script calls."""
        if self.target is not None:
            return cell is self.target
        cls = type(cell)
        path = getattr(sys.modules.get(cls.__module__), "__file__", None)
        expected = os.path.join(self.tree, *self.request["file"].split("/"))
        return cls.__qualname__ == self.request["expr"] and path is not None and os.path.abspath(path) == expected

    def call(self, cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """One of the calls that are compared; after the last the process ends."""
        self.inside = True
        try:
            number = len(self.result["calls"])
            if number == 0:
                self.target = cell
                self.module = sys.modules[type(cell).__module__]
                self.result["before"] = state_of(cell, self.module)
                self.run_target = self.prepared(cell)
            self.stage = "compile" if self.graph_mode and number == 0 else "call"
            given = [values.as_mutable(value) for value in args] if self.graph_mode else list(args)
            named = {k: values.as_mutable(v) for k, v in kwargs.items()} if self.graph_mode else kwargs
            self.given.append((list(args), dict(kwargs)))
            before = self.watch.count if self.watch else 0
            weights.seed(100 + number)
            try:
                output = self.run_target(*given, **named)
            except (Exception, SystemExit) as error:
                self.end(error)
            self.stage = "call"
            compiled = self.watch.count - before if self.watch else 0
            self.result["calls"].append(
                {"output": record(output), "arguments": record([given, named]), "compiled": compiled}
            )
            if len(self.result["calls"]) >= self.request["calls"]:
                self.finish(None)
            return output
        finally:
            self.inside = False

    def prepared(self, cell: Any) -> Callable[..., Any]:
        if not self.graph_mode:
            return graph.bare(cell)
        replaced, ms.jit = ms.jit, self.compile
        try:
            return graph.compiled(cell, self.strict)
        finally:
            ms.jit = replaced

    def finish(self, error: BaseException | None) -> None:
        """The script is over, or enough of it."""
        self.inside = True
        if not self.result["calls"]:
            reason = f"; it ended with {type(error).__name__}: {error}" if error is not None else ""
            failure = NotCalled(f"run again, the script did not call {self.request['expr']}{reason}")
            self.end(failure.with_traceback(error.__traceback__ if error else None))
        self.result["after"] = state_of(self.target, self.module)
        self.collect_nodes()
        self.report(self.result)
        if self.request["gradients"] and not _pynative_executor.grad_flag():
            self.stage = "gradient"
            try:
                self.result["gradients"] = self.differentiate()
            except (Exception, SystemExit) as failure:
                self.end(failure)
            self.report(self.result)
        self.end(None)

    def differentiate(self) -> Any:
        """At the arguments of the first two calls."""
        replaced, ms.jit = ms.jit, self.compile
        try:
            call = graph.compiled_for_gradient(self.target, self.strict) if self.graph_mode else graph.bare(self.target)
        finally:
            ms.jit = replaced
        found = {}
        for variant in (0, 1):
            number = min(variant, len(self.result["calls"]) - 1)
            question = Question(self.target, *self.given[number])
            if not question.leaves and not question.parameters:
                return None
            weights.seed(100 + number)
            found[variant] = self.answer(question, call, number)
        return found

    def end(self, error: BaseException | None) -> None:
        """Leave here and now: what the script would still do is of no interest, and it must not catch this."""
        if error is not None:
            self.result["error"] = messages.describe(error, self.stage, self.tree)
            self.collect_nodes()
            self.report(self.result)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
