"""What a rule says: a finding, with its consequence, its evidence and its fixes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..source.fixes import Applicability, Fix


class Consequence(Enum):
    """What happens if the code is compiled as it stands."""

    ERROR = "error"
    FALLBACK = "fallback"
    DIVERGENCE = "divergence"
    PERFORMANCE = "performance"
    DEPRECATED = "deprecated"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes `start:end` of the snapshot."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that keeps code from Graph Mode.

    `region` is the qualified name of the graph region that reaches it, `call_path` the functions on the way from
    the region to the place (`module:qualname`, the region first). `evidence` says why the tool believes so.
    """

    code: str
    name: str
    message: str
    consequence: Consequence
    span: Span
    region: str
    call_path: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()

    def fix_within(self, limit: Applicability) -> Fix | None:
        """The preferred fix among those no less trustworthy than `limit`."""
        return next((f for f in self.fixes if f.applicability.rank <= limit.rank), None)
