"""What a function calls: sub-Cells, project functions and layers of MindSpore, each with the place of the call."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from graphward.analysis.calls import CallGraph, Target
from graphward.analysis.inference import Inference
from graphward.analysis.kinds import Tag
from graphward.analysis.module import ClassInfo, FunctionInfo

_AROUND_ITERABLE = frozenset({"enumerate", "reversed", "zip"})
_LOOPS = (ast.For, ast.comprehension)


@dataclass(eq=False)
class Reference:
    """`node` is what is called (`self.encoder`, `net`, `grad_fn`), or a container whose elements are (`each`).

    `name` is its last part. `targets` are the project functions behind it, with the class of their `self`; `library` is
    the qualified name of a layer of MindSpore. Neither is known of an attribute that a caller hands in (`unknown`).
    """

    node: ast.expr
    call: ast.Call | None
    name: str
    targets: tuple[Target, ...] = ()
    library: str = ""
    each: bool = False
    unknown: bool = False

    @property
    def is_cell(self) -> bool:
        """Whether a Cell of the project is called."""
        return any(function.name == "construct" for function, _ in self.targets)


def references(inference: Inference, function: FunctionInfo, cell: ClassInfo | None) -> list[Reference]:
    """The references of a function whose `self` is an instance of `cell`, in source order."""
    return inference.once((references, function, cell), lambda: _find(inference, function, cell))


def _find(inference: Inference, function: FunctionInfo, cell: ClassInfo | None) -> list[Reference]:
    targets: dict[ast.AST, list[Target]] = {}
    calls = inference.once(CallGraph, lambda: CallGraph(inference.project))
    for node, callee, owner in calls.callees(function, cell):
        targets.setdefault(node, []).append((callee, owner))
    found = []
    for node in function.loads:
        assert isinstance(node, ast.expr)
        call, each = _use(function, node)
        if call is None and not each:
            continue
        reference = _reference(inference, function, node, call, each, targets.get(node, []))
        if reference is not None:
            found.append(reference)
    return found


def _reference(
    inference: Inference, function: FunctionInfo, node: ast.expr, call: ast.Call | None, each: bool,
    targets: list[Target],
) -> Reference | None:  # fmt: skip
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if targets:
        return Reference(node, call, name, tuple(targets), each=each)
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == function.receiver
    if not own and not (isinstance(node, ast.Name) and function.names.lookup(node.id) is None):
        return None
    kind = inference.kind(function, node)
    if kind.tag is Tag.CELL and isinstance(kind.info, ClassInfo):
        construct = inference.project.method(kind.info, "construct")
        return Reference(node, call, name, ((construct, kind.info),) if construct else (), each=each)
    if kind.tag in (Tag.CELL, Tag.CELLS):
        return Reference(node, call, name, library=kind.name or "mindspore.nn.Cell", each=each)
    unknown = own and kind.tag is Tag.UNKNOWN and call is not None
    return Reference(node, call, name, each=each, unknown=True) if unknown else None


def _use(function: FunctionInfo, node: ast.AST) -> tuple[ast.Call | None, bool]:
    """The call of the node or of an element of it; or whether a loop goes through its elements."""
    parent = function.parents.get(node)
    if isinstance(parent, ast.Subscript) and parent.value is node:
        node, parent = parent, function.parents.get(parent)
    if isinstance(parent, ast.Call) and parent.func is node:
        return parent, False
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in _AROUND_ITERABLE:
        node, parent = parent, function.parents.get(parent)
    return None, isinstance(parent, _LOOPS) and parent.iter is node
