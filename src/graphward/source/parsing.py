"""Parsing a snapshot with Python's own parser."""

from __future__ import annotations

import ast
import warnings

from .text import SourceText


def parse_tree(source: SourceText) -> ast.Module:
    """`ast.parse` of a snapshot, without the warnings that Python prints on odd literals.

    Raises SyntaxError, or ValueError for what Python's parser refuses otherwise.
    """
    source.require_whole()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source.text, filename=str(source.path))
