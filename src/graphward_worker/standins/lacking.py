"""Which kernels this device lacks: asked of MindSpore itself, once in the life of a worker and only when a play has
stumbled over one."""

from __future__ import annotations

from typing import Any, Callable

from .. import graph, messages
from ..children import Stage
from ..synchronise import synchronise
from . import install
from .registry import StandIn, all_standins, chosen

SECONDS = 60.0
"""What asking may take."""


def probe(request: dict[str, Any], report: Callable[[Any], None]) -> None:
    """Call the original of each stand-in once, in PyNative. Reports a list of the kernels that are missing (`lacking`)
    and how many were tried (`tried`), again after each, so that a crash costs one answer. `request["start"]`: which to
    start with."""
    graph.run_synchronously()  # or the next call tells the error of the one before
    lacking: list[str] = []
    entries = all_standins()
    start = request["start"]
    for number, entry in enumerate(entries[start:], start + 1):
        report({"lacking": lacking + [entry.kernel], "tried": number})
        if lacks(entry):
            lacking.append(entry.kernel)
    report({"lacking": lacking, "tried": len(entries)})


def lacks(entry: StandIn) -> bool:
    """Whether the original does not work for want of a kernel."""
    original = _original(entry)
    if original is None:
        return False
    try:
        synchronise(entry.example(original))
    except Exception as error:
        return messages.lacks_kernel(str(error))
    return False


def _original(entry: StandIn) -> Any:
    if entry.kind != "kernel":
        return entry.original()
    for names in install.holders():
        for value in list(names.values()):
            if install.is_primitive(value) and value.name == entry.name:
                return value
    return None


class Equipment:
    """The kernels that a worker knows to be missing. Until a play has missed one nothing is known, and nothing stands
    in for anything."""

    def __init__(self) -> None:
        self.kernels: frozenset[str] = frozenset()
        self.probed = 0
        self.known = False

    def learn(self, end: dict[str, Any]) -> bool:
        """Take in the end of a probe; False when it died and has to go on after what killed it."""
        found = end["value"] or {"lacking": [], "tried": self.probed}
        self.kernels |= frozenset(found["lacking"])
        stuck = found["tried"] == self.probed
        self.probed = found["tried"]
        self.known = stuck or end["kind"] == "done"
        return self.known

    def add(self, kernel: str) -> None:
        """A kernel that a graph missed though PyNative has it, unless nothing can stand in for it."""
        if chosen({kernel}):
            self.kernels |= {kernel}


def equipped(stage: Stage, kernels: frozenset[str]) -> Stage:
    """The stage with stand-ins for these kernels; what it reports then says which of them it used (`stand_ins`)."""
    if not kernels:
        return stage

    def with_stand_ins(request: dict[str, Any], report: Callable[[Any], None]) -> None:
        install.install(kernels)
        stage(request, lambda found: report({**found, "stand_ins": sorted(install.USED)}))

    return with_stand_ins
