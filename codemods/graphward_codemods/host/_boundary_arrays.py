"""Which expressions outside of graph code are NumPy arrays: through variables and functions, over files."""

from __future__ import annotations

import ast

from graphward.analysis.module import FunctionInfo
from graphward.rules.module_context import ModuleContext

from .._outside import context_of, visible

_DEPTH = 8  # variables and functions that a value may go through
_MAKERS = frozenset(
    f"numpy.{name}" for name in (
        "arange", "array", "asarray", "ascontiguousarray", "broadcast_to", "clip", "concatenate", "empty", "eye",
        "expand_dims", "fromfile", "full", "full_like", "hstack", "linspace", "ones", "ones_like", "pad", "repeat",
        "reshape", "stack", "tile", "transpose", "vstack", "zeros", "zeros_like", "random.rand", "random.randn",
        "random.normal", "random.randint", "random.uniform",
    )
)  # fmt: skip
_NUMBERS = frozenset({"numpy.random.rand", "numpy.random.randn", "numpy.random.normal", "numpy.random.uniform",
                      "numpy.random.randint"})  # fmt: skip
_METHODS = frozenset({"astype", "copy", "flatten", "ravel", "repeat", "reshape", "swapaxes", "transpose"})


def is_array(context: ModuleContext, node: ast.expr, depth: int = _DEPTH) -> bool:
    """Whether a value is seen to be an array, by all that is assigned or returned."""
    if depth == 0:
        return False
    if isinstance(node, ast.Name):
        values = _assigned(context, node)
        return bool(values) and all(is_array(context, v, depth - 1) for v in values)
    if isinstance(node, ast.BinOp):
        return any(is_array(context, side, depth - 1) and _is_number(other) for side, other in (
            (node.left, node.right), (node.right, node.left)))  # fmt: skip
    if not isinstance(node, ast.Call):
        return False
    name = _resolved(context, node.func)
    if name in _MAKERS:
        # Without a size they draw one number.
        return name not in _NUMBERS or bool(node.args[2:] or node.keywords or name.endswith(("rand", "randn")))
    func = node.func
    if isinstance(func, ast.Attribute) and (func.attr in _METHODS or func.attr == "asnumpy"):
        return func.attr == "asnumpy" or is_array(context, func.value, depth - 1)
    found = function_of(context, node.func)
    if found is None:
        return False
    returned = [s.value for s in found.statements if isinstance(s, ast.Return)]
    inside = context_of(context, found.module)
    return bool(returned) and all(v is not None and is_array(inside, v, depth - 1) for v in returned)


def function_of(context: ModuleContext, func: ast.expr) -> FunctionInfo | None:
    """The function of the project that a callee is, in this file or another."""
    if isinstance(func, ast.Name):
        known = visible(context, func)
    else:
        qualified = _resolved(context, func)
        known = context.project.definition(qualified) if qualified else None
    return known if isinstance(known, FunctionInfo) else None


def _resolved(context: ModuleContext, node: ast.expr) -> str:
    head = node
    while isinstance(head, ast.Attribute):
        head = head.value
    if not isinstance(head, ast.Name):
        return ""
    return context.names_at(head, head.id).resolve(node) or ""


def _assigned(context: ModuleContext, name: ast.Name) -> list[ast.expr]:
    """Everything that a variable of the function around is given, if all of it is plain assignments."""
    function = context.function_at(name)
    stores = context.once_here((_assigned, function), lambda: _stores(context, function))
    found = []
    for store in stores.get(name.id, ()):
        parent = context.parent(store)
        if not isinstance(parent, ast.Assign) or parent.targets != [store]:
            return []
        # `x = x.astype(...)` keeps what it was.
        if not any(isinstance(n, ast.Name) and n.id == name.id for n in ast.walk(parent.value)):
            found.append(parent.value)
        elif not _keeps(parent.value, name.id):
            return []
    return found


def _stores(context: ModuleContext, function: FunctionInfo | None) -> dict[str, list[ast.Name]]:
    """Where each variable of a function, or of the module, gets a value or is deleted."""
    found: dict[str, list[ast.Name]] = {}
    for node in function.nodes if function is not None else context.nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and context.function_at(node) is function:
            found.setdefault(node.id, []).append(node)
    return found


def _keeps(node: ast.expr, name: str) -> bool:
    """Whether an expression is an array if the variable in it is one."""
    if isinstance(node, ast.Name):
        return node.id == name
    if isinstance(node, ast.BinOp):
        return _keeps(node.left, name) and _is_number(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
        return _keeps(node.func.value, name)
    return False


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
