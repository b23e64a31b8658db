"""Waits for MindSpore to be imported, then puts the recorder into it."""

from __future__ import annotations

import json
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from . import PROCESS, VARIABLE


def watch() -> None:
    """From now on the import of MindSpore starts the recorder."""
    request = json.loads(os.environ[VARIABLE])
    # What MindSpore itself asks before it compiles a jit function, or a Cell under GRAPH_MODE.
    os.environ["MS_JIT"] = "0"
    note_process(request["folder"])
    sys.meta_path.insert(0, _Finder(request))


def note_process(folder: str) -> None:
    """Leave a mark that a Python process started and was watched, and what would start it again."""
    own = os.path.join(folder, str(os.getpid()))
    os.makedirs(own, exist_ok=True)
    path = os.path.join(own, PROCESS)
    with open(f"{path}.partial", "w", encoding="utf-8", errors="surrogateescape") as file:
        json.dump({"arguments": _arguments(), "folder": os.getcwd()}, file)
    os.replace(f"{path}.partial", path)


def _arguments() -> list[str]:
    """What followed the interpreter on the command line, its own options included."""
    if hasattr(sys, "orig_argv"):
        return list(sys.orig_argv[1:])
    try:
        with open("/proc/self/cmdline", "rb") as file:  # Python 3.9
            return [os.fsdecode(part) for part in file.read().split(b"\0")[1:-1]]
    except OSError:
        return []


class _Finder:
    """Hands every search on to the others, and wraps the loader of `mindspore`."""

    def __init__(self, request: dict[str, str]):
        self.request = request

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "mindspore":
            return None
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, self)  # type: ignore[assignment]
                return spec
        return None


class _Loader:
    """The loader of `mindspore`, and what follows when it is done."""

    def __init__(self, loader: Any, finder: _Finder):
        self.loader = loader
        self.finder = finder

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        found: ModuleType | None = self.loader.create_module(spec)
        return found

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        module.__loader__ = self.loader
        self.loader.exec_module(module)
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
        try:
            from . import hooks

            hooks.install(self.finder.request)
        except Exception as error:  # the user's script must run whatever happens here
            sys.stderr.write(f"graphward: nothing is recorded in this process: {error!r}\n")
