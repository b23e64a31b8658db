"""What a creation makes: the parameters of a layer, and whether they are drawn at random."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from graphward.analysis.inference import Inference
from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.analysis.tree import preorder

from ._creations import Creation, What, constructed
from ._layers import CONTAINERS, layer, weights_of

_MAX_DEPTH = 6


@dataclass
class Made:
    """`weights` are the parameters by name, with whether each is drawn at random. `known` is False where some part is
    out of sight. `trains` is true where the training flag changes what the layer does, `random` where each forward
    pass draws numbers."""

    weights: dict[str, bool] = field(default_factory=dict)
    known: bool = True
    trains: bool = False
    random: bool = False

    @property
    def drawn(self) -> bool:
        return any(self.weights.values())

    @property
    def stateless(self) -> bool:
        """No parameter and no state: any instance does what any other does."""
        return self.known and not self.weights

    def add(self, prefix: str, other: Made) -> None:
        for name, drawn in other.weights.items():
            full = f"{prefix}.{name}" if prefix else name
            self.weights[full] = self.weights.get(full, False) or drawn
        self.known = self.known and other.known
        self.trains = self.trains or other.trains
        self.random = self.random or other.random


def made_by(inference: Inference, creation: Creation) -> Made:
    """What a layer's constructor call makes."""
    if creation.what is not What.LAYER:
        return Made()
    return _layer(inference, creation, _MAX_DEPTH)


def class_made(inference: Inference, info: ClassInfo) -> Made:
    """What an instance of a project's class is made of."""
    return inference.once((class_made, info), lambda: _project_class(inference, info, _MAX_DEPTH))


def _layer(inference: Inference, creation: Creation, depth: int) -> Made:
    if creation.made is not None:
        return _project_class(inference, creation.made, depth - 1) if depth else Made(known=False)
    if creation.qualified in CONTAINERS:
        made = Made()
        for argument in (*creation.call.args, *(k.value for k in creation.call.keywords)):
            made.add("0", _inside(inference, creation.function, argument, depth))
        return made
    known = layer(creation.qualified)
    if known is None:
        return Made(known=False)
    made = Made(dict(weights_of(known, creation.call)), True, known.trains, known.random)
    for argument in (*creation.call.args, *(k.value for k in creation.call.keywords)):
        made.add("", _inside(inference, creation.function, argument, depth))
    return made


def _inside(inference: Inference, function: FunctionInfo, node: ast.expr, depth: int) -> Made:
    """The layers that an argument or a value makes."""
    made = Made()
    skip: set[ast.AST] = set()
    for child in preorder(node):
        if child in skip or not isinstance(child, ast.Call):
            continue
        creation = constructed(inference.project, function, child)
        if creation is not None and creation.what is What.LAYER:
            made.add("", _layer(inference, creation, depth))
            skip.update(preorder(child))
        elif creation is not None and creation.what is What.PARAMETER:
            made.weights[parameter_name(child) or "parameter"] = False
            skip.update(preorder(child))
    return made


def _project_class(inference: Inference, info: ClassInfo, depth: int) -> Made:
    project = inference.project
    made = Made()
    for known in project.mro(info):
        for base in project.bases(known):
            if isinstance(base, str) and base.startswith(("mindspore.nn.", "mindspore.mint.nn.")):
                found = layer(base)
                if found is not None:
                    call = ast.Call(func=ast.Name(id=base, ctx=ast.Load()), args=[], keywords=[])
                    made.add("", Made(dict(weights_of(found, call)), True, found.trains, found.random))
    for name, values in project.attribute_values(info).items():
        for method, value in values:
            made.add(name, _inside(inference, method, value, depth))
            if isinstance(value, ast.Call) and not _is_plain(inference, method, value):
                made.known = False
    reads_flag = any(
        isinstance(n, ast.Attribute) and n.attr == "training"
        for c in project.mro(info) for m in c.methods.values() for n in m.nodes
    )  # fmt: skip
    made.trains = made.trains or reads_flag
    return made


def _is_plain(inference: Inference, method: FunctionInfo, value: ast.Call) -> bool:
    """Whether what a call gives is seen: a layer, a Parameter, a Primitive, or no part of a Cell at all."""
    if constructed(inference.project, method, value) is not None:
        return True
    name = method.names.resolve(value.func)
    if name is not None and name.startswith(("mindspore.", "numpy.", "math.")):
        return True
    return isinstance(value.func, ast.Name) and value.func.id in (
        "int", "float", "bool", "str", "tuple", "list", "dict", "len", "max", "min", "range", "sum", "getattr", "set"
    )  # fmt: skip


def parameter_name(call: ast.Call) -> str:
    """The `name=` of a Parameter where it is a literal, else empty."""
    for keyword in call.keywords:
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    if len(call.args) > 1 and isinstance(call.args[1], ast.Constant):
        return str(call.args[1].value)
    return ""
