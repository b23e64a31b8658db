"""What the rest of a project does with a module: which of its names others set."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

from ..analysis.module import Module, module_name
from ..source.text import NotText, SourceText


def set_from_outside(module: str, stem: str, files: Iterable[Path]) -> dict[str, str]:
    """The names of `module` that other files assign to or patch, with the place where. Files that cannot be read do
    nothing."""
    found: dict[str, str] = {}
    text = re.compile(rf"{re.escape(module)}\.(\w+)")
    name = re.escape(stem)
    # The module has to be imported as such, on a line of its own in a list of names, or be named in a text.
    mentioned = re.compile(rf"\bimport\b[^\n]*\b{name}\b|^\s*{name}( as \w+)?,?\s*$|{name}\.\w+[\"']".encode(), re.M)
    for path in files:
        try:
            data = path.read_bytes()
        except OSError:
            continue
        if not mentioned.search(data):
            continue
        try:
            other = Module.parse(SourceText.from_bytes(path, data), module_name(path))
        except (NotText, SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(other.tree):
            for name in _sets(node, other, module, text):
                found.setdefault(name, f"{path.name}:{getattr(node, 'lineno', 1)}")
    return found


def _sets(node: ast.AST, other: Module, module: str, text: re.Pattern[str]) -> list[str]:
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return [node.attr] if other.names.resolve(node.value) == module else []
    if not isinstance(node, ast.Call) or not node.args:
        return []
    callee = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if callee not in ("setattr", "patch", "object", "delattr"):
        return []
    first, *others = node.args
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        match = text.fullmatch(first.value)
        return [match[1]] if match else []
    named = others[0] if others else None
    if isinstance(named, ast.Constant) and isinstance(named.value, str) and other.names.resolve(first) == module:
        return [named.value]
    return []
