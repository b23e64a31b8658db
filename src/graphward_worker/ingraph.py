"""The gradient as part of one graph, for what PyNative cannot differentiate around a graph (a `mutable` number, a list
carried by a loop) though a training step that is compiled whole can.

MindSpore reads the source of what it compiles, so the loss is written to a file: `construct` of a Cell that unfolds the
target's arguments and sums up its outputs, whose structure the forward play has seen.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from typing import Any

import mindspore as ms

from . import graph
from .gradients import Gradients, Question, weights_of

_SOURCE = """\
import mindspore as ms
from mindspore import nn, ops


class Loss(nn.Cell):
    def __init__(self, target, constants, weights):
        super().__init__(auto_prefix=False)
        self.target = target
        self.constants = constants
        self.weights = weights

    def construct(self, {parameters}):
        output = self.target({arguments})
        return {total}


class Gradient(nn.Cell):
    def __init__(self, loss, positions, parameters):
        super().__init__(auto_prefix=False)
        self.loss = loss
        self.gradient = ms.grad(loss, positions, parameters)

    def construct(self, {parameters}):
        return self.gradient({parameters})
"""


def inside(question: Question, output: dict[str, Any], strict: bool, folder: str) -> Gradients:
    """Differentiate inside a graph; `output` is the record of what the call returns, `folder` takes the source."""
    parameters: list[Any] = list(question.leaves)
    constants: list[Any] = []
    arguments = [_expression(arg, question, parameters, constants) for arg in question.args]
    for name, value in question.kwargs.items():
        arguments.append(f"{name}={_expression(value, question, parameters, constants)}")
    terms: list[str] = []
    shapes: list[tuple[int, ...]] = []
    for path, shape in _float_outputs(output, "output"):
        terms.append(f"ops.ReduceSum()(ops.cast({path}, ms.float32) * self.weights[{len(shapes)}])")
        shapes.append(shape)
    names = ", ".join(f"p{i}" for i in range(len(parameters)))
    source = _SOURCE.format(parameters=names, arguments=", ".join(arguments), total=" + ".join(terms))
    module = _load(source, folder)
    target = question.target
    forward = target if isinstance(target, ms.nn.Cell) else graph.bare(target)
    loss = module.Loss(forward, tuple(constants), tuple(map(weights_of, shapes)))
    positions = tuple(range(len(question.leaves))) if question.leaves else None
    cell = module.Gradient(loss, positions, question.weights)
    return question.unpack(graph.compiled(cell, strict)(*parameters))


def _expression(value: Any, question: Question, parameters: list[Any], constants: list[Any]) -> str:
    """Source text of an argument in terms of `p0`, `p1`, ... (graph inputs) and constants."""
    for i, leaf in enumerate(question.leaves):
        if value is leaf:
            return f"p{i}"
    if isinstance(value, dict):
        items = (f"{k!r}: {_expression(v, question, parameters, constants)}" for k, v in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_expression(v, question, parameters, constants) for v in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner},)"
    if isinstance(value, ms.Tensor) or type(value).__module__.endswith(".mutable"):
        parameters.append(value)
        return f"p{len(parameters) - 1}"
    constants.append(value)
    return f"self.constants[{len(constants) - 1}]"


def _float_outputs(node: dict[str, Any], path: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    if node["kind"] == "tensor" and "float" in node["dtype"].lower():
        yield path, node["value"].shape
    for i, item in enumerate(node.get("items", ())):
        key = i if node["kind"] == "seq" else node["keys"][i]
        yield from _float_outputs(item, f"{path}[{key}]")


def _load(source: str, folder: str) -> Any:
    """A module made from text. Not in the current directory, which the user's code may have changed."""
    name = "graphward_gradient"
    path = os.path.join(folder, f"{name}.py")
    with open(path, "w") as file:
        file.write(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
