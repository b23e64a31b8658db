"""Recorded calls as the inputs of a play."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import mindspore as ms

from .. import loading
from ..specs import Input
from .outline import NO_SIGNATURE, outline
from .plain import Node, has_floats, text
from .rebuild import Builder


class Stale(Exception):
    """The recording is of another version of the class or function."""


@dataclass(frozen=True)
class Recorded:
    """An input: one node for each call that was recorded. It builds the value for a variant."""

    nodes: tuple[Node, ...]
    builder: Builder
    vary_integers: bool

    def __str__(self) -> str:
        return text(self.nodes[0])

    def build(self, variant: int, leaf: int) -> Any:
        """The recorded value, or for a call that was not recorded one like the first."""
        if variant < len(self.nodes):
            return self.builder.build(self.nodes[variant])
        return self.builder.other(self.nodes[0], variant, self.vary_integers, [leaf])


def inputs(call: dict[str, Any], tree: str) -> list[Input]:
    """The arguments of a recorded call (see `graphward.verify.recordings`)."""
    samples, builder = call["samples"], Builder(tree, call["folder"])
    first = samples[0]
    vary_integers = not any(map(has_floats, [*first["args"], *first["kwargs"].values()]))
    same = (len(first["args"]), first["kwargs"].keys())
    alike = [s for s in samples if (len(s["args"]), s["kwargs"].keys()) == same]

    def made(nodes: list[Node], name: str | None = None) -> Input:
        spec: Any = Recorded(tuple(nodes), builder, vary_integers)
        return Input(spec, name)

    positional = [made([s["args"][i] for s in alike]) for i in range(len(first["args"]))]
    return positional + [made([s["kwargs"][name] for s in alike], name) for name in first["kwargs"]]


def target(module: ModuleType, expr: str, call: dict[str, Any] | None, tree: str) -> Any:
    """What `expr` names, made with the recorded constructor arguments where it is a Cell class. Raises Stale."""
    found = loading.evaluate(module, expr)
    if call is None:
        return found
    if call["check"]:
        check(found, call)
    constructor = call["constructor"]
    if not isinstance(found, type) or constructor is None:
        return found
    builder = Builder(tree, call["folder"])
    kwargs = {name: builder.build(node) for name, node in constructor["kwargs"].items()}
    return found(*map(builder.build, constructor["args"]), **kwargs)


def check(thing: Any, call: dict[str, Any]) -> None:
    """Raise Stale when the signatures are not those that were recorded."""
    cls: Any = thing if isinstance(thing, type) else type(thing) if isinstance(thing, ms.nn.Cell) else None
    if cls is None:
        pairs = [("it", inspect.unwrap(thing), call["outline"])]
    else:
        pairs = [("construct", cls.construct, call["outline"])]
        if cls is thing:
            pairs.append(("the constructor", cls.__init__, call["init_outline"]))
    for name, function, recorded in pairs:
        now = outline(function, bound=cls is not None)
        if recorded != now and NO_SIGNATURE not in (recorded, now):
            raise Stale(f"{name} took ({recorded}) when it was recorded and takes ({now}) now")
