"""Finds the first difference between two plays: outputs and arguments call by call, then state, then gradients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .compare import Difference, compare, compare_arrays
from .inputs import variants

BOTH_PYNATIVE = ("in the original", "in the rewrite")
"""The sides of a difference that shows before any compiler is involved."""

_EXPORTED = ("in PyNative", "in the file")
_GRADIENT_FACTOR = 10.0  # sums over many elements, in another order, lose a digit

Record = dict[str, Any]
"""What `play` reports."""


@dataclass
class Found:
    """A difference in its part (outputs, state, gradients, pynative); `call` is 1-based, None for what is left after
    all calls."""

    part: str
    call: int | None
    difference: Difference

    def to_json(self) -> dict[str, Any]:
        return {"part": self.part, "call": self.call, **self.difference.to_json()}

    def sentence(self) -> str:
        """The difference in one line."""
        found = self.difference
        when = "after all calls" if self.call is None else f"call {self.call}"
        size = "" if found.max_abs is None else f", off by {found.max_abs:.3g}"
        return f"{when}: {found.where} differs in {found.what}: {found.detail}{size}"


def in_calls(want: Record, got: Record, ignored: Iterable[str], notes: list[str]) -> Found | None:
    """Outputs and arguments of each call, then the state, without the attributes that are `ignored`. Adds to `notes`
    what was let pass, when nothing differs."""
    seen: list[str] = []
    found = _in_outputs(want, got, seen)
    if found is None:
        difference = _in_state(want, got, set(ignored), seen)
        found = None if difference is None else Found("state", None, difference)
    if found is None:
        notes += sorted(set(seen))
    return found


def _in_outputs(want: Record, got: Record, notes: list[str]) -> Found | None:
    for number, (left, right) in enumerate(zip(want["calls"], got["calls"]), 1):
        difference = compare(left["output"], right["output"], "output", notes)
        if difference is not None:
            return Found("outputs", number, difference)
        difference = compare(left["arguments"], right["arguments"], "arguments", notes)
        if difference is not None:
            # The record holds positional and keyword arguments, in this order.
            place = difference.where.replace("arguments[0]", "argument").replace("arguments[1]", "argument")
            difference.where = place
            return Found("state", number, difference)
    return None


def _in_state(want: Record, got: Record, ignored: set[str], notes: list[str]) -> Difference | None:
    for part, word in (("parameters", "parameter"), ("buffers", "buffer")):
        for name, node in want["after"][part].items():
            if name in got["after"][part] and name not in ignored:
                difference = compare(node, got["after"][part][name], f"{word} {name}", notes)
                if difference is not None:
                    return difference
    for part, word in (("attributes", "attribute"), ("globals", "global")):
        for name in want["after"][part]:
            if name not in ignored:
                difference = _in_attribute(want, got, part, name, f"{word} {name}", notes)
                if difference is not None:
                    return difference
    return None


def _in_attribute(want: Record, got: Record, part: str, name: str, where: str, notes: list[str]) -> Difference | None:
    """Only what the calls changed, on either side, is state; a constant that a rewrite drops is not."""
    node = want["after"][part][name]
    changed = _changed(want, part, name)
    if name in got["after"][part]:
        if not changed and not _changed(got, part, name):
            return None
        return compare(node, got["after"][part][name], where, notes)
    if not changed:
        return None
    for kind in ("parameters", "buffers"):
        if name in got["after"][kind]:  # a counter that became a Parameter
            return compare(node, _as_scalar(got["after"][kind][name], node), where, notes)
    return Difference(where, "structure", "changed by the calls", "absent")


def _changed(record: Record, part: str, name: str) -> bool:
    before = record["before"][part].get(name)
    return before is None or compare(before, record["after"][part][name], name, []) is not None


def _as_scalar(got: dict[str, Any], want: dict[str, Any]) -> dict[str, Any]:
    """A Parameter of one element may stand for a number, whatever its shape."""
    if want["kind"] == "number" and got["value"].size == 1:
        return {**got, "value": got["value"].reshape(())}
    return got


def in_export(want: Record, got: Record) -> Found | None:
    """The tensors of the first call, from left to right, whatever holds them."""
    left, right = _tensors(want["calls"][0]["output"]), _tensors(got["calls"][0]["output"])
    if len(left) != len(right):
        difference = Difference("output", "structure", f"{len(left)} tensors", str(len(right)), sides=_EXPORTED)
        return Found("export", 1, difference)
    for number, (a, b) in enumerate(zip(left, right)):
        other = compare_arrays(a["value"], b["value"], f"output tensor {number}", a["dtype"], b["dtype"])
        if other is not None:
            other.sides = _EXPORTED
            return Found("export", 1, other)
    return None


def _tensors(node: dict[str, Any]) -> list[dict[str, Any]]:
    if node["kind"] == "tensor":
        return [node]
    return [tensor for item in node.get("items", ()) for tensor in _tensors(item)]


def cut_notes(want: Record) -> list[str]:
    """Gradients that are zero though the outputs depend on the value: cut, by a NumPy round trip or `stop_gradient`."""
    if not want.get("cut"):
        return []
    return [f"the original cuts the gradient of {', '.join(want['cut'])}: zero, though the outputs depend on it"]


def in_gradients(want: Record, got: Record) -> Found | None:
    """The gradients that both sides have, by name; None when one side has none at all."""
    for call, name, left, right in _gradient_pairs(want, got):
        difference = _in_gradient(left, right, name)
        if difference is not None:
            if name in want.get("cut", ()):
                difference.want += ", cut off,"
            return Found("gradients", call, difference)
    return None


def in_restored_gradients(original: Record, own: Record, got: Record) -> Found | None:
    """Each gradient of the graph must be the original's, or else that of the rewrite itself in PyNative."""
    faithful = {(c, n) for c, n, left, right in _gradient_pairs(original, got) if _in_gradient(left, right, n) is None}
    for call, name, left, right in _gradient_pairs(own, got):
        if (call, name) not in faithful:
            difference = _in_gradient(left, right, name)
            if difference is not None:
                return Found("gradients", call, difference)
    return None


def _gradient_pairs(want: Record, got: Record) -> Iterator[tuple[int, str, np.ndarray, np.ndarray]]:
    if want["gradients"] is None or got["gradients"] is None:
        return
    for call, variant in enumerate(variants(2), 1):
        theirs = got["gradients"][variant]
        for name, array in want["gradients"][variant].items():
            if name in theirs:
                yield call, name, array, theirs[name]


def _in_gradient(want: np.ndarray, got: np.ndarray, name: str) -> Difference | None:
    return compare_arrays(want, got, f"gradient of {name}", str(want.dtype), factor=_GRADIENT_FACTOR)


def parameter_notes(want: Record, got: Record) -> list[str]:
    """Parameters are compared by name; this tells those that only one side has."""
    before, after = set(want["after"]["parameters"]), set(got["after"]["parameters"])
    notes = []
    if after - before:
        notes.append(f"parameters added: {', '.join(sorted(after - before)[:8])}")
    if before - after:
        notes.append(f"parameters gone: {', '.join(sorted(before - after)[:8])}")
    return notes


def in_pynative(original: Record, own: Record, ignored: Iterable[str], gradients: bool) -> Found | None:
    """The rewrite against the original, both in PyNative; the part says so."""
    found = in_calls(original, own, ignored, []) or (in_gradients(original, own) if gradients else None)
    if found is not None:
        found.part = "pynative"
        found.difference.sides = BOTH_PYNATIVE
    return found


def twins(record: Record) -> list[str]:
    """Parameters that hold the same values as another one, as those of layers of one shape do, by name. A constant is
    left out: zeros for zeros change nothing."""
    groups: dict[Any, list[str]] = {}
    for name, node in record["before"]["parameters"].items():
        value = node["value"]
        if value.dtype.kind == "f" and value.size and value.min() != value.max():
            groups.setdefault((node["dtype"], value.shape, value.tobytes()), []).append(name)
    return [name for group in groups.values() if len(group) > 1 for name in group]


def nan_notes(record: Record) -> list[str]:
    """That NaN equals NaN proves little, so the verdict tells."""
    arrays = (array for call in record["calls"] for array in _float_arrays(call["output"]))
    if any(array.size and bool(np.isnan(array).all()) for array in arrays):
        return ["an output is NaN throughout: compared, but it proves little"]
    return []


def _float_arrays(node: dict[str, Any]) -> list[np.ndarray]:
    if node["kind"] in ("tensor", "array"):
        return [node["value"]] if node["value"].dtype.kind == "f" else []
    return [array for item in node.get("items", ()) for array in _float_arrays(item)]
