"""The kind of a value: what Graph Mode would take it for."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import ast

    from .module import ClassInfo, FunctionInfo


class Tag(Enum):
    """CONSTANT: a Python value (number, string, None, dtype). SHAPE: a tuple of ints. SEQUENCE, DICT: containers.
    TENSOR, PARAMETER: on the device. CELL, CELLS (CellList or CellDict), PRIMITIVE, FUNCTION: called.
    NDARRAY: a NumPy array. SCALAR: a Python number read off a Tensor, or one that differs between two branches of a
    condition on a Tensor. OBJECT: any other Python object.
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

_PYTHON_TYPES = frozenset({"int", "float", "bool", "str", "bytes", "complex", "NoneType", "list", "tuple", "set"})


# A tuple, since very many are made and compared: both cost a fraction of what a frozen dataclass does.
class Kind(NamedTuple):
    """`variable`: the value depends on a traced one, so the compiler does not know it (MindSpore's notion of
    constant and variable). `certain` is False where the tool assumed. `dtype` is MindSpore's name, where known;
    `rank` the number of dimensions. `value` is the literal value of a constant. `name` is the qualified name of
    the class or function that made the value; of a Python value the name of its type, where known. `evidence` says
    where the belief comes from. `elements` of a container are those of its items where their number is known, else
    one kind for all; of a dict the values for `keys`; of a dataclass
    or named tuple its fields. `info` is the
    project's class of an instance, or the function or lambda that a FUNCTION is.
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
    keys: tuple[object, ...] | None = None
    info: ClassInfo | FunctionInfo | ast.Lambda | None = None
    # Whether `elements` are all items one by one, and not one kind for all of them.
    exact: bool = False
    # Whether the value may be None instead.
    optional: bool = False

    @property
    def is_tensor(self) -> bool:
        return self.tag is Tag.TENSOR or self.tag is Tag.PARAMETER

    @property
    def is_none(self) -> bool:
        return self.value is None

    @property
    def on_host(self) -> bool:
        """Whether NumPy or Python holds the value although it came from the device."""
        return self.variable and (self.tag is Tag.NDARRAY or self.tag is Tag.SCALAR)

    @property
    def python_type(self) -> str:
        """The name of the Python type of a constant (`int`, `str`, `NoneType`...), empty where it is not known."""
        if self.value is not NO_VALUE:
            return type(self.value).__name__ if not self.name or self.name in _PYTHON_TYPES else ""
        return self.name if self.name in _PYTHON_TYPES else ""

    def because(self, evidence: str) -> Kind:
        # `_replace` would ask for each field by name, and most kinds are renamed once.
        return Kind._make((*self[:_EVIDENCE], evidence, *self[_EVIDENCE + 1 :]))

    def assumed(self) -> Kind:
        """The same, as a guess."""
        return self._replace(certain=False) if self.certain else self

    def describe(self) -> str:
        """`Tensor`, `float32 Tensor`, `NumPy array (from a Tensor)`; `perhaps` where the tool assumed."""
        text = f"{self.dtype} {self.tag.value}" if self.dtype else self.tag.value
        if self.on_host:
            text += " made from a Tensor"
        return text if self.certain else f"{text} (assumed)"


_EVIDENCE = Kind._fields.index("evidence")

UNKNOWN = Kind(Tag.UNKNOWN, certain=False)
CONSTANT = Kind(Tag.CONSTANT)
INTEGER = Kind(Tag.CONSTANT, name="int")
STRING = Kind(Tag.CONSTANT, name="str")
BOOLEAN = Kind(Tag.CONSTANT, name="bool")
NONE = Kind(Tag.CONSTANT, value=None, name="NoneType")
TENSOR = Kind(Tag.TENSOR, variable=True)


_LITERALS: dict[tuple[type, object], Kind] = {}


def literal(value: object) -> Kind:
    """The kind of a literal."""
    if value is None:
        return NONE
    key = (value.__class__, value)
    found = _LITERALS.get(key)
    if found is None:
        found = Kind(Tag.CONSTANT, value=value, name=value.__class__.__name__)
        if len(_LITERALS) < 4096:
            _LITERALS[key] = found
    return found


def sequence(elements: tuple[Kind, ...], name: str = "") -> Kind:
    """A tuple or list of which every item is known."""
    variable = certain = False
    evidence = ""
    for element in elements:
        if element.variable and not variable:
            variable, evidence = True, element.evidence
    certain = all(element.certain for element in elements)
    return Kind(Tag.SEQUENCE, variable, certain, elements=elements, name=name, evidence=evidence, exact=True)


def join(first: Kind, second: Kind) -> Kind:
    """What is known of a value that is either of the two."""
    if first is second:
        return first
    if first == second and first.value.__class__ is second.value.__class__:
        return first
    variable = first.variable or second.variable
    certain = first.certain and second.certain
    evidence = first.evidence or second.evidence
    if first.variable is not second.variable:
        evidence = (first if first.variable else second).evidence
    if first.tag is second.tag:
        if first.value is None or second.value is None:
            # `x = None` before an `if` is no knowledge about x.
            return _or_none(second if first.value is None else first)
        elements, keys, exact = _joined_elements(first, second)
        same = first.value.__class__ is second.value.__class__ and first.value == second.value
        return Kind(
            first.tag, variable, certain,
            first.dtype if first.dtype == second.dtype else None,
            first.rank if first.rank == second.rank else None,
            first.value if same else NO_VALUE,
            elements,
            first.name if first.name == second.name else _common_number(first.name, second.name),
            evidence, keys, first.info if first.info is second.info else None, exact, first.optional or second.optional,
        )  # fmt: skip
    for one, other in ((first, second), (second, first)):
        if one.tag is Tag.CONSTANT and one.value is None:
            return _or_none(other)
        if one.is_tensor and not other.on_host:
            return Kind(Tag.TENSOR, variable, other.is_tensor and certain,
                        one.dtype if other.dtype in (None, one.dtype) else None,
                        one.rank if other.rank == one.rank else None, evidence=one.evidence)  # fmt: skip
        if one.on_host:
            return one._replace(certain=False, elements=None)
        if one.tag is Tag.SHAPE and other.tag is Tag.SEQUENCE:
            return Kind(Tag.SEQUENCE, variable, certain, evidence=evidence)
    return Kind(Tag.UNKNOWN, variable, False, evidence=evidence)


def _or_none(kind: Kind) -> Kind:
    return kind._replace(certain=False, optional=True, value=NO_VALUE)


def _joined_elements(
    first: Kind, second: Kind
) -> tuple[tuple[Kind, ...] | None, tuple[object, ...] | None, bool]:
    """Elements, keys and exactness of either of two containers."""
    one, other = first.elements, second.elements
    if one is None or other is None:
        return None, None, False
    if len(one) == len(other) and first.keys == second.keys:
        return tuple(map(join, one, other)), first.keys, first.exact and second.exact
    if first.keys is not None or second.keys is not None:
        return None, None, False
    return (join_all([*one, *other]),), None, False


def _common_number(first: str, second: str) -> str:
    return "number" if {first, second} <= {"int", "float", "bool", "number"} else ""


def join_all(kinds: list[Kind]) -> Kind:
    """The join of all, UNKNOWN for none."""
    if not kinds:
        return UNKNOWN
    result = kinds[0]
    for kind in kinds[1:]:
        result = join(result, kind)
    return result
