"""What a project shows of its own use: constructor calls with literal arguments, shapes in examples, ranks in
docstrings."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any, Callable

from .signatures import source_of
from .specs import TensorSpec

_PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.) ?(.*)$", re.MULTILINE)
_MAKERS = frozenset(("ones", "zeros", "rand", "randn", "randint", "normal", "uniform", "random", "standard_normal"))
_INTEGERS = frozenset(("randint",))
_OF_SHAPE = re.compile(r"shape[^(\[\n]{0,24}[(\[]([^()\[\]]+)[)\]]")
_INTEGER = re.compile(r"Long|int(32|64)?\b|index|indices")
_MOST = 4
_LARGEST = 1 << 22  # elements


def constructor_examples(cls: type, module: ModuleType) -> list[str]:
    """Arguments, as text, that the module, its `__main__` part and its docstrings construct the class with, when they
    are all literals."""
    found: dict[str, None] = {}
    for tree in (*_docstring_examples(cls), *_trees(module)):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _called(node.func) == cls.__name__ and (node.args or node.keywords):
                values = [*node.args, *(k.value for k in node.keywords)]
                if all(map(_is_literal, values)) and all(k.arg for k in node.keywords):
                    found[", ".join(ast.unparse(part) for part in (*node.args, *node.keywords))] = None
    return list(found)[:_MOST]


def shape_examples(target: Any) -> list[TensorSpec]:
    """Tensors that the docstring of a Cell's class makes, and the part of its module that runs as a script."""
    cls = type(target)
    module = sys.modules.get(cls.__module__)
    scripts = [part for tree in _trees(module) for part in _scripts(tree)] if module is not None else []
    found: dict[TensorSpec, None] = {}
    for tree in (*_docstring_examples(cls), *scripts):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _called(node.func) in _MAKERS:
                shape = _shape(node)
                if shape is not None:
                    integers = _called(node.func) in _INTEGERS
                    found[TensorSpec("i32", shape, 2) if integers else TensorSpec("f32", shape)] = None
    return list(found)[:_MOST]


def documented_rank(function: Callable[..., Any], name: str) -> tuple[int | None, bool]:
    """The rank that docstrings give a parameter, and whether they say that it holds integers."""
    owner = getattr(function, "__self__", None)
    for holder in (function, type(owner) if owner is not None else None):
        text = inspect.getdoc(holder) if holder is not None else None
        entry = _entry(text, name) if text else None
        if entry is not None:
            shape = _OF_SHAPE.search(entry.replace("`", "").replace(":math:", ""))
            parts = [part for part in shape[1].split(",") if part.strip()] if shape else []
            named = all(re.fullmatch(r"[\w\s.*+/\\{}^-]+", part) and "..." not in part for part in parts)
            return (len(parts) if parts and named and len(parts) < 6 else None), bool(_INTEGER.search(entry[:80]))
    return None, False


def _entry(text: str, name: str) -> str | None:
    """What a docstring says about a parameter: its line and the deeper ones behind it."""
    head = rf"^([ \t]*)(?:- +)?\**{re.escape(name)}\** *(?:\(|:|- )[^\n]*"
    found = re.search(head + r"(?:\n\1[ \t]+[^\n]*)*", text, re.MULTILINE)
    return found[0] if found else None


def _docstring_examples(cls: type) -> Iterator[ast.Module]:
    text = "\n".join(_PROMPT.findall(cls.__doc__ or ""))
    try:
        yield ast.parse(text)
    except SyntaxError:
        return


@cache
def _module_tree(module: ModuleType) -> ast.Module | None:
    try:
        return ast.parse(source_of(module) or "")
    except SyntaxError:
        return None


def _trees(module: ModuleType) -> list[ast.Module]:
    tree = _module_tree(module)
    return [] if tree is None else [tree]


def _scripts(tree: ast.Module) -> Iterator[ast.AST]:
    """The blocks under `if __name__ == "__main__"`, and test functions."""
    for node in tree.body:
        script = isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)
        if script or (isinstance(node, ast.FunctionDef) and node.name.startswith(("test", "main"))):
            yield node


def _called(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return False
    return True


def _shape(node: ast.Call) -> tuple[int, ...] | None:
    """`((2, 3))` and `(2, 3)` alike."""
    sizes: list[Any] = []
    for argument in (*node.args, *(k.value for k in node.keywords if k.arg in ("size", "shape"))):
        if _is_literal(argument):
            value = ast.literal_eval(argument)
            if isinstance(value, (tuple, list)) and value:
                sizes = list(value)
                break
            sizes.append(value)
    if not sizes or not all(type(size) is int and size > 0 for size in sizes):
        return None
    count = 1
    for size in sizes:
        count *= size
    return tuple(sizes) if count <= _LARGEST and len(sizes) < 6 else None
