"""Where NumPy arrays can begin in the graph regions and which functions they can reach, by the text alone: to ask for
the values of a function costs a hundred times as much."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from graphward.analysis.inference import Inference
from graphward.analysis.module import FunctionInfo
from graphward.analysis.names import all_arguments, dotted
from graphward.analysis.tree import children

# NumPy functions that make arrays from sizes and bounds, which no Tensor can be: a parameter there is a number.
MAKERS = frozenset({"zeros", "ones", "full", "empty", "arange", "linspace", "logspace", "eye", "identity", "tri"})
# What an array tells of itself, and is none.
_ABOUT = frozenset({"shape", "dtype", "ndim", "size"})


def starts(inference: Inference, function: FunctionInfo) -> bool:
    """Whether arrays can begin in a function by its text: it calls `.asnumpy()`, `.numpy()` or a NumPy function."""
    return inference.once((starts, function), lambda: any(_starts(function, callee) for callee in function.calls))


def given_arrays(inference: Inference) -> set[FunctionInfo]:
    """The functions that may be handed arrays by their text: a caller works with some and names one in the call."""
    return inference.once(given_arrays, lambda: _given(inference))


def appended(node: ast.AST) -> tuple[ast.Name, ast.expr] | None:
    """The list and the value of `parts.append(value)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1):
        return None
    receiver = node.func.value
    return (receiver, node.args[0]) if node.func.attr == "append" and isinstance(receiver, ast.Name) else None


def bindings(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each `(target, value)` among the nodes: assignments, loops, what is appended to a list."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            yield from ((target, node.value) for target in node.targets)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
            yield node.target, node.value
        elif isinstance(node, (ast.For, ast.comprehension)):
            yield node.target, node.iter
        else:
            pair = appended(node)
            if pair is not None:
                yield pair


def _starts(function: FunctionInfo, callee: ast.AST) -> bool:
    if callee.__class__ is ast.Attribute and callee.attr in ("asnumpy", "numpy"):
        return True
    head = callee
    while head.__class__ is ast.Attribute:
        head = head.value
    if head.__class__ is not ast.Name:
        return False
    meaning = function.names.lookup(head.id)
    return meaning is not None and meaning.startswith("numpy") and _may_take_arrays(function.names.resolve(callee))


def _may_take_arrays(name: str | None) -> bool:
    """Whether a qualified name is that of a NumPy function on arrays: no dtype, no maker of arrays."""
    if name is None or not name.startswith("numpy."):
        return False
    last = name.removeprefix("numpy.")
    return not (last in MAKERS or last in ("finfo", "iinfo", "dtype") or last.startswith("random."))


def _given(inference: Inference) -> set[FunctionInfo]:
    called: dict[FunctionInfo, list[tuple[ast.AST, FunctionInfo]]] = {}
    for reached in inference.reached.values():
        for by, site in reached.sites:
            called.setdefault(by.function, []).append((site, reached.function))
    found: set[FunctionInfo] = set()
    todo = [function for function in called if starts(inference, function)]
    while todo:
        caller = todo.pop()
        sites = called.get(caller, [])
        arrays = _Arrays(caller, caller in found, [site for site, callee in sites if starts(inference, callee)])
        for site, callee in sites:
            if callee not in found and arrays.are_handed(site):
                found.add(callee)
                todo.append(callee)
    return found


class _Arrays:
    """What may hold arrays in a function that works with some: `names` are variables and attributes as written."""

    def __init__(self, function: FunctionInfo, given: bool, made: Iterable[ast.AST]):
        """`given`: its parameters are among them; `made`: callees that give arrays back."""
        self._function = function
        self._callees = {callee for callee in function.calls if _starts(function, callee)}.union(made)
        self._names: set[str] = set()
        if given:
            self._names = {a.arg for a in all_arguments(function.node.args)} - {function.receiver}
        pairs = list(bindings(function.nodes))
        size = -1
        while size != len(self._names):
            size = len(self._names)
            for target, value in pairs:
                if self._in(value):
                    self._names.update(_bound(target))

    def are_handed(self, site: ast.AST) -> bool:
        """Whether a call, by the node of its callee, has one among its arguments. What a nested function sees of the
        function around it is not followed."""
        call = self._function.calls.get(site)
        if call is None or self._function.outer is not None:
            return True
        return any(self._in(value) for value in (*call.args, *(keyword.value for keyword in call.keywords)))

    def _in(self, value: ast.AST) -> bool:
        """Whether an expression names one, and not only what it tells of itself."""
        stack = [value]
        while stack:
            node = stack.pop()
            if node in self._callees:
                return True
            if isinstance(node, (ast.Name, ast.Attribute)) and dotted(node) in self._names:
                return True
            if not (isinstance(node, ast.Attribute) and node.attr in _ABOUT):
                stack += children(node)
        return False


def _bound(target: ast.expr) -> Iterator[str]:
    """The names and attributes that an assignment to `target` changes."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _bound(element)
    elif isinstance(target, (ast.Starred, ast.Subscript)):
        yield from _bound(target.value)
    else:
        name = dotted(target)
        if name:
            yield name
