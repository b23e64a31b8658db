"""Recordings as kinds for the analysis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..analysis.kinds import Kind, Tag, join_all
from ..analysis.module import FunctionInfo, Module
from ..analysis.names import all_arguments, defaults_of
from ..analysis.project import Project
from ..recordings import NO_SIGNATURE, Recording, Recordings

_TAGS = {
    "constant": Tag.CONSTANT, "dtype": Tag.CONSTANT, "cell": Tag.CELL, "primitive": Tag.PRIMITIVE,
    "reference": Tag.FUNCTION, "array": Tag.NDARRAY, "tuple": Tag.SEQUENCE, "list": Tag.SEQUENCE, "dict": Tag.DICT,
}  # fmt: skip


def recorded_kinds(
    project: Project, modules: Iterable[Module], recordings: Recordings
) -> dict[FunctionInfo, dict[str, Kind]]:
    """What runs were seen to pass to the functions that start graph regions. A recording of other parameters than a
    function has now is a problem of `recordings`, and left out."""
    seen = _seen(project, modules, recordings)
    return {function: _parameters(function, found) for function, found in seen.items()}


def recorded_shapes(
    project: Project, modules: Iterable[Module], recordings: Recordings
) -> dict[FunctionInfo, list[dict[str, tuple[str, tuple[int, ...]]]]]:
    """The dtypes and shapes of the Tensors of each distinct call that runs were seen to make of these functions."""
    found: dict[FunctionInfo, list[dict[str, tuple[str, tuple[int, ...]]]]] = {}
    for function, seen in _seen(project, modules, recordings).items():
        calls = [_tensors(_passed(function, call["samples"][0])) for recording in seen for call in recording.calls]
        found[function] = [call for i, call in enumerate(calls) if call not in calls[:i]]
    return found


def _tensors(passed: list[tuple[str, dict[str, Any]]]) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {
        name: (node["dtype"].rstrip("_"), tuple(node["shape"])) for name, node in passed if node["kind"] == "tensor"
    }


def _seen(
    project: Project, modules: Iterable[Module], recordings: Recordings
) -> dict[FunctionInfo, list[Recording]]:
    seen: dict[FunctionInfo, list[Recording]] = {}
    for module in modules:
        for qualname, found in recordings.of_file(module.path).items():
            function = _function(project, module, qualname)
            if function is None:
                continue
            for recording in found:
                if recording.outline in (outline(function), _without_first(function), NO_SIGNATURE):
                    seen.setdefault(function, []).append(recording)
                else:
                    recordings.stale(recording, f"({outline(function)})")
    return seen


def outline(function: FunctionInfo) -> str:
    """The parameters as a recording states them: `x, mask=, *rest, scale=, **options`, without the instance."""
    bound = function.receiver is not None and function.owner is not None
    return ", ".join(_outlined(function)[1 if bound else 0 :])


def _without_first(function: FunctionInfo) -> str:
    """How a static method looks to a recorder, which takes every method of a class for one of an instance."""
    return ", ".join(_outlined(function)[1:])


def _outlined(function: FunctionInfo) -> list[str]:
    node = function.node.args
    optional = defaults_of(node)
    marks = {id(node.vararg): "*", id(node.kwarg): "**"}
    return [f"{marks.get(id(a), '')}{a.arg}{'=' if a.arg in optional else ''}" for a in all_arguments(node)]


def _function(project: Project, module: Module, qualname: str) -> FunctionInfo | None:
    info = next((c for c in module.classes if c.qualname == qualname), None)
    if info is not None:
        return project.method(info, "construct")
    return next((f for f in module.functions if f.qualname == qualname), None)


def _parameters(function: FunctionInfo, recordings: list[Recording]) -> dict[str, Kind]:
    passed: dict[str, list[Kind]] = {}
    for recording in recordings:
        for call in recording.calls:
            for name, value in _passed(function, call["samples"][0]):
                passed.setdefault(name, []).append(_kind(value))
    command = recordings[0].command_text
    found = {}
    for name, kinds in passed.items():
        kind = join_all(kinds)
        told = kind.because(f"`{command}` was seen to pass a {kind.describe()} as {name}")
        # Another run may pass another dtype: what was seen is good evidence, and no promise.
        found[name] = told._replace(certain=False)
    return found


def _passed(function: FunctionInfo, sample: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The parameters of a call with what they got, those that are collected by stars left out."""
    node = function.node.args
    names = [a.arg for a in node.posonlyargs + node.args]
    if function.receiver is not None and function.owner is not None:
        names = names[1:]
    known = {a.arg for a in all_arguments(node)} - {a.arg for a in (node.vararg, node.kwarg) if a}
    pairs = [*zip(names, sample["args"], strict=False), *sample["kwargs"].items()]
    return [(name, value) for name, value in pairs if name in known]


def _kind(node: dict[str, Any]) -> Kind:
    kind = node["kind"]
    if kind == "tensor":
        tag = Tag.PARAMETER if "parameter" in node else Tag.TENSOR
        return Kind(tag, variable=True, dtype=node["dtype"].rstrip("_"), rank=len(node["shape"]))
    if kind == "constant":
        if node["type"] == "None":
            return Kind(Tag.CONSTANT, value=None)
        return Kind(Tag.CONSTANT, name=node["type"])
    if kind in ("tuple", "list"):
        items = list(map(_kind, node["items"]))
        # Another call may pass another number of items: one kind for all.
        return Kind(Tag.SEQUENCE, any(k.variable for k in items), elements=(join_all(items),) if items else None,
                    name=kind)  # fmt: skip
    if kind == "dict":
        return Kind(Tag.DICT, any(_kind(item).variable for item in node["items"]))
    tag = _TAGS.get(kind, Tag.OBJECT)
    named = node.get("class") or node.get("to") or {}
    return Kind(tag, name=named.get("name", "").rpartition(".")[2] if tag is Tag.OBJECT else "")
