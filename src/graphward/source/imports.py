"""The import editor: adds the imports that fixes need, removes those whose last use they took away."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Collection, Iterable
from io import StringIO

from .edits import Edit
from .fixes import ImportRequest
from .text import SourceText

_MAX_LINE = 120


def additions(source: SourceText, tree: ast.Module, requests: Iterable[ImportRequest]) -> list[Edit]:
    """The edits that add `requests` to the imports at the top of the file; none for what is there already."""
    edits: dict[int, Edit] = {}
    for request in sorted(set(requests)):
        if _satisfied(tree, request):
            continue
        edit = _extension(source, tree, request) or _new_line(source, tree, request)
        previous = edits.get(edit.start)
        edits[edit.start] = Edit(edit.start, edit.start, previous.text + edit.text) if previous else edit
    return list(edits.values())


def removals(source: SourceText, tree: ast.Module, unused: Collection[str]) -> list[Edit]:
    """The edits that remove top-level imports of the names in `unused`. An import that shares its line with other
    code or with a comment stays: the comment would be lost."""
    edits = []
    for node in tree.body:
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        doomed = [a for a in node.names if _bound(node, a) in unused]
        if not doomed or not _alone(source, node):
            continue
        if len(doomed) == len(node.names):
            starts = source.line_starts
            last = node.end_lineno or node.lineno
            end = starts[last] if last < len(starts) else len(source.utf8)
            edits.append(Edit(starts[node.lineno - 1], end, ""))
        else:
            edits += [_without(source, node, alias) for alias in doomed]
    return edits


def bound_by_imports(tree: ast.Module) -> set[str]:
    """The names that top-level imports bind."""
    nodes = (n for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom)))
    return {_bound(node, alias) for node in nodes for alias in node.names} - {"*"}


def _bound(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    return alias.asname or (alias.name.split(".")[0] if isinstance(node, ast.Import) else alias.name)


def _satisfied(tree: ast.Module, request: ImportRequest) -> bool:
    for node in tree.body:
        if isinstance(node, ast.Import) and not request.name:
            if any(a.name == request.module and (a.asname or a.name) == request.alias for a in node.names):
                return True
        elif isinstance(node, ast.ImportFrom) and node.module == request.module and not node.level:
            if any(a.name == request.name and (a.asname or a.name) == request.alias for a in node.names):
                return True
    return False


def _extension(source: SourceText, tree: ast.Module, request: ImportRequest) -> Edit | None:
    """The name appended to a `from module import ...` that is there, when the line stays short enough."""
    if not request.name:
        return None
    for node in _block(tree):
        if isinstance(node, ast.ImportFrom) and node.module == request.module and not node.level:
            last = node.names[-1]
            line = source.line_bytes(last.end_lineno or last.lineno).decode().rstrip("\r\n")
            addition = f", {_name(request)}"
            if last.name != "*" and len(line) + len(addition) <= _MAX_LINE:
                offset = source.offset(last.end_lineno or last.lineno, last.end_col_offset or 0)
                return Edit(offset, offset, addition)
    return None


def _new_line(source: SourceText, tree: ast.Module, request: ImportRequest) -> Edit:
    root = request.module.split(".")[0]
    block = _block(tree)
    related = [n for n in block if _root(n) == root]
    anchor = (related or block or _preamble(tree))[-1:]
    starts = source.line_starts
    if request.name:
        text = f"from {request.module} import {_name(request)}"
    else:
        text = f"import {request.module}" + (f" as {request.alias}" if request.alias != request.module else "")
    if not anchor:
        first = 1 + sum(1 for _ in _leading_comments(source))
        offset = starts[first - 1] if first <= len(starts) else len(source.utf8)
        return Edit(offset, offset, text + source.newline)
    last = anchor[0].end_lineno or anchor[0].lineno
    if last < len(starts):
        return Edit(starts[last], starts[last], text + source.newline)
    return Edit(len(source.utf8), len(source.utf8), source.newline + text)


def _leading_comments(source: SourceText) -> Iterable[str]:
    for line in source.text.splitlines():
        if not line.startswith("#"):
            return
        yield line


def _block(tree: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    """The imports at the top, up to the first statement that is none (guarded imports are passed over)."""
    found: list[ast.Import | ast.ImportFrom] = []
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.append(node)
        elif not (isinstance(node, (ast.Try, ast.If)) or _is_docstring(node, tree)):
            break
    return found


def _preamble(tree: ast.Module) -> list[ast.stmt]:
    return [n for n in tree.body[:1] if _is_docstring(n, tree)]


def _is_docstring(node: ast.stmt, tree: ast.Module) -> bool:
    return node is tree.body[0] and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _root(node: ast.Import | ast.ImportFrom) -> str:
    name = node.names[0].name if isinstance(node, ast.Import) else node.module or ""
    return "" if isinstance(node, ast.ImportFrom) and node.level else name.split(".")[0]


def _name(request: ImportRequest) -> str:
    return request.name if request.alias == request.name else f"{request.name} as {request.alias}"


def _alone(source: SourceText, node: ast.stmt) -> bool:
    """Whether the statement's lines hold nothing else, no comment either."""
    text = b"".join(source.line_bytes(n) for n in range(node.lineno, (node.end_lineno or node.lineno) + 1)).decode()
    try:
        tokens = list(tokenize.generate_tokens(StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return False
    return not any(t.type == tokenize.COMMENT or t.string == ";" for t in tokens)


def _without(source: SourceText, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> Edit:
    index = node.names.index(alias)
    start = source.offset(alias.lineno, alias.col_offset)
    end = source.offset(alias.end_lineno or alias.lineno, alias.end_col_offset or 0)
    if index + 1 < len(node.names):
        following = node.names[index + 1]
        return Edit(start, source.offset(following.lineno, following.col_offset), "")
    before = node.names[index - 1]
    return Edit(source.offset(before.end_lineno or before.lineno, before.end_col_offset or 0), end, "")
