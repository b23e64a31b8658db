"""How states and consequences look. Only the terminal's own sixteen colors are used, and nothing is told by color
alone: it has to work on a light background, and with none."""

from __future__ import annotations

from ...rules.finding import Consequence
from ..status import Status

GLYPHS = {
    Status.OPEN: "·", Status.ACCEPTED: "✓", Status.REJECTED: "✗", Status.SUPPRESSED: "∅", Status.WAITING: "…",
    Status.UNNECESSARY: "=",
}  # fmt: skip
STATUS_STYLES = {
    Status.OPEN: "bold", Status.ACCEPTED: "bold green", Status.REJECTED: "red", Status.SUPPRESSED: "magenta",
    Status.WAITING: "yellow", Status.UNNECESSARY: "dim",
}  # fmt: skip
CONSEQUENCE_STYLES = {
    Consequence.ERROR: "bold red", Consequence.FALLBACK: "yellow", Consequence.DIVERGENCE: "bold magenta",
    Consequence.PERFORMANCE: "cyan", Consequence.DEPRECATED: "blue", Consequence.INFO: "dim",
}  # fmt: skip
APPLICABILITY_STYLES = {"safe": "green", "unsafe": "yellow", "manual": "magenta"}
VERDICT_STYLES = {"verified": "bold green", "diverges": "bold magenta", "fails": "bold red", "falls-back": "yellow"}
