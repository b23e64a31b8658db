"""Compiled functions that are called again after Python code wrote what they read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.analysis.names import all_arguments
from graphward.analysis.tree import preorder
from graphward.knowledge.names import JIT_NAMES, canonical
from graphward.rules.module_context import ModuleContext

from .._outside import only_value, visible
from .._python import self_attribute
from ..jit._wrappers import bound_in, compiled, is_compiled, loops_around
from ..units._graph_mode import graph_mode

Place = ast.Name | ast.Attribute
"""A variable, or an attribute of `self`."""

Key = tuple[FunctionInfo | ClassInfo | None, str]
"""Where a variable is bound (a function, None for the module) or an attribute lives (a class), and its name."""

_VALUE_AND_GRAD = frozenset({"mindspore.value_and_grad", "mindspore.ops.value_and_grad"})
_GRADS = frozenset({"mindspore.grad", "mindspore.ops.grad", "mindspore.ops.GradOperation"})
_ENDS = (ast.Return, ast.Raise, ast.Break)


@dataclass(eq=False)
class Run:
    """A call that runs a graph: `graph` is the variable of the compiled function, `read` what its code reads and which
    attributes of that ("" for all of it)."""

    call: ast.Call
    graph: Key
    read: dict[Key, set[str]]

    @property
    def names(self) -> set[str]:
        """The variable that holds the compiled function, if it is no attribute."""
        return set() if isinstance(self.graph[0], ClassInfo) else {self.graph[1]}


@dataclass(eq=False)
class _Reading:
    """The variables that code reads, through the functions that it calls and the Cells that wrap others.

    `unsure` where the code takes a bare gradient: one that does not need an input any more sees every write.
    """

    context: ModuleContext
    found: dict[Key, set[str]] = field(default_factory=dict)
    unsure: bool = False

    def follow(self, node: Place) -> None:
        context = self.context
        key = key_of(context, node)
        if key is None:
            return
        known = key in self.found
        self.found.setdefault(key, set()).add(self._part(node))
        if known:
            return
        definition = _definition(context, node)
        if isinstance(definition, FunctionInfo) and definition.module is context.module:
            self._names(definition.nodes, definition)
        elif definition is None:
            value = _value(context, node)
            name = _resolved(context, value.func) if isinstance(value, ast.Call) else ""
            if isinstance(value, ast.Call) and (name in _GRADS or _holds(context, value, name)):
                self._names(preorder(value), context.function_at(value))

    def _part(self, node: Place) -> str:
        """The attribute that is read of a variable: a method reads all of it."""
        outer = self.context.parent(node)
        if not isinstance(outer, ast.Attribute):
            return ""
        value = _value(self.context, node)
        made = _definition(self.context, value.func) if isinstance(value, ast.Call) else None
        method = self.context.project.method(made, outer.attr) if isinstance(made, ClassInfo) else None
        return outer.attr if method is None else ""

    def _names(self, nodes: list[ast.AST], function: FunctionInfo | None) -> None:
        names = function.names if function else self.context.module.names
        for node in nodes:
            if isinstance(node, ast.Call) and canonical(names.resolve(node.func) or "") in _GRADS:
                self.unsure = True
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                self.follow(node)


def key_of(context: ModuleContext, node: Place) -> Key | None:
    """None for `self` alone, and for an attribute of anything else."""
    function = context.function_at(node)
    receiver = function.receiver if function else None
    if isinstance(node, ast.Attribute):
        owner = function.class_around if function else None
        return (owner, node.attr) if owner and self_attribute(node, receiver) else None
    if node.id == receiver:
        return None
    while function is not None and node.id not in function.names.hidden:
        function = function.outer
    return function, node.id


def _definition(context: ModuleContext, node: ast.expr) -> FunctionInfo | ClassInfo | None:
    """The function or class that a variable or an attribute of `self` means."""
    if isinstance(node, ast.Name):
        return visible(context, node)
    key = key_of(context, node) if isinstance(node, ast.Attribute) else None
    return context.project.method(key[0], key[1]) if key and isinstance(key[0], ClassInfo) else None


def _value(context: ModuleContext, node: Place) -> ast.expr | None:
    """The only value of a variable or of an attribute of `self`."""
    if isinstance(node, ast.Name):
        return only_value(context, node)
    key = key_of(context, node)
    if key is None or not isinstance(key[0], ClassInfo):
        return None
    values = context.project.attribute_values(key[0]).get(key[1], [])
    return values[0][1] if len(values) == 1 and values[0][0].module is context.module else None


def runs_of(context: ModuleContext) -> list[Run]:
    """The calls of a file that run a graph which sees no later write, and those of functions that hold such a call."""
    found = list(_direct(context))
    inside: dict[FunctionInfo, list[Run]] = {}
    for run in found:
        function = context.function_at(run.call)
        if function is not None:
            inside.setdefault(function, []).append(run)
    for call in context.calls if inside else ():
        definition = _definition(context, call.func)
        if isinstance(definition, FunctionInfo) and not is_compiled(definition):
            found += (Run(call, run.graph, run.read) for run in inside.get(definition, ()))
    return found


def runs_again(context: ModuleContext, write: ast.stmt, root: Place, runs: list[Run]) -> Run | None:
    """The run that comes before a write to what `root` holds and, of the same graph, once more after it."""
    key = key_of(context, root)
    names = {root.id} if isinstance(root, ast.Name) else set()
    part = _written_part(context, root)
    read = ((run, run.read.get(key, set()) if key else set()) for run in runs)
    mine = [run for run, parts in read if parts and (not part or "" in parts or part in parts)]
    for run in mine:
        loops = set(loops_around(context, run.call))
        for loop in loops_around(context, write):
            if loop in loops and not (names | run.names) & bound_in(loop) and not _leaves(context, write, run.call):
                return run
    here = context.function_at(write)
    start, end = context.module.start(write), context.module.end(write)
    mine = [run for run in mine if context.function_at(run.call) is here and not _apart(context, write, run.call)]
    for first in mine:
        if context.module.start(first.call) < start:
            for run in mine:
                later = run.graph == first.graph and context.module.start(run.call) >= end
                if later and not _leaves(context, write, run.call):
                    return run
    return None


def _written_part(context: ModuleContext, root: Place) -> str:
    """`head` of `net.head.weight`; "" of `net` itself, and of what its methods give."""
    outer = context.parent(root)
    called = context.parent(outer) if isinstance(outer, ast.Attribute) else None
    is_method = isinstance(called, ast.Call) and called.func is outer
    return outer.attr if isinstance(outer, ast.Attribute) and not is_method else ""


def _direct(context: ModuleContext) -> Iterator[Run]:
    for call in context.calls:
        if not isinstance(call.func, (ast.Name, ast.Attribute)):
            continue
        graph = key_of(context, call.func)
        if graph is None or context.function_at(call) in context.inference.reached:
            continue
        function = _compiled(context, call.func)
        if function is None and not _is_compiled_gradient(context, call.func):
            continue
        if function is not None and (_leaves_out(function) or _in_graph_mode(context, function)):
            continue
        if _varies(context, call):
            continue
        reading = _Reading(context)
        reading.follow(call.func)
        if not reading.unsure:
            yield Run(call, graph, reading.found)


def _compiled(context: ModuleContext, func: Place) -> FunctionInfo | None:
    if isinstance(func, ast.Name):
        return compiled(context, func)
    method = _definition(context, func)
    return method if isinstance(method, FunctionInfo) and is_compiled(method) else None


def _is_compiled_gradient(context: ModuleContext, func: Place) -> bool:
    if b"value_and_grad" not in context.module.source.utf8:
        return False
    mode = context.once_here(graph_mode, lambda: graph_mode(context.module))
    if mode is None or _definition(context, func) is not None:
        return False
    value = _value(context, func)
    return isinstance(value, ast.Call) and _resolved(context, value.func) in _VALUE_AND_GRAD


def _leaves_out(function: FunctionInfo) -> bool:
    """Whether a parameter is not used: such a graph looks up all of its Parameters at each call."""
    parameters = {a.arg for a in all_arguments(function.node.args)} - {function.receiver}
    read = {n.id for n in function.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return not parameters <= read


def _in_graph_mode(context: ModuleContext, function: FunctionInfo) -> bool:
    """Whether it is a `construct` that Graph Mode may compile as the Cell that it belongs to, which sees all writes."""
    modules = list(context.project.modules.values())
    return function.name == "construct" and any(b"GRAPH_MODE" in m.source.utf8 for m in modules)


def _varies(context: ModuleContext, call: ast.Call) -> bool:
    """Whether an argument is a number that counts: each compiles a graph of its own, with the values of then."""
    arguments = [*call.args, *(k.value for k in call.keywords)]
    given = {n.id for n in preorder(*arguments) if isinstance(n, ast.Name)}
    for loop in loops_around(context, call):
        if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
            continue
        name = loop.iter.func.id if isinstance(loop.iter.func, ast.Name) else ""
        target = loop.target
        if name == "enumerate" and isinstance(target, ast.Tuple):
            target = target.elts[0]
        if name in ("range", "enumerate") and isinstance(target, ast.Name) and target.id in given:
            return True
    return False


def _resolved(context: ModuleContext, node: ast.expr) -> str:
    function = context.function_at(node)
    return canonical((function.names if function else context.module.names).resolve(node) or "")


def _holds(context: ModuleContext, value: ast.Call, name: str) -> bool:
    """Whether what a call gives runs what it is given: a Cell, a compiled function, a gradient function."""
    if name in _VALUE_AND_GRAD or name in JIT_NAMES or name.startswith("mindspore.nn."):
        return True
    made = visible(context, value.func) if isinstance(value.func, ast.Name) else None
    return isinstance(made, ClassInfo) and context.project.is_cell(made) is True


def _blocks(node: ast.AST) -> Iterator[list[ast.AST]]:
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def _leaves(context: ModuleContext, write: ast.stmt, call: ast.Call) -> bool:
    """Whether the code goes away behind a write, before it comes to `call`."""
    beside = {call, *context.around(call)}
    inner: ast.AST = write
    for outer in context.around(write):
        for block in _blocks(outer):
            if inner in block:
                if any(s in beside for s in block):
                    return False
                if isinstance(block[-1], _ENDS):
                    return True
        inner = outer
    return False


def _apart(context: ModuleContext, write: ast.stmt, call: ast.Call) -> bool:
    """Whether they stand in two arms of one statement, of which one is taken."""
    above: dict[ast.AST, ast.AST] = {}
    inner: ast.AST = call
    for outer in context.around(call):
        above[outer] = inner
        inner = outer
    inner = write
    for outer in context.around(write):
        if outer in above:
            other = above[outer]
            return isinstance(outer, (ast.If, ast.Match)) and not any(
                inner in block and other in block for block in _blocks(outer)
            )
        inner = outer
    return False


def written_roots(context: ModuleContext, parameter: ast.expr) -> list[Place]:
    """What holds a Parameter or the Cell that it belongs to; also behind `p = net.w`, and loops."""
    base = parameter
    while isinstance(base, (ast.Attribute, ast.Subscript)):
        if isinstance(base, ast.Attribute) and key_of(context, base) is not None:
            return [base]
        base = base.value
    if not isinstance(base, ast.Name):
        return []
    found: list[Place] = [base]
    if base is parameter:
        value = only_value(context, base)
        if isinstance(value, (ast.Attribute, ast.Subscript)):
            found += written_roots(context, value)
        for loop in loops_around(context, base):
            source = _source(loop, base.id) if isinstance(loop, ast.For) else None
            if source is not None:
                return written_roots(context, source)
    return found


def _source(loop: ast.For, name: str) -> ast.expr | None:
    """What a loop draws `name` from: `net.get_parameters` of `for p in net.get_parameters()`."""
    target, source = loop.target, loop.iter
    call = source if isinstance(source, ast.Call) else None
    called = call.func.id if call and isinstance(call.func, ast.Name) else ""
    if call and called == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2 and call.args:
        target, source = target.elts[1], call.args[0]
        call = source if isinstance(source, ast.Call) else None
        called = call.func.id if call and isinstance(call.func, ast.Name) else ""
    if call and called == "zip" and isinstance(target, ast.Tuple) and len(target.elts) == len(call.args):
        pairs = zip(target.elts, call.args, strict=True)
        target, source = next(((t, a) for t, a in pairs if name in _bound(t)), (target, source))
    if name not in _bound(target):
        return None
    while isinstance(source, ast.Call):
        source = source.func
    return source


def _bound(target: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
