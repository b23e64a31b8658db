"""Finds inputs that a target accepts, when nobody declared any: a bounded search guided by what runs in PyNative.

Constructor arguments without a default come from annotations and names; the first candidate shapes of the inputs are
read off the layers that the Cell holds, later ones are common shapes. What is found is a guess: the verdict says so.
"""

from __future__ import annotations

import inspect
import itertools
import os
import re
import time
from collections.abc import Iterator
from typing import Any, Callable

import mindspore as ms

from . import graph, loading, messages, weights
from . import inputs as values
from .specs import Input, Literal, TensorSpec, parse_input

_ATTEMPTS = 60
_INTEGER_NAMES = re.compile(r"(^|_)(ids?|idx|index|indices|tokens?|labels?|targets?|positions?|lengths?)($|_|\d)")
_MASK_NAMES = re.compile(r"mask")
_COMMON = (
    *("f32[2,3]", "f32[2,8]", "f32[2,4,8]", "f32[2,3,16,16]", "f32[4]", "f32[2,16]", "f32[2,3,32,32]"),
    *("i32[2,8]", "f32[4,4]", "f32[2,4,4]", "f32[]", "f32[1,3,64,64]", "f32[1,3,224,224]"),
)
_SIZES = (8, 4, 16, 3)
"""Values tried for a constructor's integers."""

_BY_NAME = (
    (re.compile(r"head|group"), 2),
    (re.compile(r"layer|depth|block|repeat|num_stage"), 2),
    (re.compile(r"kernel"), 3),
    (re.compile(r"stride|dilation"), 1),
    (re.compile(r"pad"), 0),
    (re.compile(r"vocab"), 32),
    (re.compile(r"max_(len|seq|pos)|max_position"), 32),
)
_RATES = re.compile(r"prob|rate|drop|eps|momentum|alpha|beta|scale|ratio")


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
        specs = search.find(report, expr)
        report({"specs": specs, "expr": expr, "error": None})
    except (Exception, SystemExit) as error:
        if isinstance(error, _NoInputs):
            stage = "inputs"
        report({"specs": None, "expr": request["expr"], "error": messages.describe(error, stage, request["tree"])})


class _Search:
    def __init__(self, module: Any, request: dict[str, Any]):
        self.module = module
        self.request = request
        self.deadline = time.monotonic() + request["budget"]
        self.expr: str = request["expr"]
        self.target: Any = None

    def construct(self) -> str:
        """Make the target; the expression that made it."""
        named = loading.evaluate(self.module, self.expr)
        if not isinstance(named, type):
            self.target = named
            return self.expr
        first: Exception | None = None
        for arguments in constructor_arguments(named):
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

    def find(self, report: Callable[[dict[str, Any]], None], expr: str) -> list[str]:
        """The specs of the first combination that PyNative accepts."""
        if isinstance(self.target, ms.nn.Cell) and self.request.get("train"):
            self.target.set_train(True)
        call = graph.bare(self.target)
        function = self.target.construct if isinstance(self.target, ms.nn.Cell) else call
        parameters = _required(function)
        if not parameters:
            self.attempt(call, [])
            return []
        first: Exception | None = None
        for combination in itertools.islice(combinations(self.target, parameters), _ATTEMPTS):
            if time.monotonic() > self.deadline:
                break
            try:
                self.attempt(call, combination)
            except Exception as error:
                first = first or error
                continue
            return [str(item) for item in combination]
        names = ", ".join(parameter.name for parameter in parameters)
        reason = f"; PyNative says {messages.first_line(str(first))}" if first else ""
        raise _NoInputs(f"found no values for {names} that it accepts: declare them with --input{reason}") from first

    def attempt(self, call: Callable[..., Any], combination: list[Input]) -> None:
        """Call with both variants, so that a value which fits by luck is not taken."""
        for variant in (0, 1):
            args, kwargs = values.arguments(combination, variant)
            weights.seed(100)
            output = call(*args, **kwargs)
            _synchronise(output)


def _synchronise(output: Any) -> None:
    """PyNative runs ahead of Python; an error shows when the value is asked for."""
    if isinstance(output, ms.Tensor):
        output.asnumpy()
    elif isinstance(output, dict):
        _synchronise(tuple(output.values()))
    elif isinstance(output, (tuple, list)):
        for item in output:
            _synchronise(item)


def constructor_arguments(cls: type) -> Iterator[str]:
    """Texts of keyword arguments for the parameters that have no default. Raises _NoInputs when one has neither an
    annotation nor a name that says what it is."""
    try:
        parameters = _required(cls)
    except (TypeError, ValueError):
        parameters = []
    if not parameters:
        yield ""
        return
    for size in _SIZES:
        yield ", ".join(f"{p.name}={_constructor_value(cls, p, size)!r}" for p in parameters)


def _constructor_value(cls: type, parameter: inspect.Parameter, size: int) -> Any:
    kind = _annotation(parameter)
    name = parameter.name.lower()
    if kind == "str":
        raise _NoInputs(f"cannot guess the text {parameter.name!r} of {cls.__name__}: write it into the target")
    if kind == "bool":
        return True
    if kind == "float" or (kind is None and _RATES.search(name)):
        return 0.1
    if kind not in ("int", None):
        hint = f"write it into the target, as in {cls.__name__}({parameter.name}=...)"
        raise _NoInputs(f"cannot guess {parameter.name!r} ({kind}) of {cls.__name__}: {hint}")
    for pattern, value in _BY_NAME:
        if pattern.search(name):
            return value
    return size


def _annotation(parameter: inspect.Parameter) -> str | None:
    if parameter.annotation is inspect.Parameter.empty:
        return None
    kind = parameter.annotation
    name = kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
    return name.strip("'\"").split(".")[-1]


def _required(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of a function, or of a class's constructor, that a call must fill."""
    parameters = list(inspect.signature(function).parameters.values())
    wanted = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = [p for p in parameters if p.kind in wanted and p.default is inspect.Parameter.empty]
    if not found and not isinstance(function, type):
        # `construct(self, *args)` takes at least one thing, or it would not be written so.
        found = [p for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL][:1]
    keywords = inspect.Parameter.KEYWORD_ONLY
    return found + [p for p in parameters if p.kind is keywords and p.default is inspect.Parameter.empty]


def combinations(target: Any, parameters: list[inspect.Parameter]) -> Iterator[list[Input]]:
    """Candidate inputs, likeliest first: all alike, then each on its own."""
    shapes = _unique([*_from_layers(target), *_from_parameters(target), *map(_tensor, _COMMON)])
    tried: set[str] = set()
    first = shapes[:_ATTEMPTS]
    for shape in first[:8]:
        for others in itertools.product(*(_choices(p, shape, shapes) for p in parameters)):
            combination = [_input(p, spec) for p, spec in zip(parameters, others)]
            key = str([str(item) for item in combination])
            if key not in tried:
                tried.add(key)
                yield combination
            if len(tried) % 12 == 0:
                break  # leave room for the next shape of the first input
    for shape in first:
        yield [_input(p, _choices(p, shape, shapes)[0]) for p in parameters]


def _input(parameter: inspect.Parameter, spec: Any) -> Input:
    named = parameter.kind is inspect.Parameter.KEYWORD_ONLY
    return Input(spec, parameter.name if named else None)


def _choices(parameter: inspect.Parameter, shape: TensorSpec, shapes: list[TensorSpec]) -> list[Any]:
    """What one parameter may be when the leading tensor has `shape`."""
    kind = _annotation(parameter)
    if kind in ("int", "float", "bool"):
        return [Literal({"int": 2, "float": 0.5, "bool": True}[kind])]
    name = parameter.name.lower()
    if _MASK_NAMES.search(name):
        short = shape.shape[:2]
        return [TensorSpec("bool", shape.shape), TensorSpec("f32", shape.shape), TensorSpec("f32", short)]
    if _INTEGER_NAMES.search(name):
        if shape.dtype[0] == "i":
            return [shape]
        return [TensorSpec("i32", shape.shape[:1], 2), TensorSpec("i32", shape.shape[:2], 2), shape]
    return [shape, *(other for other in shapes[:3] if other != shape)]


def _from_layers(target: Any) -> Iterator[TensorSpec]:
    if not isinstance(target, ms.nn.Cell):
        return
    for _, cell in target.cells_and_names():
        yield from _of_layer(cell)


def _of_layer(cell: Any) -> Iterator[TensorSpec]:
    """Shapes that a layer of MindSpore takes, by the sizes that it keeps."""
    if not type(cell).__module__.startswith("mindspore."):
        return
    name = type(cell).__name__

    def size(*names: str) -> int | None:
        found = (getattr(cell, n, None) for n in names)
        return next((int(v) for v in found if isinstance(v, int) and not isinstance(v, bool)), None)

    channels = size("in_channels", "in_features", "num_features", "num_channels", "input_size")
    vocabulary = size("vocab_size", "num_embeddings")
    normalized = getattr(cell, "normalized_shape", None)
    if vocabulary is not None:
        yield TensorSpec("i32", (2, 8), vocabulary)
        yield TensorSpec("i32", (2,), vocabulary)
    elif isinstance(normalized, (tuple, list)):
        yield TensorSpec("f32", (2, 4, *normalized))
        yield TensorSpec("f32", (2, *normalized))
    elif channels is None:
        return
    elif "1d" in name:
        yield from (TensorSpec("f32", (2, channels, 16)), TensorSpec("f32", (4, channels)))
    elif "3d" in name:
        yield TensorSpec("f32", (1, channels, 8, 16, 16))
    elif "2d" in name or name == "GroupNorm":
        yield TensorSpec("f32", (2, channels, 16, 16))
        yield TensorSpec("f32", (2, channels, 32, 32))
        yield TensorSpec("f32", (1, channels, 64, 64))
        yield TensorSpec("f32", (1, channels, 224, 224))
    else:
        yield from (TensorSpec("f32", (2, channels)), TensorSpec("f32", (2, 4, channels)))


def _from_parameters(target: Any) -> Iterator[TensorSpec]:
    """A matrix multiplies something with one of its sizes; a vector is added to something."""
    if isinstance(target, ms.nn.Cell):
        own = list(target.get_parameters(expand=False))
        for parameter in (own or list(target.get_parameters()))[:3]:
            for length in reversed(parameter.shape[-2:]):
                yield TensorSpec("f32", (2, length))
                yield TensorSpec("f32", (2, 4, length))


def _tensor(text: str) -> TensorSpec:
    spec = parse_input(text).spec
    assert isinstance(spec, TensorSpec)
    return spec


def _unique(shapes: list[TensorSpec]) -> list[TensorSpec]:
    return list(dict.fromkeys(shapes))
