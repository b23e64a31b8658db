"""Which expressions of a function hold NumPy arrays that were made from Tensors, and which calls compute them."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from graphward.analysis.kinds import Kind, Tag
from graphward.analysis.tree import children, preorder
from graphward.rules.context import FunctionContext

from ._array_flow import MAKERS, bindings, given_arrays, starts

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_CONTAINERS = (ast.Tuple, ast.List, ast.Starred)
_TYPE_TESTS = ("isinstance", "is_tensor", "type")
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp)
# NumPy functions that call the method of that name on a Tensor: they give a Tensor, and its gradient is there.
_DELEGATING = frozenset({"transpose", "squeeze", "swapaxes", "moveaxis", "flip", "fliplr", "flipud", "nonzero"})


@dataclass(frozen=True)
class HostCall:
    """A NumPy function (`name` dotted, without `numpy.`) or, when `method`, a method of an array. `delegates`: NumPy
    hands the Tensor's own method the work, and the gradient stays."""

    node: ast.Call
    name: str
    method: bool = False
    delegates: bool = False


class HostValues:
    """What one function computes on the host; the bodies of nested functions are left out.

    `host` are the expressions that hold arrays, `calls` the NumPy calls on traced values, `lists` the variables that
    hold tuples or lists of arrays, `bindings` each `(target, value)` of the function.
    """

    def __init__(self, context: FunctionContext):
        self._context = context
        self.nested: set[ast.AST] = set()
        self.nodes: list[ast.AST] = []
        self.host: set[ast.AST] = set()
        self.calls: dict[ast.AST, HostCall] = {}
        self.lists: set[str] = set()
        self.bindings: list[tuple[ast.expr, ast.expr]] = []
        self.array_parameters: frozenset[str] = frozenset()
        self._names: set[str] = set()
        given = context.function in given_arrays(context.inference)
        if given or starts(context.inference, context.function):
            if given:
                self.array_parameters = self._array_parameters()
            self._split()
            self._mark()

    def _split(self) -> None:
        """Set the nodes of nested functions apart."""
        for node in self._context.function.nodes:
            if isinstance(node, _SCOPES) and node not in self.nested:
                self.nested.update(preorder(node))
        self.nodes = [node for node in self._context.function.nodes if node not in self.nested]

    def _array_parameters(self) -> frozenset[str]:
        parameters = self._context.inference.parameters(self._context.function)
        return frozenset(name for name, kind in parameters.items() if kind.tag is Tag.NDARRAY and kind.variable)

    def kind(self, node: ast.AST) -> Kind:
        return self._context.kind(node)

    def is_entry(self, node: ast.AST) -> bool:
        """`x.asnumpy()`, which only a Tensor has; `x.numpy()` of what is known to be one."""
        if not (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords
        ):
            return False
        return node.func.attr == "asnumpy" or (node.func.attr == "numpy" and self.kind(node.func.value).is_tensor)

    def numpy_name(self, node: ast.AST) -> str | None:
        """`linalg.norm` for a call of `numpy.linalg.norm`, else None."""
        if not isinstance(node, ast.Call):
            return None
        name = self._context.resolve(node.func)
        return name.removeprefix("numpy.") if name is not None and name.startswith("numpy.") else None

    def operands(self, node: ast.expr) -> list[ast.expr]:
        """The parts of an expression whose values go into its own; elements of tuples and lists one by one."""
        if isinstance(node, ast.Call):
            receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            parts = [*receiver, *node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.IfExp):
            parts = [node.body, node.orelse]
        elif isinstance(node, _COMPREHENSIONS):
            parts = [node.elt]
        else:
            parts = [child for child in children(node) if isinstance(child, ast.expr)]
        found = []
        for part in parts:
            found += self.operands(part) if isinstance(part, (*_CONTAINERS, *_COMPREHENSIONS)) else [part]
        return found

    def sources(self, value: ast.expr) -> list[object]:
        """The host expressions, and the names of lists of arrays, that a value is, holds or hands through."""
        if value in self.host or value in self.calls:
            return [value]
        if isinstance(value, ast.Name):
            return [value.id] if value.id in self.lists else []
        through = isinstance(value, ast.Call) and isinstance(value.func, ast.Name)
        through = through and value.func.id in ("enumerate", "zip", "list", "tuple", "reversed")  # type: ignore[attr-defined]
        if through or isinstance(value, (*_CONTAINERS, *_COMPREHENSIONS, ast.IfExp, ast.Subscript)):
            parts = [value.value] if isinstance(value, ast.Subscript) else self.operands(value)
            return [source for part in parts for source in self.sources(part)]
        return []

    def _mark(self) -> None:
        self.bindings = list(bindings(self.nodes))
        self._names |= self.array_parameters
        size = -1
        while size != len(self.host) + len(self._names) + len(self.lists):
            size = len(self.host) + len(self._names) + len(self.lists)
            for node in reversed(self.nodes):
                if isinstance(node, ast.expr) and node not in self.host:
                    self._mark_expression(node)
            self._mark_bound()

    def _mark_expression(self, node: ast.expr) -> None:
        call = self._host_call(node)
        if call is not None:
            self.calls[node] = call
        if self.is_entry(node) or self._is_array(node, call):
            self.host.add(node)

    def _is_array(self, node: ast.expr, call: HostCall | None) -> bool:
        if self.kind(node).tag is not Tag.NDARRAY or (call is not None and call.delegates):
            return False
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return False
        if isinstance(node, ast.Name):
            return node.id in self._names
        return call is not None or any(self._holds_array(part) for part in self.operands(node))

    def _holds_array(self, value: ast.expr) -> bool:
        """Whether an array is among the sources of a value: what a delegating call gives is a Tensor."""
        sources = self.sources(value)
        return any(not (isinstance(s, ast.AST) and s in self.calls and self.calls[s].delegates) for s in sources)

    def _host_call(self, node: ast.expr) -> HostCall | None:
        name = self.numpy_name(node)
        if name is not None and not name.startswith("random."):
            assert isinstance(node, ast.Call)
            operands = self.operands(node)[1:] if isinstance(node.func, ast.Attribute) else self.operands(node)
            if name in MAKERS or type_tested(self._context, node, operands):
                operands = [operand for operand in operands if self._holds_array(operand)]
            on_host = any(self._holds_array(operand) for operand in operands)
            if on_host or any(self._is_traced(operand) or operand in self.calls for operand in operands):
                return HostCall(node, name, delegates=not on_host and name in _DELEGATING)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.value in self.host:
            return None if self.is_entry(node) else HostCall(node, node.func.attr, method=True)
        return None

    def _is_traced(self, node: ast.expr) -> bool:
        kind = self.kind(node)
        return kind.variable and (kind.is_tensor or kind.tag is Tag.SEQUENCE)

    def _mark_bound(self) -> None:
        for target, value in self.bindings:
            if self._holds_array(value):
                for name in preorder(target):
                    if not isinstance(name, ast.Name):
                        continue
                    kind = self.kind(name)
                    if kind.tag is Tag.NDARRAY:
                        self._names.add(name.id)
                    elif kind.tag is Tag.SEQUENCE:
                        self.lists.add(name.id)


def type_tested(context: FunctionContext, node: ast.AST, operands: list[ast.expr]) -> bool:
    """Whether `node` stands under a test of the type of one of the operands, as in `if isinstance(x, np.ndarray)`:
    the compiler takes one arm, and the other means another kind of value."""
    names = {operand.id for operand in operands if isinstance(operand, ast.Name)}
    parent = context.parent(node)
    while parent is not None and names:
        if isinstance(parent, (ast.If, ast.IfExp)):
            for call in preorder(parent.test):
                if isinstance(call, ast.Call) and call.args and ast.unparse(call.func).endswith(_TYPE_TESTS):
                    if isinstance(call.args[0], ast.Name) and call.args[0].id in names:
                        return True
        parent = context.parent(parent)
    return False
