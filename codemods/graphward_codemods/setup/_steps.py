"""What a script that runs in PyNative computes with: the functions and Cells that are to be compiled on their own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.analysis.names import dotted
from graphward.rules.module_context import ModuleContext

from .._outside import only_value, visible
from ..jit._wrappers import is_compiled, is_jit, loops_around
from ..units._boundaries import obstacle

_GRADIENTS = frozenset(
    {"mindspore.value_and_grad", "mindspore.ops.value_and_grad", "mindspore.grad", "mindspore.ops.grad"}
)
# Cells and functions of MindSpore that run the network which they are given first.
_AROUND = frozenset(
    {"mindspore.nn.WithLossCell", "mindspore.nn.TrainOneStepCell", "mindspore.nn.WithEvalCell",
     "mindspore.nn.ForwardValueAndGrad", "mindspore.amp.auto_mixed_precision", "mindspore.amp.build_train_network",
     "mindspore.train.Model", "mindspore.Model"}
)  # fmt: skip
_MODELS = frozenset({"mindspore.train.Model", "mindspore.Model"})
_COMPUTES = ("mindspore.ops.", "mindspore.mint.", "mindspore.nn.", "mindspore.numpy.")
_HOST_CALLS = frozenset({"print", "float", "input", "open", "next"})
_HOST_METHODS = frozenset({"asnumpy", "numpy", "item", "tolist", "append", "create_dict_iterator", "set_train"})
_HOST_NODES = (ast.Try, ast.With, ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.Raise)


@dataclass
class Steps:
    """`functions` can be put under `jit` as they are; `unfit` are names and why they cannot; `compiled` says whether
    something is under `jit` already."""

    functions: list[FunctionInfo] = field(default_factory=list)
    unfit: dict[str, str] = field(default_factory=dict)
    compiled: bool = False
    seen: set[FunctionInfo] = field(default_factory=set)

    @property
    def found(self) -> int:
        return len(self.functions) + len(self.unfit) + self.compiled


def steps(context: ModuleContext) -> Steps:
    """What the loops of a file call, the outermost functions that compute and do nothing else; of a file whose loops
    compute nothing, what it calls at all."""
    found = Steps()
    outside = [c for c in context.calls if not _in_graph_code(context, c)]
    for call in outside:
        if any(True for _ in loops_around(context, call)):
            _look(context, call, found)
    for use in context.uses:
        if use.name in _MODELS and use.call is not None and use.call.args:
            _function(context, use.call.args[0], found)
    if not found.found:
        for call in outside:
            _look(context, call, found)
    return found


def _in_graph_code(context: ModuleContext, node: ast.AST) -> bool:
    """Whether a node stands in what is compiled with a Cell: in the Cell, in a function inside of a method too, or in a
    function that a `construct` calls. A class with a `construct` whose bases are out of sight is taken for a Cell."""
    if context.function_at(node) in context.inference.reached:
        return True
    names = (outer.name for outer in context.around(node) if isinstance(outer, ast.ClassDef))
    owners = [o for o in map(context.module.definitions.get, names) if isinstance(o, ClassInfo)]
    known = [(context.project.is_cell(owner), context.project.method(owner, "construct")) for owner in owners]
    return any(is_cell or (is_cell is None and construct is not None) for is_cell, construct in known)


def _look(context: ModuleContext, call: ast.Call, found: Steps) -> None:
    function = context.function_at(call)
    if function is not None and is_compiled(function):
        found.compiled = True
        return
    _function(context, call.func, found, call)


def _function(context: ModuleContext, func: ast.expr, found: Steps, call: ast.Call | None = None) -> None:
    """Note what an expression runs when it is called."""
    meant = _meant(context, func)
    if isinstance(meant, FunctionInfo):
        _step(context, meant, found, call)
    elif isinstance(meant, ast.Call):
        name = context.names_at(meant, (dotted(meant.func) or "").partition(".")[0]).resolve(meant.func) or ""
        made = _class(context, meant.func)
        if is_jit(context, meant.func):
            found.compiled = True
        elif (name in _GRADIENTS or name in _AROUND) and meant.args:
            _function(context, meant.args[0], found)
        elif made is not None:
            _construct(context, made, found)


def _meant(context: ModuleContext, func: ast.expr) -> FunctionInfo | ast.Call | None:
    """The function, or the call that made the object, which an expression means."""
    if isinstance(func, ast.Call):
        return func
    if isinstance(func, ast.Name):
        known = visible(context, func)
        value = None if known else only_value(context, func)
        return known if isinstance(known, FunctionInfo) else value if isinstance(value, ast.Call) else None
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        function = context.function_at(func)
        owner = function.class_around if function else None
        if function is not None and owner is not None and func.value.id == function.receiver:
            method = context.project.method(owner, func.attr)
            given = context.project.attribute_values(owner).get(func.attr, ())
            made = [value for _, value in given if isinstance(value, ast.Call)]
            return method or (made[0] if len(given) == len(made) == 1 else None)
        qualified = context.names_at(func, func.value.id).resolve(func)
        known = context.project.definition(qualified) if qualified else None
        return known if isinstance(known, FunctionInfo) else None
    return None


def _class(context: ModuleContext, func: ast.expr) -> ClassInfo | None:
    """The Cell of the project that a call makes."""
    known = visible(context, func) if isinstance(func, ast.Name) else None
    if known is None and isinstance(func, ast.Attribute):
        head = (dotted(func) or "").partition(".")[0]
        qualified = context.names_at(func, head).resolve(func) if head else None
        known = context.project.definition(qualified) if qualified else None
    return known if isinstance(known, ClassInfo) and context.project.is_cell(known) else None


def _construct(context: ModuleContext, made: ClassInfo, found: Steps) -> None:
    construct = context.project.method(made, "construct")
    if construct is None or construct in found.seen:
        return
    found.seen.add(construct)
    _note(context, construct, construct.owner, found, "")


def _step(context: ModuleContext, function: FunctionInfo, found: Steps, call: ast.Call | None) -> None:
    """Note a function if it computes, else what it calls."""
    if is_compiled(function):
        found.compiled = True
        return
    if function in found.seen or function.module is not context.module:
        return
    inner = [n for n in function.nodes if isinstance(n, ast.Call)]
    if call is not None and any(True for c in inner for _ in loops_around(context, c)):
        return  # no step, but a loop over steps
    found.seen.add(function)
    below = Steps(seen=set(found.seen))
    for part in inner:
        _function(context, part.func, below)
    computes = below.found or any(
        use.name.startswith(_COMPUTES) for use in context.uses if use.call is not None and use.call in inner
    )
    if not computes:
        return
    cell = function.owner if function.owner and context.project.is_cell(function.owner) else None
    reason = _handed(context, call) if call is not None else ""
    if function.owner is not None and cell is None:
        reason = f"{function.qualname} is a method of a class that is no Cell"
    reason = reason or obstacle(context.inference, function, cell) or host_use(function)
    if reason and below.found:  # the largest part of it that is nothing but a graph
        found.functions += [f for f in below.functions if f not in found.functions]
        found.unfit.update(below.unfit)
        found.compiled |= below.compiled
        found.seen |= below.seen
    else:
        _note(context, function, cell, found, reason)


def _note(
    context: ModuleContext, function: FunctionInfo, cell: ClassInfo | None, found: Steps, reason: str
) -> None:
    if is_compiled(function):
        found.compiled = True
        return
    reason = reason or obstacle(context.inference, function, cell) or host_use(function)
    if reason:
        found.unfit[function.qualname] = reason
    elif function not in found.functions:
        found.functions.append(function)


def host_use(function: FunctionInfo) -> str:
    """What a function does that has its place in Python, else empty."""
    for node in function.nodes:
        if isinstance(node, _HOST_NODES):
            return f"{function.qualname} holds a `{type(node).__name__.lower()}`"
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in _HOST_CALLS:
            return f"{function.qualname} calls {node.func.id}"
        if isinstance(node.func, ast.Attribute) and node.func.attr in _HOST_METHODS:
            return f"{function.qualname} calls .{node.func.attr}"
        if (function.names.resolve(node.func) or "").partition(".")[0] in ("numpy", "time", "logging"):
            return f"{function.qualname} calls {dotted(node.func)}"
    return ""


def _handed(context: ModuleContext, call: ast.Call) -> str:
    """Why what a call hands over keeps its function from being one graph, else empty."""
    given = [*call.args, *(k.value for k in call.keywords)]
    counters = {n for loop in loops_around(context, call) for n in _counters(loop)}
    for value in given:
        if isinstance(value, ast.Starred):
            return "it is handed stars"
        if isinstance(value, ast.Name) and value.id in counters:
            return f"it is handed {value.id}, a number that is another one in each round: each would be a new graph"
        if isinstance(value, ast.Name):
            meant = _meant(context, value)
            if isinstance(meant, FunctionInfo):
                return f"it is handed {value.id}, a function"
            if isinstance(meant, ast.Call) and _is_callable(context, meant):
                return f"it is handed {value.id}, which is no Tensor"
    return ""


def _is_callable(context: ModuleContext, made: ast.Call) -> bool:
    head = (dotted(made.func) or "").partition(".")[0]
    name = context.names_at(made, head).resolve(made.func) or ""
    return name in _GRADIENTS or name.startswith("mindspore.nn.") or _class(context, made.func) is not None


def _counters(loop: ast.For | ast.While | ast.AsyncFor) -> Iterator[str]:
    """The names that hold Python numbers in a loop."""
    if isinstance(loop, ast.While) or not isinstance(loop.iter, ast.Call):
        return
    called, target = dotted(loop.iter.func), loop.target
    if called == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[0]
    elif called != "range":
        return
    if isinstance(target, ast.Name):
        yield target.id
