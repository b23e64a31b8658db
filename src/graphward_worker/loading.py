"""Imports the user's module from a tree, under the name that it has in real life, and evaluates the target in it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

_KEPT = {"mindspore", "numpy", "graphward_worker"}


def load_module(tree: str, file: str) -> ModuleType:
    """The module of `file` (relative to `tree`), with its package when it lives in one.

    The package root is found by walking up the `__init__.py` files; a file outside of packages is a script whose own
    directory and the tree are importable. The tree shadows an installed copy of the same package.
    """
    tree = os.path.realpath(tree)
    path = os.path.join(tree, *file.split("/"))
    root, name = _place(path)
    sys.argv = [path]  # a script that reads its arguments must not read the worker's
    _shadow(root, tree)
    if "." in name or os.path.basename(path) == "__init__.py":
        return _checked(importlib.import_module(name), path)
    try:
        return _load_file(name, path)
    except ImportError as error:
        if "no known parent package" not in str(error):
            raise
    # A relative import in a directory without __init__.py: a namespace package below the tree.
    sys.modules.pop(name, None)
    dotted = os.path.relpath(path, tree)[: -len(".py")].replace(os.sep, ".")
    return _checked(importlib.import_module(dotted), path)


def evaluate(module: ModuleType, expr: str) -> Any:
    """The object that `expr` names, evaluated where the module's own names are visible."""
    return eval(expr, vars(module))


def _place(path: str) -> tuple[str, str]:
    """The directory to import from and the dotted name."""
    folder, base = os.path.split(path)
    stem = base[: -len(".py")] if base.endswith(".py") else base
    parts = [] if stem == "__init__" else [stem]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
        if not package:
            break
    return folder, ".".join(parts)


def _shadow(*folders: str) -> None:
    """Put `folders` first on the path and forget modules of the same names that came from elsewhere."""
    for folder in reversed(folders):
        if folder in sys.path:
            sys.path.remove(folder)
        sys.path.insert(0, folder)
    importlib.invalidate_caches()
    names = set()
    for folder in folders:
        names |= {entry.split(".")[0] for entry in os.listdir(folder)}
    standard = getattr(sys, "stdlib_module_names", sys.builtin_module_names)
    for loaded in list(sys.modules):
        top = loaded.split(".")[0]
        if top in names and top not in _KEPT and top not in standard and not top.startswith("_"):
            del sys.modules[loaded]


def _load_file(name: str, path: str) -> ModuleType:
    """A module of one file. A name that is taken (a script called `copy.py`) gets a prefix, so that MindSpore keeps
    the module it means."""
    taken = name in sys.modules or name in getattr(sys, "stdlib_module_names", ()) or name in _KEPT
    name = f"graphward_target_{name}" if taken else name
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file", path=path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _checked(module: ModuleType, path: str) -> ModuleType:
    # Links are not followed: in a tree where only other files are rewritten, this one is a link to the original.
    found = os.path.abspath(module.__file__) if module.__file__ else ""
    if found != path:
        raise ImportError(f"{module.__name__} was imported from {found or 'nowhere'} instead of {path}", path=path)
    return module
