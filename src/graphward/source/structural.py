"""Structural rewrites with LibCST: one function or class is parsed, transformed, and diffed back to minimal spans."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from .edits import Edit, minimal_edits
from .text import SourceText

if TYPE_CHECKING:
    import libcst

Definition = TypeVar("Definition", bound="libcst.FunctionDef | libcst.ClassDef")


def rewrite_definition(
    source: SourceText,
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
    transform: Callable[[Definition], Definition],
) -> list[Edit]:
    """The edits that make of a function or class what `transform` makes of its LibCST node.

    The lines of the definition, decorators included, are parsed as they stand (an indented one under `if 1:`, so
    that strings over several lines are not touched) and printed back; what did not change gives no edit.
    Raises ValueError when LibCST does not give back the same text, or the definition shares its line with other
    code.
    """
    import libcst

    first = min((d.lineno for d in node.decorator_list), default=node.lineno)
    starts = source.line_starts
    last = node.end_lineno or node.lineno
    begin = starts[first - 1]
    end = starts[last] if last < len(starts) else len(source.utf8)
    before = source.utf8[begin:end]
    indented = before[:1] in (b" ", b"\t")
    prefix = b"if 1:" + source.newline.encode() if indented else b""
    module = libcst.parse_module(prefix + before)
    block: libcst.CSTNode = module.body[0]
    if indented and isinstance(block, libcst.If):
        block = block.body.body[0]
    if module.bytes != prefix + before or not isinstance(block, (libcst.FunctionDef, libcst.ClassDef)):
        raise ValueError(f"the definition of {node.name} does not stand on lines of its own")
    after = cast("libcst.Module", module.deep_replace(block, transform(cast("Definition", block)))).bytes
    return minimal_edits(before, after[len(prefix) :], begin)
