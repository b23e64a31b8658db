"""How many operators a graph will have, roughly: enough to tell an encoder from a loss."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence

from graphward.analysis.inference import Inference
from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.analysis.tree import children, preorder

from .._python import literal_number
from ..cells._counts import largest_count
from ..cells._layers import CONTAINERS, is_layer_name, layer
from ..cells._made import class_made
from ._references import Reference, references

# Operators of a layer's forward pass; others count two.
_LAYERS = {
    "Dropout": 1, "Embedding": 1, "ReLU": 1, "GELU": 1, "Tanh": 1, "Sigmoid": 1, "SiLU": 1, "Flatten": 1, "Identity": 0,
    "CrossEntropyLoss": 4, "SoftmaxCrossEntropyWithLogits": 4, "MSELoss": 3, "L1Loss": 3, "BCELoss": 4,
    "BCEWithLogitsLoss": 4, "NLLLoss": 3, "LSTM": 12, "GRU": 12, "RNN": 8, "MultiheadAttention": 14,
    "TransformerEncoderLayer": 24, "TransformerDecoderLayer": 36, "TransformerEncoder": 100, "TransformerDecoder": 150,
    "Transformer": 250,
}  # fmt: skip
_FUNCTIONS = {"cross_entropy": 4, "binary_cross_entropy": 4, "binary_cross_entropy_with_logits": 4, "mse_loss": 3}
_FUNCTIONS |= {"l1_loss": 3, "nll_loss": 3, "smooth_l1_loss": 3, "layer_norm": 2, "normalize": 3, "dropout": 1}
_PYTHON_METHODS = frozenset({"append", "extend", "items", "keys", "values", "get", "format", "join", "update", "pop"})
_UNKNOWN_CELL = 12
_UNKNOWN_COUNT = 4
_LOOP = 3


class Sizes:
    """Sizes of the functions of a run, in operators."""

    def __init__(self, inference: Inference):
        self._inference = inference
        self._known: dict[tuple[FunctionInfo, ClassInfo | None], int] = {}

    def function(self, function: FunctionInfo, cell: ClassInfo | None) -> int:
        """Of a function and what it calls; of a recursion one turn."""
        key = (function, cell)
        if key not in self._known:
            self._known[key] = 1
            self._known[key] = self.nodes(function, cell, function.node.body)
        return self._known[key]

    def reference(self, function: FunctionInfo, cell: ClassInfo | None, reference: Reference) -> int:
        """Of what one reference calls, once for each element of a container."""
        if reference.targets:
            size = max(self.function(*target) for target in reference.targets)
        elif reference.library:
            size = self._library(function, cell, reference)
        else:
            size = _UNKNOWN_CELL
        return size * (self.elements(cell, reference.name) if reference.each else 1)

    def nodes(self, function: FunctionInfo, cell: ClassInfo | None, roots: Sequence[ast.AST]) -> int:
        """Of what stands under `roots` in a function, loops counted as often as they seem to run."""
        known = {r.node: r for r in references(self._inference, function, cell)}
        called = {r.call for r in known.values() if r.call is not None}
        total = 0
        stack = [(node, 1) for node in roots]
        while stack:
            node, factor = stack.pop()
            reference = known.get(node) if isinstance(node, ast.expr) else None
            if reference is not None:
                total += factor * self.reference(function, cell, reference)
            elif isinstance(node, ast.BinOp) or (isinstance(node, ast.Call) and node not in called):
                total += factor * self._own(function, node)
            if isinstance(node, ast.For):
                through = any(known[n].each for n in preorder(node.iter) if n in known)
                turns = self._elements_of(cell, node.iter, known) if through else self._turns(function, node.iter)
                stack += [(child, factor * turns) for child in node.body]
                stack += [(child, factor) for child in (node.iter, *node.orelse)]
            elif isinstance(node, (ast.While, ast.ListComp, ast.GeneratorExp)):
                stack += [(child, factor * _LOOP) for child in children(node)]
            else:
                stack += [(child, factor) for child in children(node)]
        return total

    def _own(self, function: FunctionInfo, node: ast.AST) -> int:
        if isinstance(node, ast.BinOp):
            return 0 if literal_number(node.left) is not None and literal_number(node.right) is not None else 1
        assert isinstance(node, ast.Call)
        resolved = function.names.resolve(node.func)
        if resolved is not None:
            last = resolved.rpartition(".")[2]
            return _FUNCTIONS.get(last, 1) if resolved.startswith("mindspore.") else 0
        if isinstance(node.func, ast.Name):
            return 0 if hasattr(builtins, node.func.id) else 1
        return 0 if isinstance(node.func, ast.Attribute) and node.func.attr in _PYTHON_METHODS else 1

    def _library(self, function: FunctionInfo, cell: ClassInfo | None, reference: Reference) -> int:
        if cell is not None and reference.library in CONTAINERS:
            values = self._inference.project.attribute_values(cell).get(reference.name, [])
            inside = [n for _, value in values for n in preorder(value) if isinstance(n, ast.Call)]
            return max(2, 2 * (len(inside) - 1))
        if not is_layer_name(reference.library):  # an optimizer, which is a graph as it is
            return 0
        return _LAYERS.get(reference.library.rpartition(".")[2], 2)

    def _elements_of(self, cell: ClassInfo | None, iterable: ast.expr, known: dict[ast.expr, Reference]) -> int:
        return max(self.elements(cell, known[n].name) for n in preorder(iterable) if n in known)

    def elements(self, cell: ClassInfo | None, attribute: str) -> int:
        """How many elements a container of Cells has."""
        for method, value in self._inference.project.attribute_values(cell).get(attribute, []) if cell else ():
            for node in preorder(value):
                if isinstance(node, ast.ListComp):
                    return self._turns(method, node.generators[0].iter)
                if isinstance(node, ast.List) and node.elts:
                    return len(node.elts)
        return _UNKNOWN_COUNT

    def _turns(self, function: FunctionInfo, iterable: ast.expr) -> int:
        """How often a loop over `range(...)` runs, where a literal or a default tells."""
        if not (isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.func.id == "range"):
            return _LOOP
        stop = iterable.args[min(1, len(iterable.args) - 1)] if iterable.args else None
        number = literal_number(stop)
        if isinstance(stop, ast.Name):
            seen = largest_count(self._inference, function, stop.id)
            number = seen[0] if seen else None
        return max(1, int(number)) if number is not None else _UNKNOWN_COUNT


def has_weights(inference: Inference, reference: Reference, depth: int = 4) -> bool:
    """Whether what is called has parameters of its own, as far as that is known; functions are followed to `depth`."""
    if reference.library:
        if not is_layer_name(reference.library):
            return False
        known = layer(reference.library)
        return known is None or bool(known.weights)
    for function, cell in reference.targets:
        if function.name == "construct" and cell is not None:
            made = class_made(inference, cell)
            if made.weights or not made.known:
                return True
        elif depth and any(has_weights(inference, r, depth - 1) for r in references(inference, function, cell)):
            return True
    return reference.unknown
