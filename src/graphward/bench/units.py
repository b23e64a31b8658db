"""What a split into compile units does: first compile, a new head, another shape, a rerun with the compile cache."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .process import measure
from .split import Versions

Progress = Callable[[int, int, str], None]
ROWS = {
    "first": "first call, compiled", "head": "a new head in the live process", "batch": "first call with another batch",
    "head_batch": "another batch for the head only", "step": "step", "memory": "peak memory, MB",
    "cold": "rerun, no cache", "warm": "rerun, compile cache", "edited": "rerun after an edit, compile cache",
}  # fmt: skip
_CACHE = ("cold", "warm", "edited")


@dataclass
class Figures:
    """Medians in seconds (memory in MB) of one version, by row; `compiled` the graphs of a row and `cpu` its CPU
    seconds; `stale` whether a new head changed nothing in a graph; `error` why there are no figures."""

    medians: dict[str, float] = field(default_factory=dict)
    compiled: dict[str, int] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)
    stale: bool = False
    error: str = ""


@dataclass
class Comparison:
    """`forward` and `gradient`: the two versions, each before and after."""

    forward: dict[str, Figures]
    gradient: dict[str, Figures]


class Bench:
    """Measures `versions` of a target, `runs` times each."""

    def __init__(
        self, file: str, expr: str, inputs: list[str], versions: Versions, head: str, *, python: str | None, runs: int,
        timeout: float, progress: Progress | None = None,
    ):  # fmt: skip
        self.trees = {"before": versions.before} | ({"after": versions.after} if versions.after else {})
        self.request = {"file": file, "expr": expr, "inputs": inputs, "head": head}
        self.edited = versions.files
        self.python, self.runs, self.timeout = python, runs, timeout
        self.progress = progress
        self.done = 0

    def run(self, *, cache: bool) -> Comparison:
        """All of it; with `cache`, the reruns too."""
        self.total = 2 * self.runs * len(self.trees) + (3 * self.runs * len(self.trees) if cache else 0)
        found = [self._mode(gradient) for gradient in (False, True)]
        if cache:
            for version, tree in self.trees.items():
                self._reruns(tree, found[0][version])
        return Comparison(*found)

    def _mode(self, gradient: bool) -> dict[str, Figures]:
        results: dict[str, list[dict[str, Any]]] = {version: [] for version in self.trees}
        for _ in range(self.runs):
            for version, tree in self.trees.items():  # in turn, so that a busy machine slows both alike
                self._step(f"{version}, {'with gradient' if gradient else 'forward'}")
                results[version].append(self._measure(tree, gradient=gradient, more=True))
        return {version: _figures(found) for version, found in results.items()}

    def _measure(self, tree: Path, *, gradient: bool, more: bool, cache: Path | None = None) -> dict[str, Any]:
        environment = {"MS_COMPILER_CACHE_ENABLE": "1", "MS_COMPILER_CACHE_PATH": str(cache)} if cache else None
        request = {**self.request, "tree": str(tree), "gradient": gradient, "more": more}
        return measure(request, self.python, self.timeout, environment)

    def _reruns(self, tree: Path, figures: Figures) -> None:
        """Without the cache, with it, and with it after a line was added to the file of a unit."""
        found: dict[str, list[float]] = {row: [] for row in _CACHE}
        file = tree / (self.edited[0] if self.edited else self.request["file"])  # type: ignore[operator]
        for run in range(self.runs):
            cache = tree.parent / f"cache-{tree.name}-{run}"
            for row in ("cold", "warm", "edited"):
                self._step(f"{tree.name}, {ROWS[row]}")
                if row == "edited":
                    with file.open("ab") as text:
                        text.write(b"\n# edited\n")
                if row == "warm":
                    self._measure(tree, gradient=False, more=False, cache=cache)
                kept = None if row == "cold" else cache
                result = self._measure(tree, gradient=False, more=False, cache=kept)
                if "error" not in result:
                    found[row].append(result["first"])
        figures.medians |= {row: statistics.median(times) for row, times in found.items() if times}

    def _step(self, label: str) -> None:
        if self.progress:
            self.progress(self.done, self.total, label)
        self.done += 1


def _figures(results: list[dict[str, Any]]) -> Figures:
    good = [r for r in results if "error" not in r]
    if not good:
        return Figures(error=results[0]["error"])
    medians = {row: statistics.median(r[row] for r in good) for row in ROWS if row in good[0]}
    cpu = {row: statistics.median(r["cpu"][row] for r in good) for row in good[0]["cpu"]}
    return Figures(medians, good[0]["compiled"], cpu, bool(good[0].get("stale")))
