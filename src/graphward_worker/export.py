"""A target exported to MINDIR, loaded and run: what is deployed, not what is compiled here."""

from __future__ import annotations

import os
from typing import Any, Callable

import mindspore as ms

from . import graph, play
from . import inputs as values
from .record import record

EXPORT = "export"
"""The mode of this play."""


def export(request: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> None:
    """Like `play`; the only call that it reports is that of the loaded file. Stages: export, load."""
    performance = _Export(request, report)
    try:
        performance.run()
    except (Exception, SystemExit) as error:
        performance.fail(error)


class _Function(ms.nn.Cell):
    """Only Cells can be exported."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def construct(self, *args):  # type: ignore[no-untyped-def]
        return self.function(*args)


class _Export(play.Performance):
    def make_calls(self) -> None:
        self.stage = "construct"
        target = self.construct()
        cell = target if isinstance(target, ms.nn.Cell) else _Function(graph.bare(target))
        args, kwargs = values.arguments(self.inputs, 0)
        self.stage = "export"
        if kwargs:
            raise TypeError(f"a MINDIR file takes no keyword arguments: {', '.join(kwargs)}")
        path = os.path.join(os.path.dirname(self.request["log"]), "target")
        ms.export(cell, *args, file_name=path, file_format="MINDIR")
        self.stage = "load"
        ms.set_context(mode=ms.GRAPH_MODE)
        loaded = ms.nn.GraphCell(ms.load(path + ".mindir"))
        tensors = [value for value in args if isinstance(value, ms.Tensor)]
        self.result["calls"].append({"output": record(loaded(*tensors)), "arguments": record([]), "compiled": 0})
        self.result["after"] = {}
