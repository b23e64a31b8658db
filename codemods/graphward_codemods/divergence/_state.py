"""Attributes of a Cell that graph code writes: where they start, how they are written and read."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from graphward.analysis.kinds import Kind, Tag
from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.rules.context import FunctionContext

from .._python import self_attribute


class Write(NamedTuple):
    """`statement` gives the attribute `value`; None for what is no plain value (unpacking)."""

    function: FunctionInfo
    statement: ast.stmt
    node: ast.AST
    value: ast.expr | None
    operator: ast.operator | None = None


@dataclass
class Attribute:
    """All that is seen of `self.<name>` in a class and its bases. `start` is the one value that `__init__` gives it."""

    cell: ClassInfo
    name: str
    start: ast.expr | None
    constructor: FunctionInfo | None
    writes: list[Write]


def writes_in(function: FunctionInfo, name: str | None = None) -> list[tuple[str, Write]]:
    """Each write of an attribute of `self` in a function: plain, annotated, augmented, unpacked, by `setattr`."""
    found: list[tuple[str, Write]] = []
    for node in function.nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                for part in parts:
                    attribute = self_attribute(part, function.receiver)
                    if attribute:
                        found.append((attribute, Write(function, node, part, node.value if part is target else None)))
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and node.value is not None:
            attribute = self_attribute(node.target, function.receiver)
            if attribute:
                operator = node.op if isinstance(node, ast.AugAssign) else None
                found.append((attribute, Write(function, node, node.target, node.value, operator)))
        elif isinstance(node, ast.Expr):
            call = setattr_call(node.value, function.receiver)
            if call is not None:
                found.append((call[0], Write(function, node, node.value, call[1])))
    return [w for w in found if name is None or w[0] == name]


def setattr_call(node: ast.AST, receiver: str | None) -> tuple[str, ast.expr] | None:
    """`(name, value)` of `setattr(self, "name", value)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr"):
        return None
    if len(node.args) != 3 or not isinstance(node.args[0], ast.Name) or node.args[0].id != receiver:
        return None
    name = node.args[1]
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        return name.value, node.args[2]
    return None


def attribute_of(context: FunctionContext, cell: ClassInfo, name: str) -> Attribute:
    """What the class and its bases do with an attribute."""
    writes: list[Write] = []
    starts: list[tuple[FunctionInfo, Write]] = []
    for known in context.project.mro(cell):
        for method in known.methods.values():
            for written, write in context.once((writes_in, method), partial(writes_in, method)):
                if written != name:
                    continue
                if method.name == "__init__":
                    starts.append((method, write))
                else:
                    writes.append(write)
    one = starts[0] if len(starts) == 1 else None
    value = one[1].value if one and one[1].operator is None else None
    return Attribute(cell, name, value, one[0] if one else None, writes)


def reads_of(function: FunctionInfo, name: str) -> list[ast.Attribute]:
    """Where a function reads `self.<name>`."""
    return [
        n for n in function.nodes
        if isinstance(n, ast.Attribute) and n.attr == name and isinstance(n.ctx, ast.Load)
        and self_attribute(n, function.receiver)
    ]  # fmt: skip


def number_dtype(kinds: list[Kind]) -> str | None:
    """The dtype of a Parameter that holds all of these numbers: `int32`, `float32`, `bool_`; None for other values."""
    types = set()
    for kind in kinds:
        if kind.tag is Tag.CONSTANT and kind.python_type in ("int", "float", "bool"):
            types.add(kind.python_type)
        elif kind.tag is Tag.CONSTANT and kind.name == "number":
            types.add("float")
        elif kind.tag is Tag.SCALAR or kind.is_tensor:
            types.add("int" if (kind.dtype or "").startswith("int") else "float")
        else:
            return None
    if types == {"bool"}:
        return "bool_"
    return "float32" if "float" in types else "int32"


def literal_item(held: ast.expr | None, key: object) -> ast.expr | None:
    """What a dict or list literal has at a key."""
    if isinstance(held, ast.Dict):
        pairs = zip(held.keys, held.values, strict=True)
        return next((v for k, v in pairs if isinstance(k, ast.Constant) and k.value == key), None)
    if isinstance(held, ast.List) and isinstance(key, int) and 0 <= key < len(held.elts):
        return held.elts[key]
    return None
