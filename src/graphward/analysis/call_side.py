"""What the `__call__` of a Cell says of the parameters of its `construct`."""

from __future__ import annotations

import ast

from .kinds import INTEGER, Kind
from .module import FunctionInfo
from .names import all_arguments


def handed_integers(function: FunctionInfo) -> dict[str, Kind]:
    """The parameters of a `construct` that get `int(...)` from `super().__call__(...)` in the `__call__` beside it."""
    owner = function.owner
    if owner is None or function.name != "construct" or "__call__" not in owner.methods:
        return {}
    names = [a.arg for a in all_arguments(function.node.args)][1:]
    found: dict[str, Kind] = {}
    for call in owner.methods["__call__"].calls.values():
        if not (isinstance(call.func, ast.Attribute) and call.func.attr == "__call__"):
            continue
        handed = [*zip(names, call.args), *((k.arg or "", k.value) for k in call.keywords)]
        for name, value in handed:
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "int":
                found[name] = INTEGER.because(f"__call__ hands {name} on as an int")
    return found
