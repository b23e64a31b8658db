"""What the compiler makes of `value in group`, by the kinds of both."""

from __future__ import annotations

import ast
from typing import NamedTuple

from graphward.analysis.kinds import Kind, Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence

_NUMBERS = frozenset({"int", "float", "bool", "number"})
_NO_NUMBERS = frozenset({"str", "bytes", "NoneType", "tuple", "list"})
_PYTHON_METHODS = frozenset(dir(list)) | frozenset(dir(dict)) | frozenset(dir(str)) | frozenset(dir(float))
# The attributes of a Tensor that are one.
_VIEWS = frozenset({"T", "H", "mT", "mH", "data", "real", "imag"})
# The dtypes that the compiler gives numbers that it knows.
_OF_LITERALS = {"int": "int64", "float": "float32"}


class Verdict(NamedTuple):
    """`consequence` of the test, `why` in words, and where that is known from."""

    consequence: Consequence
    why: str
    evidence: str


def judged(value: ast.expr, group: ast.expr, context: FunctionContext) -> Verdict | None:
    """What is wrong with `value in group`; None where the compiler takes it, or where that is not known."""
    inside = context.kind(group)
    if inside.is_tensor:
        if not (inside.variable or inside.tag is Tag.PARAMETER) or not _is_tensor(group, inside, True, context):
            return None
        return Verdict(Consequence.FALLBACK, "what a Tensor holds is asked by the Python interpreter", inside.evidence)
    if inside.tag not in (Tag.SEQUENCE, Tag.SHAPE):
        return None
    elements = inside.elements or ()
    held = next((e for e in elements if e.is_tensor and e.variable), None)
    one = context.kind(value)
    if one.is_tensor:
        if one.variable or one.tag is Tag.PARAMETER:
            return _of_tensor(value, one, inside, context)
    elif one.is_none:
        if held is not None:
            return Verdict(Consequence.FALLBACK, "None is looked for by the Python interpreter", held.evidence)
    elif held is not None:
        if is_number(one) and held.certain:
            if one.variable or all(e.is_tensor for e in elements):
                return Verdict(Consequence.ERROR, "a number is not looked for among Tensors", held.evidence)
            why = "a number is looked for among Tensors by the Python interpreter"
            return Verdict(Consequence.FALLBACK, why, held.evidence)
    elif one.tag is Tag.SCALAR and one.variable:
        return _of_number(value, one, elements, context)
    return None


def is_number(kind: Kind) -> bool:
    return kind.tag is Tag.SCALAR or (kind.tag is Tag.CONSTANT and kind.python_type in _NUMBERS)


def is_no_number(kind: Kind) -> bool:
    """Whether no element of a Tensor is ever equal to it."""
    return kind.tag in (Tag.SHAPE, Tag.SEQUENCE) or kind.python_type in _NO_NUMBERS


def all_numbers(group: Kind) -> bool:
    """Whether a tuple or list holds numbers that the compiler knows, and nothing else."""
    if group.tag is Tag.SHAPE:
        return True
    return bool(group.elements) and all(is_number(e) and not e.variable for e in group.elements or ())


def _of_tensor(value: ast.expr, one: Kind, group: Kind, context: FunctionContext) -> Verdict | None:
    """A Tensor is only ever equal to another Tensor of its dtype."""
    elements = group.elements or ()
    numbers = group.tag is Tag.SHAPE or any(is_number(e) for e in elements)
    others = one.dtype and any(e.is_tensor and e.certain and e.dtype not in (None, one.dtype) for e in elements)
    if not (numbers or (others and one.certain)) or not _is_tensor(value, one, False, context):
        return None
    what = "a number" if numbers else "a Tensor of another dtype"
    return Verdict(Consequence.DIVERGENCE, f"in a graph no Tensor equals {what}", one.evidence)


def _of_number(value: ast.expr, one: Kind, elements: tuple[Kind, ...], context: FunctionContext) -> Verdict | None:
    """A number that is known at run time only has to have the dtype of those that it may be equal to."""
    dtype = _OF_LITERALS.get(one.python_type)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "item":
        dtype = context.kind(value.func.value).dtype
    if dtype is None or not elements or not all(e.tag is Tag.CONSTANT and not e.variable for e in elements):
        return None
    types = {_OF_LITERALS.get(e.python_type, "") for e in elements}
    if "" in types or types == {dtype}:
        return None
    why = f"a number of the dtype {dtype} is not looked for among those of {' and '.join(sorted(types))}"
    return Verdict(Consequence.ERROR, why, one.evidence)


def _is_tensor(node: ast.expr, kind: Kind, arithmetic: bool, context: FunctionContext) -> bool:
    """Whether more says that it is a Tensor than the assumption that a parameter is one. `arithmetic`: whether a
    number is out of the question, so that arithmetic tells too."""
    if isinstance(node, ast.Attribute) and node.attr not in _VIEWS:
        holder = node.value
        if not (isinstance(holder, ast.Name) and holder.id == context.function.receiver):
            return False  # what something else holds may be anything
    if kind.certain:
        return True
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Tuple)  # no list or dict of Python's is asked for rows and columns
    if not isinstance(node, ast.Name):
        return not isinstance(node, ast.Attribute)
    for use in context.function.nodes:
        if not (isinstance(use, ast.Name) and use.id == node.id and isinstance(use.ctx, ast.Load)):
            continue
        parent = context.parent(use)
        if isinstance(parent, ast.Attribute) and parent.attr not in _PYTHON_METHODS:
            return True
        if isinstance(parent, ast.Call) and use in parent.args and context.kind(parent.func).tag is Tag.CELL:
            return True
        if arithmetic and isinstance(parent, ast.BinOp):
            other = parent.right if parent.left is use else parent.left
            if context.kind(other).tag not in (Tag.SEQUENCE, Tag.SHAPE, Tag.UNKNOWN):
                return True
    return False
