"""What the compiler said, what was predicted, and whether the two agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

HARD = ("error", "fallback", "divergence")
QUIET = "none"
# The consequences that a prediction may name for each verdict.
RIGHT = {
    "accepts": {QUIET},
    "falls-back": {"fallback"},
    "rejects": {"error"},
    "diverges": {"divergence"},
    "falls-back-and-diverges": {"divergence", "fallback"},
}
TARGETS = {"flagged": 0.95, "right consequence": 0.90, "left alone": 0.97}
REAL_TARGETS = {"recall": 0.90, "precision": 0.90}


@dataclass(frozen=True)
class Row:
    """One Cell: the compiler's verdict with its message, and the predicted consequences with their rules' codes."""

    name: str
    verdict: str
    message: str
    predicted: frozenset[str]
    codes: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        return bool(self.predicted & RIGHT[self.verdict])

    @property
    def flagged(self) -> bool:
        return QUIET not in self.predicted

    @property
    def column(self) -> str:
        """The predicted consequence that counts: a right one where there is one, else the worst."""
        right = self.predicted & RIGHT[self.verdict]
        return next(c for c in (*HARD, QUIET) if c in (right or self.predicted))


def row(name: str, verdict: str, message: str, found: Iterable[tuple[str, str]]) -> Row:
    """A Row from `(consequence, code)` pairs; performance, deprecation and info say nothing about the verdict."""
    hard = [(consequence, code) for consequence, code in found if consequence in HARD]
    predicted = frozenset(consequence for consequence, _ in hard) or frozenset({QUIET})
    return Row(name, verdict, message, predicted, tuple(sorted({code for _, code in hard})))


@dataclass(frozen=True)
class Score:
    """Counts behind the figures."""

    rejected: int
    flagged: int
    right: int
    accepted: int
    left_alone: int

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Score:
        rows = list(rows)
        bad = [r for r in rows if r.verdict != "accepts"]
        good = [r for r in rows if r.verdict == "accepts"]
        return cls(len(bad), sum(r.flagged for r in bad), sum(r.agrees for r in bad), len(good),
                   sum(not r.flagged for r in good))  # fmt: skip

    @property
    def figures(self) -> dict[str, float]:
        """Shares between 0 and 1; 1 where there was nothing to get wrong. Recall: of what the compiler does not take
        as it is, the share that is predicted to end the way it does. Precision: of what is flagged, the share that the
        compiler does not take as it is."""
        alarms = self.flagged + self.accepted - self.left_alone
        return {
            "flagged": _share(self.flagged, self.rejected),
            "right consequence": _share(self.right, self.rejected),
            "left alone": _share(self.left_alone, self.accepted),
            "recall": _share(self.right, self.rejected),
            "precision": _share(self.flagged, alarms),
        }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def matrix(rows: Iterable[Row]) -> str:
    """The confusion matrix: verdicts down, predictions across."""
    counts = Counter((r.verdict, r.column) for r in rows)
    lines = [f"{'compiler':26}" + "".join(f"{c:>12}" for c in (*HARD, QUIET))]
    for verdict in RIGHT:
        lines.append(f"{verdict:26}" + "".join(f"{counts[verdict, c]:12}" for c in (*HARD, QUIET)))
    return "\n".join(lines)
