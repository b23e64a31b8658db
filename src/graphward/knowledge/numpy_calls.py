"""Match a NumPy call against the rows of the table, and write the MindSpore call that says the same.

Everything here works on the syntax of the call alone: what a name holds at run time is for the caller to know, such as
whether the sequence of arrays that ``concatenate(parts)`` asks for is one, or an array.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .numpy_functions import NumpyRow, Parameter, mindspore_dtype

_QUALIFIED = re.compile(r"(?<![\w.])(ops|mint|ms)\.(\w+)")
_MODULES = {"ops": "mindspore.ops", "mint": "mindspore.mint", "ms": "mindspore"}


@dataclass(frozen=True)
class Argument:
    """An argument of a matched call. ``given`` is False where the default applies, or None is given for None."""

    parameter: Parameter
    node: ast.expr
    given: bool


@dataclass(frozen=True)
class BoundCall:
    """A call that a row of the table covers; ``arguments`` in the order of the row's parameters."""

    row: NumpyRow
    arguments: Mapping[str, Argument]

    def of_kind(self, *kinds: str) -> tuple[Argument, ...]:
        """The given arguments whose parameter has one of ``kinds``."""
        return tuple(a for a in self.arguments.values() if a.given and a.parameter.kind in kinds)


@dataclass(frozen=True)
class Refusal:
    """Why a call cannot be rewritten."""

    reason: str


def bind(
    rows: Sequence[NumpyRow],
    args: Sequence[ast.expr],
    keywords: Sequence[ast.keyword],
) -> BoundCall | Refusal:
    """The first of ``rows`` that accepts the arguments, or the reason why none does.

    For a method the array itself comes first in ``args``.
    """
    refusal = Refusal("the NumPy function has no known equivalent")
    for row in rows:
        outcome = _bind_row(row, args, keywords)
        if isinstance(outcome, BoundCall):
            return outcome
        refusal = outcome
    return refusal


def _bind_row(row: NumpyRow, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> BoundCall | Refusal:
    if row.none:
        return Refusal(row.none)
    if any(isinstance(arg, ast.Starred) for arg in args) or any(keyword.arg is None for keyword in keywords):
        return Refusal("the arguments are unpacked from a sequence or a mapping")
    positional = [parameter for parameter in row.parameters if not parameter.keyword_only]
    if len(args) > len(positional):
        return Refusal(f"numpy.{row.name} gets more positional arguments than its known signature has")
    nodes: dict[str, ast.expr] = {parameter.name: arg for parameter, arg in zip(positional, args)}
    names = {parameter.name for parameter in row.parameters}
    for keyword in keywords:
        if keyword.arg not in names:
            return Refusal(f"the argument {keyword.arg}= of numpy.{row.name} has no equivalent")
        nodes[str(keyword.arg)] = keyword.value
    arguments = {}
    for parameter in row.parameters:
        bound = _bind_parameter(row, parameter, nodes.get(parameter.name))
        if isinstance(bound, Refusal):
            return bound
        if bound is not None:
            arguments[parameter.name] = bound
    return BoundCall(row, arguments)


def _bind_parameter(row: NumpyRow, parameter: Parameter, node: ast.expr | None) -> Argument | Refusal | None:
    if not parameter.expressible:
        if node is None or _is_none(node):
            return None
        return Refusal(f"the argument {parameter.name}= of numpy.{row.name} has no equivalent")
    if node is None:
        if parameter.default is None:
            return Refusal(f"numpy.{row.name} is called without {parameter.name}=")
        return Argument(parameter, ast.parse(parameter.default, mode="eval").body, False)
    if parameter.default == "None" and _is_none(node):
        return Argument(parameter, node, False)
    if not _accepts(parameter.kind, node):
        return Refusal(f"numpy.{row.name} with {parameter.name}={ast.unparse(node)} has no equivalent")
    return Argument(parameter, node, True)


def _accepts(kind: str, node: ast.expr) -> bool:
    """Whether the syntax of ``node`` allows the kind; a name may be anything, so only literals are refused."""
    is_sequence = isinstance(node, (ast.Tuple, ast.List))
    constant = node.value if isinstance(node, ast.Constant) else ...
    if kind == "int":
        return not is_sequence and (constant is ... or (isinstance(constant, int) and not isinstance(constant, bool)))
    if kind == "ints":
        return is_sequence or _is_shape(node)
    if kind == "tensors":
        return constant is ...
    if kind == "none":
        return _is_none(node)
    if kind == "text":
        return isinstance(constant, str)
    if kind == "tensor":
        return not is_sequence and not isinstance(constant, (str, bytes)) and constant is not None
    return True


def _is_shape(node: ast.expr) -> bool:
    """``x.shape`` and ``x.shape[1:]`` are tuples by their spelling."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        node = node.value
    return isinstance(node, ast.Attribute) and node.attr == "shape"


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def render(bound: BoundCall, style: str, text_of: Callable[[Argument], str], spell: Callable[[str], str]) -> str:
    """The MindSpore call in ``style``, or in the functional form where the row has no such style.

    ``text_of`` gives the source of an argument (rewritten already where it is itself part of the rewrite, and a dtype
    in MindSpore's terms); ``spell`` says how the file writes a qualified name such as ``mindspore.ops.exp``.
    """
    template = bound.row.templates[bound.row.style(style)]
    left_out = {
        piece.optional
        for piece in template.pieces
        if piece.optional is not None and piece.parameter and not bound.arguments[piece.parameter].given
    }
    text = ""
    for piece in template.pieces:
        if piece.optional is not None and piece.optional in left_out:
            continue
        if piece.parameter is None:
            text += spelled(piece.text, spell)
            continue
        argument = bound.arguments[piece.parameter]
        written = text_of(argument) if argument.given else _default_text(argument, spell)
        text += operand(written) if piece.as_operand else written
    return text


def spelled(text: str, spell: Callable[[str], str]) -> str:
    """Template text with each ``ops.name``, ``mint.name`` and ``ms.name`` as the file writes it."""
    return _QUALIFIED.sub(lambda match: spell(f"{_MODULES[match.group(1)]}.{match.group(2)}"), text)


def operand(text: str) -> str:
    """``text`` in brackets unless an attribute can be taken of it as it is: ``(a + b)``, ``(-a)``, ``(1)``."""
    node = ast.parse(text, mode="eval").body
    atoms = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Dict, ast.ListComp)
    bracketed = isinstance(node, ast.Tuple) and text.startswith("(")
    return text if bracketed or isinstance(node, atoms) else f"({text})"


def _default_text(argument: Argument, spell: Callable[[str], str]) -> str:
    default = argument.parameter.default or "None"
    if argument.parameter.kind == "dtype" and default != "None":
        return spell(f"mindspore.{mindspore_dtype(default)}")
    return default
