"""The kinds of operators' results: dtypes as MindSpore promotes them, constants folded where they are plain numbers."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from .kinds import BOOLEAN, NO_VALUE, Kind, Tag, join_all

_FLOATS = {"float16": 1, "bfloat16": 1, "float32": 2, "float64": 3}
_INTEGERS = {"bool": 0, "uint8": 1, "int8": 1, "int16": 2, "int32": 3, "int64": 4}
_FOLD: dict[type[ast.operator], Callable[[Any, Any], object]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip
_NUMBERS = frozenset({int, float, bool})


def promoted(first: str | None, second: str | None) -> str | None:
    """The dtype that two Tensors meet in; None where either is unknown or the pair is a rare one."""
    if first == second or first is None or second is None:
        return first if first == second else None
    if first in _FLOATS and second in _FLOATS:
        if _FLOATS[first] == _FLOATS[second]:
            return "float32"
        return first if _FLOATS[first] > _FLOATS[second] else second
    if first in _FLOATS and second in _INTEGERS:
        return first
    if second in _FLOATS and first in _INTEGERS:
        return second
    if first in _INTEGERS and second in _INTEGERS and "uint8" not in (first, second):
        return first if _INTEGERS[first] > _INTEGERS[second] else second
    return None


def _met(one: Kind, other: Kind) -> str | None:
    """The dtype that two Tensors meet in: one of a single element and no dimension gives way to one that has some."""
    wide = promoted(one.dtype, other.dtype)
    if one.dtype == other.dtype or wide is None or one.rank == other.rank or 0 not in (one.rank, other.rank):
        return wide
    strong = other if one.rank == 0 else one
    alike = (one.dtype in _FLOATS) is (other.dtype in _FLOATS) and "bool" not in (one.dtype, other.dtype)
    return (strong.dtype if strong.rank else None) if alike else wide


def with_number(dtype: str | None, number: Kind) -> str | None:
    """The dtype of a Tensor combined with a Python number."""
    if dtype is None or dtype in _FLOATS:
        return dtype
    kind = number.python_type
    if kind == "float":
        return "float32"
    return dtype if kind in ("int", "bool") and dtype != "bool" else None


def binary(left: Kind, right: Kind, op: ast.operator | None = None) -> Kind:
    """The kind of an arithmetic result."""
    if left.tag is Tag.CONSTANT and right.tag is Tag.CONSTANT:
        return _constants(left, right, op)
    variable = left.variable or right.variable
    evidence = (left if left.variable else right).evidence
    one, other = (left, right) if left.is_tensor else (right, left)
    if one.is_tensor:
        dtype = _met(one, other) if other.is_tensor else None
        if other.tag in (Tag.CONSTANT, Tag.SCALAR):
            dtype = with_number(one.dtype, other)
        if op.__class__ is ast.Div and dtype in _INTEGERS:
            dtype = "float32"
        rank = one.rank
        if other.is_tensor:
            rank = None if rank is None or other.rank is None else max(rank, other.rank)
        # Whatever meets a Tensor in arithmetic gives a Tensor.
        certain = one.certain or (other.is_tensor and other.certain)
        return Kind(Tag.TENSOR, variable, certain, dtype, rank, evidence=evidence or one.evidence)
    certain = left.certain and right.certain
    for side in (left, right):
        if side.tag is Tag.NDARRAY:
            return Kind(Tag.NDARRAY, variable, certain, side.dtype, evidence=evidence)
    for side in (left, right):
        if side.tag is Tag.SCALAR:
            return Kind(Tag.SCALAR, variable, certain, name=_number(left, right, op), evidence=evidence)
    containers = [k for k in (left, right) if k.tag in (Tag.SEQUENCE, Tag.SHAPE)]
    if len(containers) == 2 and op.__class__ is ast.Add:
        return _concatenated(left, right, variable, certain, evidence)
    if len(containers) == 1 and op.__class__ is ast.Mult:
        return _repeated(containers[0], right if containers[0] is left else left, variable, certain)
    if left.tag is Tag.CONSTANT and left.python_type == "str" and op.__class__ is ast.Mod:
        return Kind(Tag.CONSTANT, variable, certain, name="str", evidence=evidence)
    if variable:
        return Kind(Tag.UNKNOWN, True, False, evidence=evidence)
    if left.tag is Tag.UNKNOWN or right.tag is Tag.UNKNOWN:
        return Kind(Tag.UNKNOWN, False, False, evidence=evidence)
    return Kind(Tag.CONSTANT, False, certain, evidence=evidence)


def _constants(left: Kind, right: Kind, op: ast.operator | None) -> Kind:
    variable, certain = left.variable or right.variable, left.certain and right.certain
    value: object = NO_VALUE
    fold = _FOLD.get(op.__class__) if not variable else None  # type: ignore[arg-type]
    if fold is not None and left.value.__class__ in _NUMBERS and right.value.__class__ in _NUMBERS:
        try:
            value = fold(left.value, right.value)
        except (ArithmeticError, ValueError):
            value = NO_VALUE
        if value is not NO_VALUE:
            return Kind(Tag.CONSTANT, False, certain, value=value, name=type(value).__name__)
    return Kind(Tag.CONSTANT, variable, certain, name=_number(left, right, op),
                evidence=(left if left.variable else right).evidence)  # fmt: skip


def _number(left: Kind, right: Kind, op: ast.operator | None) -> str:
    kinds = {left.python_type or left.name, right.python_type or right.name}
    if "str" in kinds:
        return "str"
    if "float" in kinds or (op.__class__ is ast.Div and kinds <= {"int", "float", "bool"}):
        return "float"
    return "int" if kinds <= {"int", "bool"} else ""


def _concatenated(left: Kind, right: Kind, variable: bool, certain: bool, evidence: str) -> Kind:
    if Tag.SHAPE in (left.tag, right.tag) and not variable:
        sizes = all(k.tag is Tag.SHAPE or all(e.tag is Tag.CONSTANT for e in k.elements or ()) for k in (left, right))
        if sizes:
            rank = _length(left), _length(right)
            return Kind(Tag.SHAPE, False, certain, rank=sum(rank) if None not in rank else None)  # type: ignore[arg-type]
    if left.exact and right.exact and left.elements is not None and right.elements is not None:
        # A list that grows in a loop would never settle.
        if len(left.elements) + len(right.elements) <= 16:
            return Kind(Tag.SEQUENCE, variable, certain, elements=(*left.elements, *right.elements), exact=True,
                        name=left.name, evidence=evidence)  # fmt: skip
    parts = [*(left.elements or ()), *(right.elements or ())]
    known = left.elements is not None and right.elements is not None and parts
    return Kind(Tag.SEQUENCE, variable, certain, elements=(join_all(parts),) if known else None, name=left.name,
                evidence=evidence)  # fmt: skip


def _length(kind: Kind) -> int | None:
    if kind.tag is Tag.SHAPE:
        return kind.rank
    return len(kind.elements) if kind.exact and kind.elements is not None else None


def _repeated(container: Kind, times: Kind, variable: bool, certain: bool) -> Kind:
    elements, count = container.elements, times.value
    if container.tag is Tag.SHAPE:
        return Kind(Tag.SHAPE, variable, certain)
    if container.exact and elements and isinstance(count, int) and 0 < count * len(elements) <= 16:
        return container._replace(elements=elements * count, variable=variable, certain=certain)
    if elements:
        elements = (join_all(list(elements)),)
    return container._replace(elements=elements or None, exact=False, variable=variable, certain=certain)


def comparison(kinds: list[Kind], ops: list[ast.cmpop]) -> Kind:
    """The kind of a comparison or a chain of them."""
    identity = all(isinstance(op, (ast.Is, ast.IsNot)) for op in ops)
    if len(kinds) == 2 and (identity or not (kinds[0].variable or kinds[1].variable)):
        known = _compared(kinds[0], kinds[1], ops[0])
        if known is not None:
            return known
    if identity:
        # A Tensor is never None: that is decided while compiling.
        return BOOLEAN
    tensors = [k for k in kinds if k.is_tensor]
    variable = next((k for k in kinds if k.variable), None)
    evidence = variable.evidence if variable else ""
    if isinstance(ops[0], (ast.In, ast.NotIn)):
        inside = kinds[-1]
        if inside.tag is Tag.DICT or kinds[0].python_type == "str":
            return BOOLEAN._replace(certain=inside.certain)
        tensors = tensors or [e for e in inside.elements or () if e.is_tensor]
        tag = Tag.TENSOR if tensors and variable else Tag.SCALAR if variable else Tag.CONSTANT
        return Kind(tag, variable is not None, all(k.certain for k in kinds), "bool" if tag is Tag.TENSOR else None,
                    name="" if tag is Tag.TENSOR else "bool", evidence=evidence)  # fmt: skip
    if tensors:
        ranks = [k.rank for k in tensors]
        rank = max(ranks) if None not in ranks else None  # type: ignore[type-var]
        return Kind(Tag.TENSOR, variable is not None, any(k.certain for k in tensors), "bool", rank,
                    evidence=evidence)  # fmt: skip
    certain = all(k.certain for k in kinds)
    if any(k.tag is Tag.NDARRAY for k in kinds):
        return Kind(Tag.NDARRAY, variable is not None, certain, "bool", evidence=evidence)
    if variable is None:
        return Kind(Tag.CONSTANT, False, certain, name="bool")
    tag = Tag.CONSTANT if any(k.python_type == "str" for k in kinds) else Tag.SCALAR
    if any(k.tag is Tag.UNKNOWN for k in kinds):
        return Kind(Tag.UNKNOWN, True, False, evidence=evidence)
    return Kind(tag, True, certain, name="bool", evidence=evidence)


def _compared(left: Kind, right: Kind, op: ast.cmpop) -> Kind | None:
    """What two constants compare to, where both are known."""
    certain = left.certain and right.certain
    value: object = NO_VALUE
    if isinstance(op, (ast.Is, ast.IsNot)):
        if right.value is None or left.value is None:
            other = left if right.value is None else right
            if other.value is None:
                value = isinstance(op, ast.Is)
            elif other.tag is not Tag.UNKNOWN and not other.optional:
                if other.tag is not Tag.CONSTANT or other.name or other.value is not NO_VALUE:
                    value = isinstance(op, ast.IsNot)
        elif isinstance(left.value, bool) and isinstance(right.value, bool):
            value = (left.value is right.value) is isinstance(op, ast.Is)
    elif left.value is not NO_VALUE and right.value is not NO_VALUE and op.__class__ in _COMPARE:
        plain = left.value.__class__ in _NUMBERS and right.value.__class__ in _NUMBERS
        if plain or (left.value.__class__ is right.value.__class__ is str):
            value = bool(_COMPARE[op.__class__](left.value, right.value))
    if value is NO_VALUE:
        return None
    return Kind(Tag.CONSTANT, False, certain, value=value, name="bool")
