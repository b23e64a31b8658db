"""The kinds of what a value is made of: its items, its attributes."""

from __future__ import annotations

import ast
from typing import Any

from ..knowledge import signatures as known
from .kinds import BOOLEAN, CONSTANT, INTEGER, NO_VALUE, STRING, UNKNOWN, Kind, Tag, join_all, literal, sequence

_INTEGER_ATTRIBUTES = frozenset({"ndim", "size", "itemsize", "nbytes"})
_BOOLEAN_ATTRIBUTES = frozenset({"requires_grad", "has_init"})
_TRANSPOSED = frozenset({"T", "mT", "H", "mH"})


def part(kind: Kind) -> Kind:
    """What unpacking, iterating, or indexing with an unknown index gives."""
    tag = kind.tag
    if kind.elements and tag is not Tag.OBJECT:
        if tag is Tag.DICT:
            return STRING if kind.keys and all(k.__class__ is str for k in kind.keys) else CONSTANT
        return join_all(list(kind.elements))
    if tag is Tag.TENSOR or tag is Tag.PARAMETER:
        rank = kind.rank - 1 if kind.rank else None
        return Kind(Tag.TENSOR, kind.variable, kind.certain, kind.dtype, rank, evidence=kind.evidence)
    if tag is Tag.NDARRAY:
        return Kind(Tag.NDARRAY, kind.variable, kind.certain, kind.dtype, evidence=kind.evidence)
    if tag is Tag.SHAPE:
        return Kind(Tag.CONSTANT, name="int", evidence=kind.evidence)
    if tag is Tag.CELLS:
        return Kind(Tag.CELL, evidence=kind.evidence)
    if tag is Tag.SEQUENCE and kind.variable:
        return Kind(Tag.TENSOR, True, False, evidence=kind.evidence or "an element of a container of Tensors")
    if tag is Tag.DICT:
        return CONSTANT.because("a key of a dict")
    if tag is Tag.CONSTANT:
        return STRING if kind.python_type == "str" else CONSTANT if not kind.variable else UNKNOWN
    return Kind(Tag.UNKNOWN, kind.variable, False, evidence=kind.evidence)


def dict_value(kind: Kind) -> Kind:
    """A value of a dict under a key that is not known."""
    if kind.elements:
        return join_all(list(kind.elements))
    if kind.variable:
        return Kind(Tag.TENSOR, True, False, evidence=kind.evidence or "a value of a dict of Tensors")
    return Kind(Tag.UNKNOWN, False, False, evidence=kind.evidence)


def unpacked(kind: Kind, index: int, count: int) -> Kind:
    """The item `index` of `count` that `a, b = value` takes."""
    elements = kind.elements
    if elements is not None and kind.exact and kind.tag is Tag.SEQUENCE:
        return elements[index] if index < len(elements) and len(elements) == count else part(kind)
    if kind.tag is Tag.OBJECT and elements and len(elements) == count:
        return elements[index]
    return part(kind)


def item(base: Kind, index: Kind, node: ast.expr) -> Kind:
    """`base[node]`, where `index` is the kind of `node`."""
    tag = base.tag
    if isinstance(node, ast.Slice):
        return _sliced(base, node)
    if tag is Tag.TENSOR or tag is Tag.PARAMETER:
        variable = base.variable or index.variable
        return Kind(Tag.TENSOR, variable, base.certain, base.dtype, _rank_after(base.rank, index, node),
                    evidence=base.evidence)  # fmt: skip
    if tag is Tag.DICT:
        if base.keys is not None and base.elements and index.value is not NO_VALUE and index.value in base.keys:
            return base.elements[base.keys.index(index.value)]
        return dict_value(base)
    elements = base.elements
    if elements and index.value.__class__ is int and not (tag is Tag.SEQUENCE and not base.exact):
        if -len(elements) <= index.value < len(elements):
            return elements[index.value]
    found = part(base)
    # Which of several the compiler takes is not known to it either.
    if index.variable and not found.variable and tag in (Tag.SEQUENCE, Tag.SHAPE):
        return found._replace(variable=True, value=NO_VALUE, tag=Tag.SCALAR if found.tag is Tag.CONSTANT else found.tag)
    return found


def _sliced(base: Kind, node: ast.Slice) -> Kind:
    if base.tag in (Tag.TENSOR, Tag.PARAMETER):
        return Kind(Tag.TENSOR, base.variable, base.certain, base.dtype, base.rank, evidence=base.evidence)
    if base.tag is Tag.SEQUENCE and base.elements:
        bounds = [_bound(b) for b in (node.lower, node.upper, node.step)]
        if base.exact and all(b is not NO_VALUE for b in bounds):
            kept = base.elements[slice(*bounds)]
            return sequence(kept, base.name)._replace(evidence=base.evidence, certain=base.certain)
        return base._replace(elements=(join_all(list(base.elements)),), exact=False)
    if base.tag is Tag.CONSTANT:
        return base._replace(value=NO_VALUE)
    if base.tag is Tag.SHAPE:
        return base._replace(rank=None)
    return base


def _bound(node: ast.expr | None) -> Any:
    if node is None:
        return None
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return NO_VALUE
    return value if value is None or (isinstance(value, int) and value) or value == 0 else NO_VALUE


def _rank_after(rank: int | None, index: Kind, node: ast.expr) -> int | None:
    """How many dimensions `x[index]` has."""
    if rank is None:
        return None
    if not isinstance(node, ast.Tuple):
        return _less(rank, index, node)
    kinds = index.elements if index.exact and index.elements else None
    if kinds is None or len(kinds) != len(node.elts):
        return None
    if sum(k.is_tensor or k.tag is Tag.SEQUENCE for k in kinds) > 0:
        return None  # advanced indices broadcast together
    for kind, one in zip(kinds, node.elts, strict=True):
        after = _less(rank, kind, one)
        if after is None:
            return None
        rank = after
    return rank


def _less(rank: int, index: Kind, node: ast.expr) -> int | None:
    if isinstance(node, ast.Slice) or (isinstance(node, ast.Constant) and node.value is Ellipsis):
        return rank
    if index.value is None:
        return rank + 1
    if index.is_tensor:
        if index.dtype is None or index.rank is None:
            return None
        return rank - index.rank + 1 if index.dtype == "bool" else rank - 1 + index.rank
    if index.python_type == "int" or index.tag is Tag.SCALAR:
        return rank - 1
    return None


def attribute(base: Kind, name: str) -> Kind:
    """`base.name` of a value whose class is not the project's; a method of a Tensor keeps the kind until its call."""
    if base.is_tensor or base.tag is Tag.NDARRAY:
        if name == "shape":
            return Kind(Tag.SHAPE, rank=base.rank, certain=base.certain, evidence="a shape is known while compiling")
        if name == "dtype":
            return Kind(Tag.CONSTANT, value=base.dtype if base.dtype else NO_VALUE, name="dtype", certain=base.certain)
        if name == "ndim" and base.rank is not None and base.certain:
            return literal(base.rank)
        if name in _INTEGER_ATTRIBUTES:
            return INTEGER
        if name in _BOOLEAN_ATTRIBUTES:
            return BOOLEAN
        if name in known.TENSOR_CONSTANT_ATTRIBUTES:
            return CONSTANT
        rank = 2 if name in _TRANSPOSED and base.rank == 2 else base.rank
        return Kind(base.tag, base.variable, base.certain, base.dtype, rank, evidence=base.evidence)
    if base.tag in (Tag.CELL, Tag.CELLS):
        return BOOLEAN if name == "training" else Kind(Tag.UNKNOWN, False, False, evidence=base.evidence)
    if base.tag is Tag.CONSTANT and not base.variable:
        return CONSTANT.assumed()
    if base.tag is Tag.UNKNOWN and name == "shape":
        # Only a Tensor or an array has one.
        return Kind(Tag.SHAPE, certain=False, evidence="a shape is known while compiling")
    return Kind(Tag.UNKNOWN, base.variable, False, evidence=base.evidence)
