"""Applying fixes to one snapshot of one file, with the imports that they add and the ones they make needless."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..source.edits import Edit, apply_edits, conflict
from ..source.fixes import Fix
from ..source.imports import additions, bound_by_imports, removals
from ..source.parsing import parse_tree
from ..source.text import SourceText


class DoesNotParse(Exception):
    """Fixes would leave text that Python cannot read; `titles` are theirs."""

    def __init__(self, titles: list[str], error: SyntaxError):
        super().__init__(f"the result of {', '.join(titles)} does not parse: {error.msg} (line {error.lineno})")


def compatible(fixes: Iterable[Fix]) -> list[Fix]:
    """The fixes that can be applied together: in order, each that overlaps an earlier one is left out. Fixes with
    the same edits are one."""
    taken: list[Edit] = []
    chosen: list[Fix] = []
    for fix in fixes:
        if any(fix.edits == other.edits for other in chosen):
            continue
        if not conflict(fix.edits, taken):
            taken += fix.edits
            chosen.append(fix)
    return chosen


def apply_fixes(source: SourceText, fixes: Iterable[Fix]) -> SourceText:
    """The file with `fixes`, which must be compatible. Imports that they need are added.

    Raises DoesNotParse, with the file untouched.
    """
    fixes = list(fixes)
    edits = [edit for fix in fixes for edit in fix.edits]
    result = source.with_utf8(apply_edits(source.utf8, edits))
    titles = [fix.title for fix in fixes]
    tree = _parse(result, titles)
    requests = {request for fix in fixes for request in fix.imports}
    if requests:
        result = result.with_utf8(apply_edits(result.utf8, additions(result, tree, requests)))
        _parse(result, titles)
    return result


def drop_unused_imports(before: SourceText, after: SourceText) -> SourceText:
    """`after` without the imports that `before` used and `after` no longer does; a package's `__init__.py`, whose
    imports are its interface, is left alone."""
    if before.utf8 == after.utf8 or before.path.name == "__init__.py":
        return after
    old, new = parse_tree(before), parse_tree(after)
    unused = (bound_by_imports(new) & _used(old)) - _used(new) - before.words_beyond
    if not unused:
        return after
    result = after.with_utf8(apply_edits(after.utf8, removals(after, new, unused)))
    _parse(result, ["removing unused imports"])
    return result


def _used(tree: ast.Module) -> set[str]:
    """Names that are read anywhere, or exported by `__all__`, or named in a string annotation."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            found.add(node.value)
    return found


def _parse(source: SourceText, titles: list[str]) -> ast.Module:
    try:
        return parse_tree(source)
    except SyntaxError as error:
        raise DoesNotParse(titles, error) from None
