"""What MindSpore offers for each NumPy function and ndarray method: the table in numpy_functions.toml, as objects.

The table is data that was measured (see the head of the TOML file); this module only reads it. How a given call is
matched against a row and written out again is in `numpy_calls`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

STYLES = ("functional", "primitive", "mint")
KINDS = ("tensor", "tensors", "value", "int", "ints", "dtype", "none", "text")
RESULTS = ("array", "scalar", "tuple", "python", "view")
MEASURED_DTYPES = ("float32", "int32", "bool")

_PLACEHOLDER = re.compile(r"<<|>>|\{(\w+)\}")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a NumPy signature.

    ``expressible`` is False for a parameter that has no equivalent: a call that gives it cannot be rewritten.
    ``default`` is source text, None when the parameter is required.
    """

    name: str
    kind: str = "tensor"
    default: str | None = None
    expressible: bool = True
    keyword_only: bool = False

    @property
    def required(self) -> bool:
        return self.expressible and self.default is None


@dataclass(frozen=True)
class Piece:
    """A stretch of a template: literal text, or the argument of one parameter when ``parameter`` is set.

    ``optional`` numbers the ``<< >>`` group that the piece belongs to (None outside of one).
    ``as_operand`` marks an argument that is followed by an attribute access or an operator, which may need brackets.
    """

    text: str
    parameter: str | None = None
    optional: int | None = None
    as_operand: bool = False


@dataclass(frozen=True)
class Template:
    """MindSpore source with places for the arguments of the NumPy call."""

    source: str
    pieces: tuple[Piece, ...]

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset(piece.parameter for piece in self.pieces if piece.parameter)


@dataclass(frozen=True)
class NumpyRow:
    """One way of calling a NumPy function (or ndarray method) and its equivalents.

    ``outcomes`` maps (operand dtype, style) to what was measured when it is not simply equal; see
    :meth:`outcome`. ``none`` is the reason why there is no equivalent; such a row has no templates.
    """

    name: str
    parameters: tuple[Parameter, ...] = ()
    templates: Mapping[str, Template] = field(default_factory=dict)
    result: str = "array"
    outcomes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    no_cpu_kernel: frozenset[str] = frozenset()
    assumes: str = ""
    none: str = ""
    has_gradient: bool = True
    calls: tuple[str, ...] = ()
    domain: str = "any"

    def style(self, wanted: str) -> str:
        """The style that is written when ``wanted`` is asked for: itself where it exists, else functional."""
        return wanted if wanted in self.templates else "functional"

    def outcome(self, dtype: str, style: str) -> str:
        """What happens for operands of ``dtype``: "same", "rejects", "differs", "numpy-rejects" or "A -> B"."""
        return self.outcomes.get((dtype, self.style(style)), "same")


@dataclass(frozen=True)
class NumpyTable:
    """The whole table. Names are dotted as after ``numpy.``: ``exp``, ``linalg.norm``."""

    functions: Mapping[str, tuple[NumpyRow, ...]]
    methods: Mapping[str, tuple[NumpyRow, ...]]
    attributes: Mapping[str, str]
    dtypes: Mapping[str, str]


def function_rows(name: str) -> tuple[NumpyRow, ...]:
    """The overloads of the NumPy function ``name`` (dotted, without ``numpy.``); empty when the table lacks it."""
    return table().functions.get(name, ())


def method_rows(name: str) -> tuple[NumpyRow, ...]:
    """The overloads of the ndarray method ``name``; their first parameter is the array itself."""
    return table().methods.get(name, ())


def attribute_result(name: str) -> str | None:
    """What a Tensor has under the ndarray attribute ``name``: "array", "python", "dtype", or None for nothing."""
    return table().attributes.get(name)


def mindspore_dtype(name: str) -> str | None:
    """The name in ``mindspore`` of a NumPy dtype name or built-in type (``float32``, ``bool``), if there is one."""
    return table().dtypes.get(name)


@cache
def table() -> NumpyTable:
    """The table, read once a process."""
    text = resources.files(__package__).joinpath("numpy_functions.toml").read_text(encoding="utf-8")
    return parse_table(tomllib.loads(text))


def parse_table(data: Mapping[str, Any]) -> NumpyTable:
    """The table from its TOML form. Raises ValueError, naming the row, for a row that contradicts itself."""
    shared = data.get("shared", {})
    functions = {name: _rows(name, rows, shared) for name, rows in data["functions"].items()}
    methods = {name: _rows(name, rows, shared) for name, rows in data["methods"].items()}
    for name in data["methods_like_functions"]:
        methods[name] = methods.get(name, ()) + functions[name]
    return NumpyTable(functions, methods, data["attributes"], data["dtypes"])


def _rows(name: str, rows: list[dict[str, Any]], shared: Mapping[str, Any]) -> tuple[NumpyRow, ...]:
    return tuple(_row(name, {**shared.get(row.get("like", ""), {}), **row}) for row in rows)


def _row(name: str, data: Mapping[str, Any]) -> NumpyRow:
    templates = {style: parse_template(data[style]) for style in STYLES if style in data}
    row = NumpyRow(
        name=name,
        parameters=parse_parameters(data.get("params", "")),
        templates=templates,
        result=data.get("result", "array"),
        outcomes=_outcomes(data),
        no_cpu_kernel=frozenset(data.get("no_cpu_kernel", ())),
        assumes=data.get("assumes", ""),
        none=data.get("none", ""),
        has_gradient=data.get("gradient") != "zero",
        calls=tuple(data.get("calls", ())),
        domain=data.get("domain", "any"),
    )
    _check(row)
    return row


def _check(row: NumpyRow) -> None:
    if bool(row.none) == ("functional" in row.templates):
        raise ValueError(f"{row.name}: a row has either a functional template or a reason in 'none'")
    if row.result not in RESULTS:
        raise ValueError(f"{row.name}: unknown result {row.result!r}")
    known = {parameter.name: parameter for parameter in row.parameters}
    for parameter in row.parameters:
        if parameter.kind not in KINDS:
            raise ValueError(f"{row.name}: parameter {parameter.name} has the unknown kind {parameter.kind!r}")
    for template in row.templates.values():
        for name in template.parameters:
            if name not in known or not known[name].expressible:
                raise ValueError(f"{row.name}: {template.source!r} uses {name!r}, which is no parameter of the row")


def _outcomes(data: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Columns ``int32``, ``int32_mint``...: one without a style holds for all styles that have no own column."""
    outcomes = {}
    for dtype in MEASURED_DTYPES:
        for style in STYLES:
            value = data.get(f"{dtype}_{style}", data.get(dtype, "same"))
            if value != "same":
                outcomes[dtype, style] = value
    return outcomes


def parse_parameters(source: str) -> tuple[Parameter, ...]:
    """Parameters from the notation of the table, such as ``a, axis:int=-1, out!, *, where!``."""
    parameters = []
    keyword_only = False
    for item in _split_top_level(source):
        if item == "*":
            keyword_only = True
            continue
        declaration, equals, default = item.partition("=")
        name, _, kind = declaration.partition(":")
        expressible = not name.endswith("!")
        parameters.append(
            Parameter(name.rstrip("!"), kind or "tensor", default if equals else None, expressible, keyword_only)
        )
    return tuple(parameters)


def _split_top_level(source: str) -> list[str]:
    """Split at commas that are not inside brackets: defaults may be tuples."""
    items: list[str] = []
    depth = 0
    current = ""
    for character in source:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            items.append(current.strip())
            current = ""
        else:
            current += character
    return [*items, current.strip()] if current.strip() else items


def parse_template(source: str) -> Template:
    """A template from its notation. Raises ValueError for ``<<`` and ``>>`` that do not pair up."""
    pieces: list[Piece] = []
    group: int | None = None
    groups = 0
    position = 0
    for match in _PLACEHOLDER.finditer(source):
        if match.start() > position:
            pieces.append(Piece(source[position : match.start()], None, group))
        position = match.end()
        if match.group() == "<<":
            if group is not None:
                raise ValueError(f"nested << in template {source!r}")
            group = groups
            groups += 1
        elif match.group() == ">>":
            if group is None:
                raise ValueError(f">> without << in template {source!r}")
            group = None
        else:
            operand = source.startswith(".", position)
            pieces.append(Piece(match.group(), match.group(1), group, operand))
    if group is not None:
        raise ValueError(f"<< without >> in template {source!r}")
    if position < len(source):
        pieces.append(Piece(source[position:]))
    return Template(source, tuple(pieces))
