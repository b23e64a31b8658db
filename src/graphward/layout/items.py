"""The top-level statements of a file, each with the bytes that belong to it: its comments and the blank lines above."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from ..source.text import SourceText
from .symbols import Symbols, symbols_of

_LICENCE = re.compile(rb"copyright|licen[sc]e|spdx", re.IGNORECASE)
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")


class Kind(Enum):
    """What a top-level statement is for. EFFECT is whatever does more than define: calls, loops, tests, changes of
    what is there already. MAIN is the block under `if __name__ == "__main__":`."""

    DOCSTRING = "docstring"
    FUTURE = "future import"
    IMPORT = "import"
    DEFINITION = "definition"
    VARIABLE = "variable"
    EFFECT = "statement"
    MAIN = "main block"


@dataclass(eq=False)
class Item:
    """Statements that share a line. Bytes `start:code` are the blank lines and comments above, `code:end` is the rest,
    with the end of its last line."""

    source: SourceText
    nodes: list[ast.stmt]
    kind: Kind
    start: int
    code: int
    end: int
    future: bool

    @cached_property
    def symbols(self) -> Symbols:
        return symbols_of(self.source.utf8[self.code : self.end].decode(), self.nodes, self.future)

    @property
    def line(self) -> int:
        return self.source.position(self.code)[0]

    @property
    def name(self) -> str:
        """What the item is called where it is told of: the name that it binds first, else its first line."""
        node = self.nodes[0]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return node.name
        if self.kind is Kind.VARIABLE and self.symbols.binds:
            return next(iter(self.symbols.binds))
        text = self.source.line_bytes(node.lineno).decode().strip()
        return text if len(text) <= 60 else f"{text[:57]}..."


@dataclass
class Reading:
    """A file as its items; `header` is what stands above the first: a shebang, an encoding, the licence."""

    source: SourceText
    items: list[Item]
    header: bytes

    @cached_property
    def licence(self) -> bytes:
        """The lines of the header that each part of the file has to repeat."""
        lines = self.header.splitlines(keepends=True)
        kept = [line for line in lines[:2] if _COOKIE.match(line)]
        block: list[bytes] = []
        for line in lines:
            if line.strip() and not (line.startswith(b"#!") or line in kept):
                block.append(line)
            elif block and not line.strip():
                break
        return b"".join([*kept, *(block if _LICENCE.search(b"".join(block)) else [])])

    @cached_property
    def bound(self) -> dict[str, list[Item]]:
        """The items that bind each global name while the file is imported."""
        found: dict[str, list[Item]] = {}
        for item in self.items:
            if item.kind is not Kind.MAIN:
                for name in item.symbols.binds:
                    found.setdefault(name, []).append(item)
        return found


def read(source: SourceText, tree: ast.Module) -> Reading:
    """The items of a parsed file, in its order."""
    groups: list[list[ast.stmt]] = []
    for node in tree.body:
        if groups and _first_line(node) <= (groups[-1][-1].end_lineno or 0):
            groups[-1].append(node)
        else:
            groups.append([node])
    future = any(_is_future(node) for node in tree.body)
    starts = [*source.line_starts, len(source.utf8)]
    items: list[Item] = []
    start = 0
    for nodes in groups:
        code, end = starts[_first_line(nodes[0]) - 1], starts[nodes[-1].end_lineno or nodes[-1].lineno]
        items.append(Item(source, nodes, _kind(nodes, first=not items), start, code, end, future))
        start = end
    header = b""
    if items:
        items[0].start = _header_end(source.utf8, items[0])
        header = source.utf8[: items[0].start]
        items[-1].end = len(source.utf8)
    return Reading(source, items, header)


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])


def _header_end(data: bytes, first: Item) -> int:
    """Where the comments end that are about the file, not about its first statement."""
    above = data[: first.code]
    if first.kind not in (Kind.DEFINITION, Kind.VARIABLE, Kind.EFFECT):
        return len(above)
    lines = above.splitlines(keepends=True)
    while lines and lines[-1].strip() and not lines[-1].startswith(b"#!") and not _COOKIE.match(lines[-1]):
        lines.pop()
    return len(b"".join(lines))


def _kind(nodes: list[ast.stmt], first: bool) -> Kind:
    node = nodes[0]
    if len(nodes) == 1:
        if first and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return Kind.DOCSTRING if isinstance(node.value.value, str) else Kind.EFFECT
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return Kind.DEFINITION
        if is_main_test(node):
            return Kind.MAIN
    if all(map(_is_future, nodes)):
        return Kind.FUTURE
    if all(map(_only_imports, nodes)) and any(_has_import(n) for n in nodes):
        return Kind.IMPORT
    if all(map(_plain_assignment, nodes)):
        return Kind.VARIABLE
    return Kind.EFFECT


def is_main_test(node: ast.stmt) -> bool:
    """Whether a statement is `if __name__ == "__main__":`, without an `else`."""
    if not isinstance(node, ast.If) or node.orelse or not isinstance(node.test, ast.Compare):
        return False
    sides = [node.test.left, *node.test.comparators]
    names = [s.id for s in sides if isinstance(s, ast.Name)]
    texts = [s.value for s in sides if isinstance(s, ast.Constant)]
    return names == ["__name__"] and texts == ["__main__"] and isinstance(node.test.ops[0], ast.Eq)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__" and not node.level


def _has_import(node: ast.stmt) -> bool:
    return any(isinstance(n, (ast.Import, ast.ImportFrom)) for n in ast.walk(node))


def _only_imports(node: ast.stmt) -> bool:
    """An import, or a test or a `try` of nothing but imports and flags, which may stand in several files."""
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass)):
        return True
    if isinstance(node, ast.Assign):
        return isinstance(node.value, ast.Constant) and all(isinstance(t, ast.Name) for t in node.targets)
    if isinstance(node, ast.If):
        plain = not any(isinstance(n, ast.NamedExpr) for n in ast.walk(node.test))
        return plain and all(map(_only_imports, [*node.body, *node.orelse]))
    if isinstance(node, ast.Try):
        handled = all(isinstance(s, ast.Raise) or _only_imports(s) for h in node.handlers for s in h.body)
        return handled and all(map(_only_imports, [*node.body, *node.orelse, *node.finalbody]))
    return False


def _plain_assignment(node: ast.stmt) -> bool:
    if isinstance(node, ast.AnnAssign):
        return isinstance(node.target, ast.Name)
    if not isinstance(node, ast.Assign):
        return hasattr(ast, "TypeAlias") and isinstance(node, ast.TypeAlias)
    targets = [e for t in node.targets for e in (t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t])]
    return all(isinstance(t, ast.Name) for t in targets)
