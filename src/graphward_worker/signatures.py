"""What a signature tells: the parameters that a call must fill, and the kinds that their annotations name."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Callable

_WRAPPERS = ("Optional", "Union", "Annotated", "Final")


@dataclass(frozen=True)
class Kind:
    """An annotation without its modules and without None: `name` and what stands in its brackets."""

    name: str
    items: tuple[Kind, ...] = ()


def required(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of a function, or of a class's constructor, that a call must fill."""
    parameters = list(inspect.signature(function).parameters.values())
    wanted = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = [p for p in parameters if p.kind in wanted and p.default is inspect.Parameter.empty]
    if not found and not isinstance(function, type):
        # `construct(self, *args)` takes at least one thing, or it would not be written so.
        found = [p for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL][:1]
    keywords = inspect.Parameter.KEYWORD_ONLY
    return found + [p for p in parameters if p.kind is keywords and p.default is inspect.Parameter.empty]


def optional(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters whose default is None, which a call may have to fill all the same; they come by keyword."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    found = [p for p in inspect.signature(function).parameters.values() if p.default is None]
    return [p.replace(kind=keyword) for p in found if p.kind is not inspect.Parameter.POSITIONAL_ONLY]


def constructor_of(cls: type) -> Callable[..., Any]:
    """The function that `cls(...)` runs to fill a new instance."""
    made: Any = cls
    return made.__init__


def source_of(thing: Any) -> str | None:
    """The source text of a function, class or module; None when there is none."""
    try:
        return textwrap.dedent(inspect.getsource(thing))
    except Exception:  # inspect looks at every module there is; one that loads lazily may raise anything
        return None


def kind_of(parameter: inspect.Parameter) -> Kind | None:
    """The annotation of a parameter; of a union its first member that is not None."""
    if parameter.annotation is inspect.Parameter.empty:
        return None
    kind = parameter.annotation
    try:
        tree = ast.parse(kind if isinstance(kind, str) else inspect.formatannotation(kind), mode="eval")
    except SyntaxError:
        return None
    return _kind(tree.body)


def mentioned(parameter: inspect.Parameter) -> list[str]:
    """The last parts of all names in the annotation of a parameter, in order."""
    if parameter.annotation is inspect.Parameter.empty:
        return []
    kind = parameter.annotation
    text = kind if isinstance(kind, str) else inspect.formatannotation(kind)
    return [name.rpartition(".")[2] for name in re.findall(r"[A-Za-z_][\w.]*", text)]


def _kind(node: ast.expr) -> Kind | None:
    if isinstance(node, ast.BinOp):
        return _first(_kind(side) for side in (node.left, node.right))
    if isinstance(node, ast.Constant):
        return _kind(ast.parse(node.value, mode="eval").body) if isinstance(node.value, str) else None
    if isinstance(node, ast.Attribute):
        return Kind(node.attr)
    if isinstance(node, ast.Name):
        return None if node.id == "NoneType" else Kind(node.id)
    if isinstance(node, ast.Subscript):
        head = _kind(node.value)
        if head is not None and head.name == "Literal":
            first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
            return Kind("Literal", (Kind(ast.unparse(first)),))
        inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        items = [kind for kind in map(_kind, inside) if kind is not None]
        if head is None or head.name in _WRAPPERS:
            return _first(iter(items))
        return Kind(head.name, tuple(items))
    return None


def _first(kinds: Iterator[Kind | None]) -> Kind | None:
    return next((kind for kind in kinds if kind is not None), None)
