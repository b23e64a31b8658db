"""Runs a recorded command line again, in this process and over a copy of the tree."""

from __future__ import annotations

import os
import runpy
import shutil
import sys

_SKIPPED = frozenset({".git", ".hg", ".graphward", "__pycache__", ".venv", "venv", "node_modules", ".pytest_cache"})
_LARGE = 1 << 20
"""Files above this size (data, weights) are linked: a script that starts again reads them."""
_VALUED = frozenset("WX")  # options of Python that take a value


class NotPython(Exception):
    """A command line that cannot be run again inside a Python process."""


def copy_tree(tree: str, copy: str) -> None:
    """A copy in which the script may write; links inside `tree` are followed."""
    seen: set[str] = set()

    def mirror(source: str, made: str) -> None:
        real = os.path.realpath(source)
        if real in seen:
            return
        seen.add(real)
        os.makedirs(made)
        for entry in os.scandir(source):
            path = os.path.join(made, entry.name)
            if entry.name in _SKIPPED:
                continue
            if entry.is_dir():
                mirror(entry.path, path)
            elif entry.is_file() and entry.stat().st_size <= _LARGE:
                shutil.copyfile(entry.path, path)
            elif entry.is_file():
                os.symlink(os.path.realpath(entry.path), path)

    mirror(tree, copy)


def run(arguments: list[str], moved: dict[str, str]) -> None:
    """Do what `python ARGUMENTS` does, as `__main__`. `moved`: folder -> where it is now, for paths in the arguments.
    Raises NotPython, and what the script raises."""
    where = [_moved(argument, moved) for argument in arguments]
    while where:
        head, *rest = where
        if head in ("-m", "-c") and rest:
            sys.path.insert(0, os.getcwd() if head == "-m" else "")
            sys.argv = [head, *rest[1:]]
            if head == "-m":
                runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
            else:
                exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
            return
        if not head.startswith("-"):
            script = os.path.abspath(head)
            sys.path.insert(0, os.path.dirname(script))
            sys.argv = [head, *rest]
            runpy.run_path(script, run_name="__main__")
            return
        where = rest[1:] if head[-1] in _VALUED and len(head) == 2 else rest
    raise NotPython("the command line names no script and no module")


def _moved(argument: str, moved: dict[str, str]) -> str:
    for folder, place in moved.items():
        if argument == folder or argument.startswith(os.path.join(folder, "")):
            return place + argument[len(folder) :]
    return argument
