"""Match a NumPy call against the rows of the table, and write the MindSpore call that says the same.

Everything here works on the syntax of the call alone: what a name holds at run time is for the caller to know.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from graphward.knowledge.numpy_functions import (
    NumpyRow,
    Parameter,
    mindspore_dtype,
    modules_used,
    name_modules,
)


@dataclass(frozen=True)
class Argument:
    """An argument of a matched call. ``given`` is False where the parameter's default (or the same value) applies."""

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


@dataclass(frozen=True)
class Rendering:
    """The MindSpore text of a call, the style it is written in, and the modules (ops, mint, ms) that it names."""

    text: str
    style: str
    modules: frozenset[str]


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
    if parameter.default is not None:
        default = ast.parse(parameter.default, mode="eval").body
        if ast.dump(default) == ast.dump(node):
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
        return is_sequence
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


def render(
    bound: BoundCall,
    style: str,
    text_of: Callable[[Argument], str],
    module_names: Mapping[str, str],
) -> Rendering:
    """The MindSpore call in ``style``.

    ``text_of`` gives the source of an argument that the call gives (rewritten already where it is itself part of the
    rewrite, and a dtype in MindSpore's terms); ``module_names`` says what the file calls ``ops``, ``mint`` and ``ms``.
    """
    used = bound.row.style(style)
    template = bound.row.templates[used]
    left_out = {
        piece.optional
        for piece in template.pieces
        if piece.optional is not None and piece.parameter and not bound.arguments[piece.parameter].given
    }
    text = ""
    modules: set[str] = set()
    for piece in template.pieces:
        if piece.optional is not None and piece.optional in left_out:
            continue
        if piece.parameter is None:
            modules |= modules_used(piece.text)
            text += name_modules(piece.text, module_names)
            continue
        argument = bound.arguments[piece.parameter]
        if argument.given:
            written = text_of(argument)
        else:
            source = _default_text(argument)
            modules |= modules_used(source)
            written = name_modules(source, module_names)
        text += f"({written})" if piece.as_operand and _needs_brackets(argument.node) else written
    return Rendering(text, used, frozenset(modules))


def _default_text(argument: Argument) -> str:
    default = argument.parameter.default or "None"
    if argument.parameter.kind == "dtype" and default != "None":
        return f"ms.{mindspore_dtype(default)}"
    return default


def _needs_brackets(node: ast.expr) -> bool:
    """Whether ``node`` must be put in brackets before an attribute access: ``a + b``, ``-a``, ``1``."""
    atoms = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Tuple, ast.List, ast.Dict, ast.ListComp)
    return not isinstance(node, atoms)
