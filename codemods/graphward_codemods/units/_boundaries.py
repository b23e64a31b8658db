"""What may stand at the edge of a graph: which functions can be one, and what can be handed to it."""

from __future__ import annotations

import ast

from graphward.analysis.inference import Inference
from graphward.analysis.kinds import Kind, Tag
from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.knowledge.names import JIT_NAMES

_LEAKS = {
    Tag.DICT: "a dict", Tag.OBJECT: "an object of its own", Tag.NDARRAY: "a NumPy array", Tag.SCALAR: "a Python number",
    Tag.CELL: "a Cell", Tag.FUNCTION: "a function", Tag.PRIMITIVE: "a Primitive",
}  # fmt: skip


def jit_decorator(function: FunctionInfo) -> ast.expr | None:
    """The decorator that compiles a function."""
    stars = function.module.names.stars
    for name, node in function.decorators:
        if name in JIT_NAMES or (name in ("jit", "ms_function") and any(s.startswith("mindspore") for s in stars)):
            return node
    return None


def obstacle(inference: Inference, function: FunctionInfo, cell: ClassInfo | None) -> str:
    """Why a function cannot be a graph of its own, else empty."""
    node = function.node
    name = f"{cell.name}.{function.name}" if cell else function.name
    if jit_decorator(function) is None and node.decorator_list:
        return f"{name} has decorators"
    if isinstance(node, ast.AsyncFunctionDef) or any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in function.nodes):
        return f"{name} is a generator"
    if node.args.vararg or node.args.kwarg or node.args.posonlyargs:
        return f"{name} takes stars"
    if function.owner is not None and function.receiver != "self":
        return f"the first parameter of {name} is not called self, which the compiler wants"
    if not _of_the_project(inference, function):
        return f"{name} stands outside of the project"
    leak = leaks(inference, function)
    return f"{name} returns {leak}, which a graph hands back changed" if leak else ""


def leaks(inference: Inference, function: FunctionInfo) -> str:
    """What a function returns that does not leave a graph as it is, else empty."""
    returned = inference.function(function).returned.values()
    return next((text for kind in returned if (text := leak_of(kind))), "")


def leak_of(kind: Kind) -> str:
    """What of a returned value does not leave a graph as it is, else empty."""
    if kind.tag in _LEAKS:
        return _LEAKS[kind.tag]
    if kind.tag is Tag.SEQUENCE:
        for element in kind.elements or ():
            if element.is_none or element.optional:
                return "a tuple with None in it"
            if text := leak_of(element):
                return text
    return ""


def crosses(kind: Kind) -> bool:
    """Whether a value can be handed to a graph. A tuple, list or dict of tensors cannot: the graph is compiled again at
    each call, and the gradients that come back are zero; inside of `mutable` those of the parameters are wrong from the
    second call on (MindSpore 2.10)."""
    if kind.tag in (Tag.SEQUENCE, Tag.DICT):
        inside = kind.elements or ()
        return not (kind.variable and not inside) and not any(e.variable or e.is_tensor for e in inside)
    return not (kind.variable and kind.tag in (Tag.SCALAR, Tag.NDARRAY, Tag.OBJECT))


def _of_the_project(inference: Inference, function: FunctionInfo) -> bool:
    """Whether the file of a function is one of those that are looked at, where every `construct` is a region."""
    if function.name == "construct":
        reached = inference.reached.get(function)
        return reached is not None and len(reached.path) == 1
    return any(len(inference.reached[f].path) == 1 for f in inference.reached_by_module.get(function.module, ()))
