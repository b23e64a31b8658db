"""What `jit` is given, by whether it can read it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass

from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.analysis.names import dotted
from graphward.rules.module_context import ModuleContext
from graphward.source.fixes import Fix

from .._outside import only_value, visible
from ._to_function import lambda_to_function, partial_to_function

_DERIVE = frozenset({
    "mindspore.grad", "mindspore.value_and_grad", "mindspore.vmap",
    "mindspore.ops.grad", "mindspore.ops.value_and_grad", "mindspore.ops.vmap",
})  # fmt: skip
# Modules whose functions are compiled C, or hand everything on to it.
_C = ("operator.", "math.", "numpy.", "cmath.")
_AS_IT_IS = "jit runs it as it is, and compiles nothing"


@dataclass(frozen=True)
class Unread:
    """`node` cannot be read. `fails` is whether a call raises; else it runs in Python."""

    node: ast.expr
    why: str
    fix: Fix
    fails: bool = True


def unread(context: ModuleContext, call: ast.Call, given: ast.expr) -> Unread | None:
    """Why `jit` cannot read what the call gives it; None where it can, or where that is not known."""
    if isinstance(given, ast.Lambda):
        return Unread(given, "jit cannot read a lambda in its own call: it does not compile",
                      lambda_to_function(context, given, call))  # fmt: skip
    if isinstance(given, ast.Name):
        return _of_name(context, given)
    if isinstance(given, ast.Call):
        return _of_call(context, given, given)
    if isinstance(given, ast.Subscript):
        return _of_element(context, given)
    return _of_attribute(context, given) if isinstance(given, ast.Attribute) else None


def derived_lambdas(context: ModuleContext) -> Iterator[Unread]:
    """The lambdas in `grad_fn = grad(lambda ...)` whose variable or attribute graph code reads."""
    read: set[str] | None = None
    for use in context.uses:
        call = use.call
        if use.name not in _DERIVE or call is None or not call.args or not isinstance(call.args[0], ast.Lambda):
            continue
        statement = context.statement(call)
        if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) != 1:
            continue
        if context.function_at(call) in context.inference.reached:
            continue  # compiled with what is around it, and read there
        name = dotted(statement.targets[0])
        read = _read_in_graphs(context) if read is None else read
        if name and name in read:
            yield _lambda(context, call.args[0], f"{use.name.rpartition('.')[2]}(...)")


def _read_in_graphs(context: ModuleContext) -> set[str]:
    """The variables, and the attributes of `self`, that the graph code of the file reads."""
    reached = context.inference.reached_by_module.get(context.module, ())
    return {
        name for function in reached for node in function.loads
        if (name := dotted(node)) and ("." in name or not function.names.is_local(name))
    }  # fmt: skip


def _of_name(context: ModuleContext, name: ast.Name) -> Unread | None:
    if visible(context, name) is not None:
        return None
    value = only_value(context, name)
    if isinstance(value, ast.Call):
        return _of_call(context, value, name)
    if isinstance(value, ast.IfExp) and any(isinstance(v, ast.Lambda) for v in (value.body, value.orelse)):
        return _manual(context, name, f"{name.id} is one of two lambdas, which jit cannot read: it does not compile")
    if isinstance(value, ast.Subscript):
        return _of_element(context, value)
    if value is None:
        found = _unpacked(context, name)
        if found is not None:
            return found
    scope = context.names_at(name, name.id)
    if name.id in vars(builtins) and name.id not in context.bound and scope.lookup(name.id) is None:
        if isinstance(getattr(builtins, name.id), type(len)):
            return _manual(context, name, f"{name.id} is built into Python: {_AS_IT_IS}", fails=False)
    return _of_c(context, name)


def _of_attribute(context: ModuleContext, node: ast.Attribute) -> Unread | None:
    if isinstance(node.value, ast.Name):
        made = visible(context, node.value)
        method = context.project.method(made, node.attr) if isinstance(made, ClassInfo) else None
        if method is not None and any(name == "classmethod" for name, _ in method.decorators):
            message = f"{node.attr} is a class method, whose class the compiler does not hand over: it does not compile"
            return _manual(context, node, message, "make it a static method that names its class")
    return _of_c(context, node)


def _of_c(context: ModuleContext, node: ast.Name | ast.Attribute) -> Unread | None:
    head = (dotted(node) or "").partition(".")[0]
    name = context.names_at(node, head).resolve(node) or "" if head else ""
    if name.startswith(_C):
        return _manual(context, node, f"{name} is no function of Python code: {_AS_IT_IS}", fails=False)
    return None


def _of_call(context: ModuleContext, call: ast.Call, place: ast.expr) -> Unread | None:
    """Of what a call gives: a partial object, an instance, a derived function, text that is evaluated."""
    head = (dotted(call.func) or "").partition(".")[0]
    name = (context.names_at(call, head).resolve(call.func) or "") if head else ""
    if name == "functools.partial":
        return Unread(call, f"a partial object is no function: {_AS_IT_IS}", partial_to_function(context, call), False)
    if name in _DERIVE and call.args and isinstance(call.args[0], ast.Lambda):
        return _lambda(context, call.args[0], f"{name.rpartition('.')[2]}(...)")
    if not isinstance(call.func, ast.Name):
        return None
    if call.func.id == "eval" and "eval" not in context.bound:
        return _manual(context, place, "jit cannot read what is evaluated from text: it does not compile")
    made = visible(context, call.func)
    if isinstance(made, FunctionInfo):
        returned = [s.value for s in made.statements if isinstance(s, ast.Return)]
        if made.module is context.module and any(isinstance(value, ast.Lambda) for value in returned):
            inner = next(value for value in returned if isinstance(value, ast.Lambda))
            return _lambda(context, inner, f"what {made.name} returns")
        return None
    if made is None or context.project.is_cell(made) is not False or "__call__" not in made.methods:
        return None
    message = f"an instance of {made.name} is no function: {_AS_IT_IS}"
    return Unread(place, message, _its_call(context, place), False)


def _its_call(context: ModuleContext, place: ast.expr) -> Fix:
    rewrite = context.rewrite()
    rewrite.insert(context.module.end(place), ".__call__")
    return rewrite.unsafe("Compile its __call__", "it was run in Python, and is compiled then")


def _of_element(context: ModuleContext, node: ast.Subscript) -> Unread | None:
    """Of an element: a lambda among others in a list or a dict, or a name that `exec` made."""
    if not isinstance(node.value, ast.Name):
        return None
    value = only_value(context, node.value)
    if isinstance(value, (ast.List, ast.Tuple)):
        parts = list(value.elts)
        keys = list(range(len(parts)))
    elif isinstance(value, ast.Dict):
        parts = list(value.values)
        keys = [k.value if isinstance(k, ast.Constant) else None for k in value.keys]  # type: ignore[misc]
        if not parts and _executed(context, node.value.id):
            return _manual(context, node, "jit cannot read what exec made from text: it does not compile")
    else:
        return None
    wanted = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if wanted is not None and wanted in keys:
        parts = [parts[keys.index(wanted)]]  # type: ignore[arg-type]
    lambdas = [p for p in parts if isinstance(p, ast.Lambda)]
    if not lambdas or len(lambdas) < len(parts):
        return None
    return _lambda(context, lambdas[0], "a list, tuple or dict")


def _executed(context: ModuleContext, name: str) -> bool:
    return any(
        isinstance(c.func, ast.Name) and c.func.id == "exec"
        and any(isinstance(a, ast.Name) and a.id == name for a in c.args[1:])
        for c in context.calls
    )  # fmt: skip


def _unpacked(context: ModuleContext, name: ast.Name) -> Unread | None:
    """Of a name in `first, second = lambda ..., lambda ...`."""
    for node in context.nodes:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.value, ast.Tuple):
            continue
        target = node.targets[0]
        if isinstance(target, ast.Tuple) and len(target.elts) == len(node.value.elts):
            for element, value in zip(target.elts, node.value.elts, strict=True):
                if isinstance(element, ast.Name) and element.id == name.id and isinstance(value, ast.Lambda):
                    return _lambda(context, value, "a tuple")
    return None


def _lambda(context: ModuleContext, node: ast.Lambda, where: str) -> Unread:
    message = f"jit cannot read a lambda in {where}: it does not compile"
    return Unread(node, message, lambda_to_function(context, node))


def _manual(
    context: ModuleContext, node: ast.expr, message: str, advice: str = "write a function with def, and give it that",
    *, fails: bool = True,
) -> Unread:  # fmt: skip
    return Unread(node, message, context.rewrite().manual("Make it a function", advice), fails)
