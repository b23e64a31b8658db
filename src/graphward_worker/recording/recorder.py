"""Keeps the first few distinct calls of each Cell class and function of the project, and counts the rest."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import threading
from typing import Any, Callable

import mindspore as ms

from . import FORMAT
from .nodes import Encoder, key, project_file
from .outline import outline
from .plain import Node
from .store import Store

_CALLS = 8
"""Distinct calls kept for each class or function."""
_CONSTRUCTORS = 8
_SAMPLES = 2
"""Calls of one kind whose values are kept: a second one serves as the second input of a proof."""
_MADE = 200_000
"""Cells of which is noted how they are made."""
MADE = "_graphward_made"
"""Attribute of a Cell that says how it was made; a copy of a Cell carries it too."""

Function = Callable[..., Any]


class Recorder:
    """`request`: `root` (real path of the project), `folder` (of the run)."""

    def __init__(self, request: dict[str, str]):
        self.root = request["root"]
        self.store = Store(request["folder"])
        self.encoder = Encoder(self.store.array, self.made, lambda path: project_file(path, self.root))
        self.lock = threading.RLock()
        self.local = threading.local()
        self.targets: dict[Any, _Target | None] = {}
        self.making: list[Node] = []
        self.complained = False

    def guard(self, step: Callable[..., Any], *args: Any) -> Any:
        """The result of a step of the recorder; its failure is no business of the user's script, but is said once."""
        try:
            with self.lock:
                return step(*args)
        except Exception as error:
            if not self.complained:
                self.complained = True
                sys.stderr.write(f"graphward: not everything is recorded: {type(error).__name__}: {error}\n")
            return None

    def forget(self) -> None:
        """In a forked child: what the parent counted is the parent's."""
        self.lock = threading.RLock()
        self.targets.clear()

    def note_making(self, cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A Cell is about to be made with these arguments."""
        if len(self.making) >= _MADE:
            return
        reference = self.encoder.reference(type(cell))
        node: Node = {
            "kind": "cell",
            "class": reference or {"module": type(cell).__module__, "file": None, "name": type(cell).__qualname__},
            "args": [self.encoder.node(value) for value in args],
            "kwargs": {name: self.encoder.node(value) for name, value in kwargs.items()},
        }
        if reference is None:
            node["local"] = True
        self.making.append(node)
        vars(cell)[MADE] = len(self.making) - 1

    def made(self, cell: Any) -> Node | None:
        """How a Cell was made."""
        number = vars(cell).get(MADE)
        if number is None:
            return None
        node = self.making[number]
        if node.get("local"):
            return {"kind": "opaque", "type": node["class"]["name"], "reason": "a class that is local to a function"}
        return node

    def target(self, thing: Any) -> _Target | None:
        """The record of a Cell class or function; None when it is not the project's."""
        if thing not in self.targets:
            self.targets[thing] = self.guard(self._target, thing)
        return self.targets[thing]

    def _target(self, thing: Any) -> _Target | None:
        if isinstance(thing, type):
            module = sys.modules.get(thing.__module__)
            path = getattr(module, "__file__", None)
        else:
            path = thing.__code__.co_filename
        file = project_file(path, self.root) if path else None
        if file is None or thing.__qualname__.endswith("<lambda>"):
            return None
        name = re.sub(r"[^\w.]+", "-", f"{file}.{thing.__qualname__}")[-80:]
        short = hashlib.blake2b(f"{file}::{thing.__qualname__}".encode(), digest_size=4).hexdigest()
        return _Target(thing, file, f"{name}.{short}")

    def observe(self, target: _Target, subject: Any, args: Any, kwargs: Any, run: Callable[[], Any]) -> Any:
        """Run a call of the project's and note it. `subject` is the Cell, or the function: a call of itself by way of
        its base class is the same call."""
        stack = self.stack()
        if stack and stack[-1] is subject:
            return run()
        entry = self.guard(self._before, target, subject, args, kwargs, not stack)
        stack.append(subject)
        try:
            result = run()
        finally:
            stack.pop()
        if entry is not None and not entry["completed"]:
            self.guard(self._completed, target, entry)
        return result

    def stack(self) -> list[Any]:
        """The project's calls under way in this thread, the outermost first."""
        if not hasattr(self.local, "stack"):
            self.local.stack = []
        stack: list[Any] = self.local.stack
        return stack

    def _before(self, target: _Target, subject: Any, args: Any, kwargs: Any, outermost: bool) -> dict[str, Any] | None:
        target.count += 1
        constructor = self._constructor(target, subject) if target.is_cell else None
        training = bool(subject.training) if target.is_cell else None
        signature = f"{constructor}|{training}|{key(args)}|{key(kwargs)}"
        entry = target.by_signature.get(signature)
        if entry is None:
            if len(target.calls) >= _CALLS:
                target.further.add(signature if len(target.further) < 1000 else "")
                self._write_at_powers(target)
                return None
            entry = {"constructor": constructor, "training": training, "count": 0, "outermost": 0,
                     "completed": False, "samples": []}  # fmt: skip
            target.by_signature[signature] = entry
            target.calls.append(entry)
        entry["count"] += 1
        entry["outermost"] += outermost
        number = entry["count"]
        if len(entry["samples"]) < _SAMPLES and number & (number - 1) == 0:
            sample = {
                "args": [self.encoder.node(value) for value in args],
                "kwargs": {name: self.encoder.node(value) for name, value in kwargs.items()},
            }
            if sample not in entry["samples"]:
                entry["samples"].append(sample)
                self.write(target)
        else:
            self._write_at_powers(target)
        return entry

    def _constructor(self, target: _Target, cell: Any) -> int | None:
        number = vars(cell).get(MADE)
        if number is None:
            return None
        if number not in target.by_making:
            node = self.making[number]
            text = json.dumps([node["args"], node["kwargs"]])
            known = target.by_text.get(text)
            if known is None and len(target.constructors) < _CONSTRUCTORS:
                known = target.by_text[text] = len(target.constructors)
                target.constructors.append({"args": node["args"], "kwargs": node["kwargs"]})
            target.by_making[number] = known
        return target.by_making[number]

    def _completed(self, target: _Target, entry: dict[str, Any]) -> None:
        entry["completed"] = True
        self.write(target)

    def _write_at_powers(self, target: _Target) -> None:
        """Counts need not be exact in the file of a process that is killed."""
        if target.count & (target.count - 1) == 0:
            self.write(target)

    def write(self, target: _Target) -> None:
        """Write the file of one target."""
        self.store.write(target.name, target.to_json())

    def write_all(self) -> None:
        """At the end: the counts as they are."""
        for target in self.targets.values():
            if target is not None and target.count:
                self.guard(self.write, target)


class _Target:
    """What is known of one Cell class or function."""

    def __init__(self, thing: Any, file: str, name: str):
        self.name = name
        self.file = file
        self.qualname: str = thing.__qualname__
        self.is_cell = isinstance(thing, type)
        self.process = os.getpid()
        function = thing.construct if self.is_cell else thing
        self.outline = outline(function, bound=self.is_cell or _is_method(thing))
        self.init_outline = outline(thing.__init__, bound=True) if self.is_cell else ""
        self.count = 0
        self.constructors: list[Node] = []
        self.calls: list[dict[str, Any]] = []
        self.further: set[str] = set()
        self.by_signature: dict[str, dict[str, Any]] = {}
        self.by_making: dict[int, int | None] = {}
        self.by_text: dict[str, int] = {}

    def to_json(self) -> dict[str, Any]:
        """The content of the target's file."""
        return {
            "format": FORMAT,
            "file": self.file,
            "qualname": self.qualname,
            "kind": "cell" if self.is_cell else "function",
            "mindspore": ms.__version__,
            "outline": self.outline,
            "init_outline": self.init_outline,
            "count": self.count,
            "further": len(self.further),
            "constructors": self.constructors,
            "calls": self.calls,
        }


def _is_method(function: Any) -> bool:
    head, dot, _ = function.__qualname__.rpartition(".")
    return bool(dot) and not head.endswith("<locals>")
