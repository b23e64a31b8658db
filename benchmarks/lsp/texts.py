"""The texts that are typed in: files of published packages, of about the sizes that are asked for."""

from __future__ import annotations

import ast
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Text:
    """A module, and a line (from 0) in the middle of one of its `construct`s where a statement can stand."""

    text: str
    line: int
    indent: str


def texts(wheels: Iterable[Path], sizes: Iterable[int]) -> dict[int, Text]:
    """A text for each size in bytes. Graph code that is larger than any file is two files, one after the other."""
    files = sorted(_graph_code(wheels), key=len)
    found = {}
    for size in sizes:
        text = min(files, key=lambda t: abs(len(t) - size))
        if len(text) < size * 0.9:
            text = files[-1]
            rest = min(files, key=lambda t: abs(len(t) - (size - len(text))))
            # Behind the other's statements its imports may stand anywhere; `from __future__` may not.
            text += "\n" + rest.replace("from __future__ import annotations", "")
            ast.parse(text)
        found[size] = _with_place(text)
    return found


def _graph_code(wheels: Iterable[Path]) -> Iterable[str]:
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith(".py"):
                    data = archive.read(name)
                    if data.count(b"def construct") > 2 and data.isascii():
                        yield data.decode()


def _with_place(text: str) -> Text:
    constructs = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef) and n.name == "construct"]
    middle = sorted(constructs, key=lambda n: n.lineno)[len(constructs) // 2]
    last = middle.body[-1]
    return Text(text, last.lineno - 1, " " * last.col_offset)
