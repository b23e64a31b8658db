"""GW109: NumPy arrays handed to a Cell or a compiled function."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._outside import only_value, visible
from ..jit._wrappers import is_compiled
from ._boundary_arrays import function_of, is_array

# What may be an array: a variable, a call, or arithmetic over one.
_ARRAYS = (ast.Name, ast.Call, ast.BinOp)


class ArrayArgument(Rule):
    """A NumPy array handed to a graph is a constant of it, not a Tensor.

    ## What it finds

    Outside of graph code, a call of a function under `jit`, or of a Cell, with an argument that is a NumPy array: made
    on the spot, in a variable, or by a function of the project, such as one that prepares an image. What the function
    tests with `isinstance` or makes a Tensor of is left alone.

    ## Why

    The compiler does not convert arrays. Each call compiles the graph anew (a Cell took 0.25 s at each of three calls
    with one shape), and the operators refuse it, on MindSpore 2.10:

        TypeError: Failed calling ReLU with "input=External". The valid calling should be: "input=<Tensor>".

    Where only Python's operators touch it, the result is an array again.

    ## Example

        image = np.ones((1, 3, 8, 8), np.float32)
        logits = net(image)

    becomes

        image = np.ones((1, 3, 8, 8), np.float32)
        logits = net(Tensor(image))

    ## What the rewrite assumes

    That the function computes with it, and needs no constant there.

    ## When it is unsafe

    Always, for that reason: and where the result was an array, it is a Tensor now. The dtype stays that of the array,
    float64 included.

    ## References

    `mindspore.Tensor`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW109"
    name = "array-argument"
    consequence = Consequence.ERROR
    triggers = (b"numpy",)

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        for call in context.calls:
            given = [*call.args, *(k.value for k in call.keywords)]
            if not any(isinstance(a, _ARRAYS) for a in given) or any(isinstance(a, ast.Starred) for a in call.args):
                continue
            # Few calls are those of a graph; to follow their arguments is what takes long.
            function = _graph(context, call)
            if function is None or context.function_at(call) in context.inference.reached:
                continue
            parameters = [a.arg for a in function.node.args.args]
            if function.receiver is not None:
                parameters = parameters[1:]
            places = [*zip(parameters, call.args), *((k.arg, k.value) for k in call.keywords if k.arg)]
            for parameter, argument in places:
                if is_array(context, argument) and not _converts(function, parameter):
                    message = f"a NumPy array is a constant of the graph of {context.text(call.func)}, not a Tensor"
                    yield context.finding(self, argument, message, fixes=(_wrapped(context, argument),))


def _graph(context: ModuleContext, call: ast.Call) -> FunctionInfo | None:
    """The function that the call compiles: one under `jit`, or the `construct` of a Cell."""
    if not isinstance(call.func, (ast.Name, ast.Attribute)):
        return None
    found = function_of(context, call.func)
    if found is not None:
        return found if is_compiled(found) else None
    for info in _classes(context, call.func):
        if context.project.is_cell(info):
            construct = context.project.method(info, "construct")
            return construct if construct in context.inference.reached else None
    return None


def _classes(context: ModuleContext, func: ast.Name | ast.Attribute) -> list[ClassInfo]:
    """The class of what a callee holds: `net` after `net = Net()`, and `self.net`."""
    if isinstance(func, ast.Attribute):
        function = context.function_at(func)
        owner = function.class_around if function is not None else None
        if function is None or owner is None or not isinstance(func.value, ast.Name):
            return []
        return context.project.attribute_classes(owner, func.attr) if func.value.id == function.receiver else []
    value = only_value(context, func)
    made = visible(context, value.func) if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else None
    return [made] if isinstance(made, ClassInfo) else []


def _converts(function: FunctionInfo, parameter: str) -> bool:
    """Whether the function is made for arrays: it tests the type, or hands the parameter to a maker of Tensors."""
    for node in function.nodes:
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if node.args[0].id == parameter and called in ("isinstance", "Tensor", "tensor", "from_numpy", "type"):
                return True
    return False


def _wrapped(context: ModuleContext, argument: ast.expr) -> Fix:
    function = context.function_at(argument)
    rewrite = context.rewrite(function.names if function else None)
    rewrite.insert(context.module.start(argument), f"{rewrite.spell('mindspore.Tensor')}(")
    rewrite.insert(context.module.end(argument), ")")
    return rewrite.unsafe("Make it a Tensor", "what the graph gives back is a Tensor then, and no array")
