"""A statement as it has to read one folder deeper: relative imports, and what tells where the module is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..errors import GraphwardError
from ..source.edits import Edit, apply_edits
from .items import Item

_PACKAGE = '__package__.rpartition(".")[0]'


def reworded(item: Item, file_name: str, *, init: bool = False, script: bool = False) -> str:
    """The bytes of an item, with its comments, for a module of the package; `file_name` is the variable that holds what
    `__file__` was. `__name__` becomes `__package__`, which has the old value in a part; in the package's `__init__` it
    has it anyway (`init`), and so has the block of the script (`script`)."""
    edits = list(_edits(item, file_name, init or script, script))
    moved = [Edit(e.start - item.start, e.end - item.start, e.text) for e in edits]
    return apply_edits(item.source.utf8[item.start : item.end], moved).decode()


def reads_file(item: Item) -> bool:
    return "__file__" in item.symbols.reads


def _edits(item: Item, file_name: str, keep_name: bool, keep_package: bool) -> Iterator[Edit]:
    source = item.source
    compared = {
        id(n) for s in item.nodes for c in ast.walk(s) if isinstance(c, ast.Compare) for n in [c.left, *c.comparators]
    }  # fmt: skip
    for node in (n for s in item.nodes for n in ast.walk(s)):
        if isinstance(node, ast.ImportFrom) and node.level:
            start = source.offset(node.lineno, node.col_offset)
            dots = source.utf8.index(b".", start)
            yield Edit(dots, dots, ".")
        elif isinstance(node, ast.Name):
            text = ""
            if node.id == "__file__":
                text = file_name
            elif node.id == "__name__" and not keep_name and id(node) not in compared:
                text = "__package__"
            elif node.id == "__package__" and not keep_package:
                text = _PACKAGE
            if text:
                start = source.offset(node.lineno, node.col_offset)
                end = start + len(node.id)
                if source.utf8[start:end] != node.id.encode():
                    raise GraphwardError(f"{node.id} stands in an f-string, where it cannot be rewritten",
                                         path=source.path, line=node.lineno, hint="name it before")  # fmt: skip
                yield Edit(start, end, text)
