"""The kinds that annotations promise."""

from __future__ import annotations

import ast

from .kinds import BOOLEAN, CONSTANT, INTEGER, STRING, TENSOR, Kind, Tag, join_all
from .module import FunctionInfo
from .names import dotted

_PYTHON = {"int": INTEGER, "float": CONSTANT._replace(name="float"), "bool": BOOLEAN, "str": STRING}
_SEQUENCES = frozenset({"tuple", "list", "sequence", "iterable"})
_DICTS = frozenset({"dict", "mapping", "ordereddict"})


def annotated(function: FunctionInfo, annotation: ast.expr | None) -> Kind | None:
    """The kind that an annotation promises; None where it says nothing of use."""
    if annotation is None:
        return None
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return None
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return _union(function, [annotation.left, annotation.right])
    if isinstance(annotation, ast.Subscript):
        return _subscripted(function, annotation)
    name = dotted(annotation)
    if name is None:
        return None
    qualified = function.names.qualify(name) or name
    if qualified in ("mindspore.Tensor", "Tensor"):
        return TENSOR
    if qualified == "mindspore.Parameter":
        return Kind(Tag.PARAMETER, variable=True)
    if name in _PYTHON:
        return _PYTHON[name]
    if qualified == "numpy.ndarray":
        return Kind(Tag.NDARRAY, variable=False)
    last = name.rpartition(".")[2].lower()
    if last in _SEQUENCES:
        return Kind(Tag.SEQUENCE, certain=False, name=last if last in ("tuple", "list") else "")
    if last in _DICTS:
        return Kind(Tag.DICT, certain=False)
    return Kind(Tag.OBJECT, certain=False) if name not in ("Any", "typing.Any", "object") else None


def _subscripted(function: FunctionInfo, annotation: ast.Subscript) -> Kind | None:
    head = (dotted(annotation.value) or "").rpartition(".")[2]
    inside = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    if head in ("Final", "Annotated", "ClassVar"):
        return annotated(function, inside[0])
    if head == "Optional":
        kind = annotated(function, inside[0])
        return kind._replace(optional=True) if kind is not None else None
    if head == "Union":
        return _union(function, inside)
    if head.lower() in _SEQUENCES:
        return _sequence(function, head.lower(), inside)
    if head.lower() in _DICTS:
        value = annotated(function, inside[-1]) if len(inside) == 2 else None
        return Kind(Tag.DICT, variable=value is not None and value.variable, certain=False,
                    elements=(value,) if value is not None else None)  # fmt: skip
    return None


def _sequence(function: FunctionInfo, head: str, inside: list[ast.expr]) -> Kind:
    """`Tuple[Tensor, ...]` and `List[Tensor]` say what is inside, `Tuple[Tensor, int]` how many as well."""
    items = [e for e in inside if not (isinstance(e, ast.Constant) and e.value is Ellipsis)]
    kinds = [annotated(function, e) for e in items]
    variable = any(k is not None and k.variable for k in kinds)
    name = head if head in ("tuple", "list") else ""
    if any(k is None for k in kinds) or not kinds:
        return Kind(Tag.SEQUENCE, variable=variable, certain=False, name=name)
    exact = head == "tuple" and len(items) == len(inside)
    known = [k for k in kinds if k is not None]
    elements = tuple(known) if exact else (join_all(known),)
    return Kind(Tag.SEQUENCE, variable=variable, certain=False, elements=elements, exact=exact, name=name)


def _union(function: FunctionInfo, members: list[ast.expr]) -> Kind | None:
    """None among the members makes it optional; a member that says nothing is left out."""
    optional = [m for m in members if isinstance(m, ast.Constant) and m.value is None]
    kinds = [k for k in (annotated(function, m) for m in members if m not in optional) if k is not None]
    if not kinds:
        return None
    kind = join_all(kinds)
    return kind._replace(optional=True) if optional or any(k.optional for k in kinds) else kind
