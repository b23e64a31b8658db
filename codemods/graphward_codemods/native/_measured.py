"""What was measured of each operator: `measured.json`, the shortest times of three runs of `graphward bench --ops`.

A replacement is offered only where this table shows that it pays.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from math import prod
from typing import Any

from ._forms import Found

# The mean of the four gains in time, forward and with gradient at the medium and large size, from which on it pays; and
# what is still taken for noise where one of them is a loss. The gradient at the medium size may lose: waking threads
# costs a matrix product of a few thousand numbers some milliseconds there.
_GAIN = 1.15
_WORST = 0.9
_SIZES = ("medium", "large")
_PASSES = ("forward", "gradient")


@cache
def _table() -> dict[str, Any]:
    text = resources.files(__package__).joinpath("measured.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


OFFERED = frozenset(
    {"cross_entropy", "silu", "log_softmax", "softmax", "sigmoid", "mse_loss", "relu", "leaky_relu", "dense", "matmul"}
)
"""The operators, by their names in `FORMS`, of which the table shows a spelling that pays; a test holds it."""


def is_faster(found: Found) -> bool:
    """Whether the native operator is faster than this spelling of it in Graph Mode."""
    return _pays(found.operator, found.form)


@cache
def _pays(operator: str, form: str) -> bool:
    rows = {row["size"]: _ratio(row) for row in _rows(operator, form)}
    gains = {(size, which): rows[size](which) for size in _SIZES if size in rows for which in _PASSES}
    known = {key: gain for key, gain in gains.items() if gain is not None}
    if len(known) != len(_SIZES) * len(_PASSES):
        return False
    worst = min(gain for key, gain in known.items() if key != ("medium", "gradient"))
    return worst >= _WORST and prod(known.values()) ** (1 / len(known)) >= _GAIN


def _rows(operator: str, form: str = "") -> list[dict[str, Any]]:
    return [r for r in _table()["rows"] if r["name"] == operator and form in ("", r["form"])]


def _ratio(row: dict[str, Any]) -> Any:
    """The time of the hand-written form in that of the native one, by pass; None where it was not measured."""

    def of(which: str) -> float | None:
        times = row.get(which)
        return times["hand"]["min"] / times["native"]["min"] if times else None

    return of


def speedup(found: Found) -> str:
    """`1.8 to 4.3 times as fast in Graph Mode on CPU`, at the larger sizes measured."""
    rows = [row for row in _rows(found.operator, found.form) if row["size"] in _SIZES]
    ratios = [ratio for row in rows for ratio in map(_ratio(row), _PASSES)]
    known = [r for r in ratios if r]
    if not known:
        return "not measured"
    return f"{min(known):.1f} to {max(known):.1f} times as fast in Graph Mode on CPU"


def quoted(*operators: str) -> str:
    """The rows of some operators as lines of a page: milliseconds of a call, forward and with gradient."""
    about = _table()
    lines = [
        f"    MindSpore {about['mindspore']}, CPU, {about['cores']} cores; milliseconds, forward / with gradient",
        f"    {'by hand':44} {'inputs':22} {'PyNative':>15} {'graph, by hand':>15} {'graph, native':>15}",
    ]
    for operator in operators:
        for row in _rows(operator):
            if row["size"] in _SIZES:
                shapes = " ".join("x".join(map(str, shape)) for shape in row.get("shapes", ())[:2])
                cells = [_milliseconds(row, form) for form in ("pynative", "hand", "native")]
                lines.append(f"    {row['form']:44} {shapes:22} " + " ".join(f"{cell:>15}" for cell in cells))
    return "\n".join(lines)


def _milliseconds(row: dict[str, Any], form: str) -> str:
    texts = []
    for which in _PASSES:
        times = row.get(which)
        texts.append(f"{times[form]['min'] * 1000:.2f}" if times else "-")
    return " / ".join(texts)
