"""GW907: numbers that a graph reads and Python changes between two calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite
from .._python import literal_number, self_attribute
from ._carried import carry
from ._globals import global_place, written_elsewhere
from ._state import attribute_of
from ._state_fixes import StatePlan


class ChangedOutside(Rule):
    """A number that the graph took in when it was compiled is changed afterwards.

    ## What it finds

    An attribute of self that starts as a number, that a graph region reads, and that another method sets which does not
    belong to the construction of the Cell (`set_gain`, a `__call__` that counts); a number at module level that a graph
    region reads and a function rebinds; both where the number meets a Tensor. Flags (`True`, `False`) and sizes are
    left alone: they choose code, are set before the first call, and `training` is followed anyway.

    ## Why

    Python numbers are constants of the compiled graph. A later change neither shows nor compiles again: the old value
    stays, without a word.

    ## Example

        self.gain = 1.0                     # __init__
        self.gain = value                   # set_gain

    becomes

        self.gain = Parameter(Tensor(1.0, ms.float32), name="gain", requires_grad=False)
        ops.assign(self.gain, Tensor(value, ms.float32))

    (`set_data` is not seen by a graph that was made by `jit(net)`.) For a global a new `__call__` loads a Parameter
    from it at each call.

    ## What the rewrite assumes

    That the number keeps its type, and is read only where a Tensor can stand.

    ## When it is unsafe

    Always: who reads the attribute from outside gets a Parameter, which is saved in checkpoints.

    ## References

    Measured on MindSpore 2.7.0 and 2.10.0 CPU.
    """

    code = "GW907"
    name = "changed-outside"
    consequence = Consequence.DIVERGENCE
    triggers = (b"self.", b"global ")

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        function = context.function
        if function.name == "__init__":
            return
        yield from self._attributes(context, function)
        if b"global " in context.module.source.utf8:
            yield from self._globals(context, function)

    def _attributes(self, context: FunctionContext, function: FunctionInfo) -> Iterable[Finding]:
        cell = function.owner
        if cell is None or function.receiver is None:
            return
        setters = context.once((_set_outside, cell), lambda: _set_outside(context, cell))
        seen: set[str] = set()
        for node in function.loads if setters else ():
            name = self_attribute(node, function.receiver)
            if name in setters and name not in seen and _meets_a_tensor(context, node):
                seen.add(name)
                message = f"self.{name} is a constant of the graph: what {setters[name].name} sets later does not show"
                yield context.finding(self, node, message, fixes=(_in_parameter(context, cell, name),))

    def _globals(self, context: FunctionContext, function: FunctionInfo) -> Iterable[Finding]:
        seen: set[str] = set()
        for node in function.loads:
            if not isinstance(node, ast.Name) or node.id in seen or function.names.is_local(node.id):
                continue
            if node.id not in context.module.assignments:
                continue
            value = literal_number(context.module.assignments[node.id])
            if value is None or isinstance(value, bool) or not _meets_a_tensor(context, node):
                continue
            seen.add(node.id)
            setter = written_elsewhere(context.inference, context.module, node.id)
            if setter is not None:
                message = f"{node.id} is a constant of the graph: what {setter.name} sets later does not show"
                yield context.finding(self, node, message, fixes=(_carried(context, node.id),))


# What `__call__` of the class itself sets changes with every call: it is no exception here.
_BEFORE_A_CALL = frozenset({"__new__", "__init_subclass__", "__setstate__", "__setattr__", "__post_init__"})


def _meets_a_tensor(context: FunctionContext, node: ast.AST) -> bool:
    """Whether a number goes into a Tensor, and not into the shapes and decisions of the compiler."""
    parent = context.parent(node)
    if isinstance(parent, (ast.BinOp, ast.Compare)):
        return any(context.kind(n).is_tensor for n in ast.iter_child_nodes(parent) if isinstance(n, ast.expr))
    return isinstance(parent, ast.Call) and (context.resolve(parent.func) or "").startswith("mindspore.")


def _set_outside(context: FunctionContext, cell: ClassInfo) -> dict[str, FunctionInfo]:
    """The number attributes of a class that a method sets which runs neither in a graph nor while it is made."""
    reached = context.inference.reached
    building = _called_by_init(cell)
    found: dict[str, FunctionInfo] = {}
    for method in cell.methods.values():
        if method in reached or method.name in building or method.name in _BEFORE_A_CALL:
            continue
        added = [
            name for n in method.nodes
            if isinstance(n, ast.AugAssign) and (name := self_attribute(n.target, method.receiver)) is not None
        ]  # fmt: skip
        for name in [*(name for name, _ in method.self_assignments), *added]:
            if name not in found:
                start = attribute_of(context, cell, name).start
                value = literal_number(start)
                if value is not None and not isinstance(value, bool):
                    found[name] = method
    return found


def _called_by_init(cell: ClassInfo) -> set[str]:
    """The methods that `__init__` calls, and those that they call."""
    found = {"__init__"}
    stack = ["__init__"]
    while stack:
        method = cell.methods.get(stack.pop())
        for node in method.loads if method else ():
            name = self_attribute(node, method.receiver) if method else None
            if name in cell.methods and name not in found:
                found.add(name)
                stack.append(name)
    return found


def _in_parameter(context: FunctionContext, cell: ClassInfo, name: str) -> Fix:
    try:
        return StatePlan(context, cell).parameter(name)
    except CannotRewrite as reason:
        return _manual(context, f"self.{name}", reason)


def _carried(context: FunctionContext, name: str) -> Fix:
    try:
        return carry(context, global_place(context, name), [])
    except CannotRewrite as reason:
        return _manual(context, name, reason)


def _manual(context: FunctionContext, name: str, reason: Exception) -> Fix:
    advice = f"{reason}; hand {name} in as an argument (a Tensor, or it compiles again for each value)"
    return context.rewrite().manual(f"Hand {name} in", advice)
