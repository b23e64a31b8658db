"""Which values of an island have a gradient that NumPy cuts and a rewrite would have."""

from __future__ import annotations

import ast

from graphward.rules.context import FunctionContext

from ._conversion import Binding
from ._values import HostValues


class Gradients:
    """Follows values through one function: comparisons, indices and arrays of constants have no gradient to lose."""

    def __init__(self, context: FunctionContext, values: HostValues, binding: Binding):
        self._context = context
        self._values = values
        self._binding = binding
        self._known: dict[object, bool] = {}

    def reach(self, node: ast.expr) -> bool:
        """Whether the value of `node` may carry a gradient from an input of the island."""
        key: object = node.id if isinstance(node, ast.Name) else node
        if key not in self._known:
            self._known[key] = False  # a loop: what the other bindings say decides
            self._known[key] = self._variable(node) if isinstance(node, ast.Name) else self._expression(node)
        return self._known[key]

    def _variable(self, node: ast.Name) -> bool:
        return node.id in self._values.array_parameters or any(
            self._sources(value) for target, value in self._values.bindings if self._binds(target, node.id)
        )

    @staticmethod
    def _binds(target: ast.expr, name: str) -> bool:
        """Whether the target is the variable, a tuple that holds it, or an element of it."""
        if isinstance(target, ast.Subscript):
            target = target.value
        return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(target))

    def _expression(self, node: ast.expr) -> bool:
        if self._values.is_entry(node):
            return True
        if isinstance(node, ast.Compare):
            return False
        bound = self._binding.bound.get(node)
        if bound is not None and not bound.row.has_gradient:
            return False
        operands = self._values.operands(node)
        call = self._values.calls.get(node)
        tensors = call is not None and any(self._context.kind(o).is_tensor for o in operands)
        return tensors or (call is None and isinstance(node, ast.Call)) or any(self._sources(o) for o in operands)

    def _sources(self, value: ast.expr) -> bool:
        for source in self._values.sources(value):
            if isinstance(source, ast.expr) and self.reach(source):
                return True
            if isinstance(source, str) and self.reach(ast.Name(source, ast.Load())):
                return True
        return False
