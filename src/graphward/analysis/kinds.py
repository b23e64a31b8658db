"""The kind of a value: what Graph Mode would take it for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class Tag(Enum):
    """CONSTANT: a Python value (number, string, None, dtype). SHAPE: a tuple of ints. SEQUENCE, DICT: containers.
    TENSOR, PARAMETER: on the device. CELL, CELLS (CellList or CellDict), PRIMITIVE, FUNCTION: called.
    NDARRAY: a NumPy array. SCALAR: a Python number read off a Tensor. OBJECT: any other Python object.
    """

    CONSTANT = "Python constant"
    SHAPE = "shape"
    SEQUENCE = "tuple or list"
    DICT = "dict"
    TENSOR = "Tensor"
    PARAMETER = "Parameter"
    CELL = "Cell"
    CELLS = "CellList"
    PRIMITIVE = "Primitive"
    FUNCTION = "function"
    NDARRAY = "NumPy array"
    SCALAR = "Python number"
    OBJECT = "Python object"
    UNKNOWN = "unknown"


class _NoValue(Enum):
    NO_VALUE = "no value"


NO_VALUE = _NoValue.NO_VALUE


@dataclass(frozen=True, slots=True)
class Kind:
    """`variable`: the value depends on a traced one, so the compiler does not know it (MindSpore's notion of
    constant and variable). `certain` is False where the tool assumed. `dtype` is MindSpore's name, where known;
    `rank` the number of dimensions. `value` is the literal value of a constant. `name` is the qualified name of
    the class or function that made the value. `evidence` says where the belief comes from.
    """

    tag: Tag
    variable: bool = False
    certain: bool = True
    dtype: str | None = None
    rank: int | None = None
    value: object = NO_VALUE
    elements: tuple[Kind, ...] | None = None
    name: str = ""
    evidence: str = ""

    @property
    def is_tensor(self) -> bool:
        return self.tag in (Tag.TENSOR, Tag.PARAMETER)

    @property
    def on_host(self) -> bool:
        """Whether NumPy or Python holds the value although it came from the device."""
        return self.variable and self.tag in (Tag.NDARRAY, Tag.SCALAR)

    def because(self, evidence: str) -> Kind:
        return replace(self, evidence=evidence)

    def describe(self) -> str:
        """`Tensor`, `float32 Tensor`, `NumPy array (from a Tensor)`; `perhaps` where the tool assumed."""
        text = f"{self.dtype} {self.tag.value}" if self.dtype else self.tag.value
        if self.on_host:
            text += " made from a Tensor"
        return text if self.certain else f"{text} (assumed)"


UNKNOWN = Kind(Tag.UNKNOWN, certain=False)
CONSTANT = Kind(Tag.CONSTANT)
TENSOR = Kind(Tag.TENSOR, variable=True)


def literal(value: object) -> Kind:
    """The kind of a literal."""
    return Kind(Tag.CONSTANT, value=value)


def join(first: Kind, second: Kind) -> Kind:
    """What is known of a value that is either of the two."""
    if first == second:
        return first
    variable = first.variable or second.variable
    certain = first.certain and second.certain
    evidence = first.evidence or second.evidence
    if first.tag is second.tag:
        elements = None
        if first.elements and second.elements and len(first.elements) == len(second.elements):
            elements = tuple(map(join, first.elements, second.elements))
        return Kind(
            first.tag, variable, certain,
            first.dtype if first.dtype == second.dtype else None,
            first.rank if first.rank == second.rank else None,
            NO_VALUE, elements, first.name if first.name == second.name else "", evidence,
        )  # fmt: skip
    for one, other in ((first, second), (second, first)):
        # `x = None` before an `if` is no knowledge about x; a Tensor on one path makes the whole traced.
        if one.tag is Tag.CONSTANT and one.value is None:
            return replace(other, certain=False)
        if one.is_tensor and not other.on_host:
            return Kind(Tag.TENSOR, variable, False, one.dtype if other.dtype in (None, one.dtype) else None,
                        evidence=one.evidence)  # fmt: skip
        if one.on_host:
            return replace(one, certain=False, elements=None)
    return Kind(Tag.UNKNOWN, variable, False, evidence=evidence)


def join_all(kinds: list[Kind]) -> Kind:
    """The join of all, UNKNOWN for none."""
    if not kinds:
        return UNKNOWN
    result = kinds[0]
    for kind in kinds[1:]:
        result = join(result, kind)
    return result
