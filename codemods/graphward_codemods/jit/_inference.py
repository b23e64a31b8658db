"""Where a script runs a Cell of the project batch by batch, in PyNative."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.rules.module_context import ModuleContext

from .._outside import only_value, visible
from ..setup._steps import host_use
from ..units._boundaries import obstacle
from ..units._sizes import Sizes
from ._datasets import handed
from ._wrappers import is_compiled, loops_around

# Below, starting a graph costs as much as it saves.
_SMALLEST = 12
_DEPTH = 3


def cells_in_loops(context: ModuleContext) -> Iterator[tuple[ast.Call, FunctionInfo]]:
    """The calls in loops that run a Cell which can be compiled and is worth it, with its `construct`."""
    sizes: Sizes = context.once(Sizes, lambda: Sizes(context.inference))
    for call in context.calls:
        if not isinstance(call.func, (ast.Name, ast.Attribute)) or next(loops_around(context, call), None) is None:
            continue
        around = context.function_at(call)
        if around in context.inference.reached:
            continue
        for construct in dict.fromkeys(_run_by(context, call, _DEPTH)):
            fit = not is_compiled(construct) and not obstacle(context.inference, construct, construct.owner)
            if fit and not host_use(construct) and sizes.function(construct, construct.owner) >= _SMALLEST:
                yield call, construct


def _run_by(context: ModuleContext, call: ast.Call, depth: int) -> Iterator[FunctionInfo]:
    """The `construct` of each Cell that a call runs, itself or in a function of the file."""
    func = call.func
    if isinstance(func, ast.Attribute):
        around = context.function_at(call)
        owner = around.class_around if around else None
        if around is not None and owner is not None and isinstance(func.value, ast.Name):
            if func.value.id == around.receiver and context.project.method(owner, func.attr) is None:
                for made in context.project.attribute_classes(owner, func.attr):
                    yield from _construct(context, made)
        return
    if not isinstance(func, ast.Name):
        return
    known = visible(context, func)
    if isinstance(known, FunctionInfo):
        if depth and known.module is context.module and known.owner is None and not is_compiled(known):
            for inner in known.nodes:
                if isinstance(inner, ast.Call) and next(loops_around(context, inner), None) is None:
                    yield from _run_by(context, inner, depth - 1)
    elif known is None:
        yield from _instance(context, func, depth)


def _instance(context: ModuleContext, name: ast.Name, depth: int) -> Iterator[FunctionInfo]:
    """The `construct` of the Cell that a variable or a parameter holds."""
    value = only_value(context, name)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        made = visible(context, value.func)
        if isinstance(made, ClassInfo):
            yield from _construct(context, made)
    elif value is None and depth:
        for other, given in handed(context, context, name):
            if isinstance(given, ast.Name):
                yield from _instance(other, given, depth - 1)


def _construct(context: ModuleContext, made: ClassInfo) -> Iterator[FunctionInfo]:
    construct = context.project.method(made, "construct") if context.project.is_cell(made) else None
    if construct is not None:
        yield construct
