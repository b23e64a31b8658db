"""Parsing a snapshot with Python's own parser."""

from __future__ import annotations

import ast
import symtable
import warnings

from .text import SourceText

# What Python's parser raises on a text that it cannot read.
UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def parse_tree(source: SourceText) -> ast.Module:
    """`ast.parse` of a snapshot, without the warnings that Python prints on odd literals.

    Raises SyntaxError, or ValueError for what Python's parser refuses otherwise.
    """
    source.require_whole()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source.text, filename=str(source.path))


def require_python(source: SourceText) -> None:
    """Raises what `parse_tree` raises, for half of its time where nothing is wrong: no tree is built for Python.

    The compiler refuses `from __future__ import braces` once its parser has read the whole text, and before it looks at
    what was read.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            symtable.symtable(f"from __future__ import braces\n{source.text}", str(source.path), "exec")
    except UNPARSABLE as error:
        if not (isinstance(error, SyntaxError) and error.msg == "not a chance"):
            parse_tree(source)
