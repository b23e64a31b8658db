"""Compares two recordings: structure, dtype, shape, values. Knows NumPy only.

A host value (NumPy array or scalar, Python number) cannot leave a graph: where the original returns one and the rewrite
returns a Tensor of the same values, they are equal and a note says so. Everything else must match exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_TOLERANCE = {
    "float64": (1e-6, 1e-8),
    "float32": (1e-4, 1e-5),
    "float16": (5e-3, 1e-3),
    "bfloat16": (3e-2, 1e-2),
    "complex64": (1e-4, 1e-5),
    "complex128": (1e-6, 1e-8),
}
"""dtype -> relative tolerance, and absolute tolerance for values of magnitude up to 1."""

_HOST = ("array", "number")


@dataclass
class Difference:
    """The first thing that differs: `where` (`output[0]`), `what` (structure, type, dtype, shape, value), what is
    `want`ed and what was `got` in words, and for values the largest absolute and relative difference. `sides` names
    those that were compared."""

    where: str
    what: str
    want: str
    got: str
    extent: str = ""
    max_abs: float | None = None
    max_rel: float | None = None
    sides: tuple[str, str] = ("in PyNative", "in the graph")

    @property
    def detail(self) -> str:
        """Both sides in words."""
        return f"{self.want} {self.sides[0]}, {self.got} {self.sides[1]}{self.extent}"

    def to_json(self) -> dict[str, Any]:
        return {
            "where": self.where,
            "what": self.what,
            "detail": self.detail,
            "max_abs": self.max_abs,
            "max_rel": self.max_rel,
        }


def compare(want: dict[str, Any], got: dict[str, Any], where: str, notes: list[str]) -> Difference | None:
    """None when `got` means the same as `want`; adds to `notes` what was let pass."""
    if want["kind"] in _HOST and got["kind"] in ("tensor", *_HOST) and want["type"] != got["type"]:
        return _compare_host(want, got, where, notes)
    if want["kind"] != got["kind"]:
        return Difference(where, "structure", _name(want), _name(got))
    if want["type"] != got["type"]:
        return Difference(where, "type", want["type"], got["type"])
    if want["kind"] in ("seq", "map"):
        return _compare_items(want, got, where, notes)
    if want["kind"] == "number" or want["kind"] == "atom":
        return _compare_scalar(want, got, where)
    if want["kind"] == "object":
        return None
    return compare_arrays(want["value"], got["value"], where, want["dtype"], got["dtype"])


def compare_arrays(
    want: np.ndarray, got: np.ndarray, where: str, dtype: str, got_dtype: str | None = None, factor: float = 1.0
) -> Difference | None:
    """Two arrays; `factor` widens the tolerance of the dtype. NaN equals NaN."""
    if got_dtype is not None and dtype.lower() != got_dtype.lower():
        return Difference(where, "dtype", dtype, got_dtype)
    if want.shape != got.shape:
        return Difference(where, "shape", str(want.shape), str(got.shape))
    if want.size == 0:
        return None
    if want.dtype.kind not in "fc":
        same = want == got
        if bool(np.all(same)):
            return None
        gap = np.abs(want.astype(np.float64) - got.astype(np.float64))
        return _value_difference(where, want, got, gap, ~same)
    relative, absolute = (factor * t for t in _TOLERANCE.get(dtype.lower(), _TOLERANCE["float32"]))
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    want, got = want.astype(wide), got.astype(wide)
    finite = np.abs(want[np.isfinite(want)])
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    with np.errstate(all="ignore"):
        close = np.isclose(got, want, rtol=relative, atol=absolute * scale, equal_nan=True)
        if bool(close.all()):
            return None
        return _value_difference(where, want, got, np.abs(got - want), ~close)


def _value_difference(where: str, want: np.ndarray, got: np.ndarray, gap: np.ndarray, wrong: np.ndarray) -> Difference:
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    with np.errstate(all="ignore"):
        gaps = gap[wrong & np.isfinite(gap)]
        ratio = gap / np.maximum(np.abs(want.astype(gap.dtype)), 1e-12)
        ratios = ratio[wrong & np.isfinite(ratio)]
    element = f"element {list(index)}: " if index else ""
    return Difference(
        where,
        "value",
        element + _digits(want[index]),
        _digits(got[index]),
        f" ({int(wrong.sum())} of {want.size} elements differ)" if want.size > 1 else "",
        float(gaps.max()) if gaps.size else None,
        float(ratios.max()) if ratios.size and want.dtype.kind != "b" else None,
    )


def _digits(value: Any) -> str:
    return str(value) if value.dtype.kind == "b" else f"{value:.6g}"


def _compare_items(want: dict[str, Any], got: dict[str, Any], where: str, notes: list[str]) -> Difference | None:
    keys = want.get("keys")
    if len(want["items"]) != len(got["items"]):
        return Difference(where, "structure", f"{len(want['items'])} items", str(len(got["items"])))
    if keys is not None and keys != got["keys"]:
        return Difference(where, "structure", f"keys {keys}", str(got["keys"]))
    for i, (left, right) in enumerate(zip(want["items"], got["items"])):
        found = compare(left, right, f"{where}[{i if keys is None else keys[i]}]", notes)
        if found is not None:
            return found
    return None


def _compare_scalar(want: dict[str, Any], got: dict[str, Any], where: str) -> Difference | None:
    left, right = want["value"], got["value"]
    if isinstance(left, float):
        return compare_arrays(np.array(left), np.array(right), where, "float32")
    if left == right:
        return None
    gap = abs(left - right) if isinstance(left, (int, complex)) and not isinstance(left, bool) else None
    return Difference(where, "value", str(left), str(right), max_abs=None if gap is None else float(gap))


def _compare_host(want: dict[str, Any], got: dict[str, Any], where: str, notes: list[str]) -> Difference | None:
    left, right = np.asarray(want["value"]), np.asarray(got["value"])
    if (left.dtype.kind in "fc") != (right.dtype.kind in "fc"):
        return Difference(where, "dtype", _name(want), _name(got))
    found = compare_arrays(left, right, where, str(got.get("dtype", "float32")))
    if found is None:
        notes.append(f"type: {_change(want, got)}" + ("" if where == "output" else f" at {where}"))
    return found


def _change(want: dict[str, Any], got: dict[str, Any]) -> str:
    if str(want.get("dtype", "")).lower() == str(got.get("dtype", "")).lower():
        return f"{want['type']} -> {got['type']}"
    return f"{_name(want)} -> {_name(got)}"


def _name(node: dict[str, Any]) -> str:
    return f"{node['type']} of {node['dtype']}" if node["kind"] in ("array", "tensor") else str(node["type"])
