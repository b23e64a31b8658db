"""A fix: edits, the imports that they need, and how far it can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .edits import Edit


class Applicability(Enum):
    """How far a fix can be applied without a look.

    SAFE: same meaning, comments kept. UNSAFE: results or behaviour may change, and the reason says how.
    MANUAL: shown, never applied.
    """

    SAFE = "safe"
    UNSAFE = "unsafe"
    MANUAL = "manual"

    @property
    def rank(self) -> int:
        return ("safe", "unsafe", "manual").index(self.value)


@dataclass(frozen=True, slots=True, order=True)
class ImportRequest:
    """`import module as alias` (name empty) or `from module import name as alias`; `alias` is the bound name."""

    module: str
    name: str
    alias: str


@dataclass(frozen=True, slots=True)
class Fix:
    """One way to mend a finding.

    `edits` are byte spans over the snapshot on which the finding was made. `imports` are added by the import
    editor. `reason` is mandatory unless the fix is safe. `restores_gradient` declares that the original cuts the
    gradient (a NumPy round trip has none) and the rewrite has one; `compile_units` that what was one graph is plain
    Python afterwards, which calls several.
    """

    title: str
    edits: tuple[Edit, ...]
    applicability: Applicability
    reason: str = ""
    imports: tuple[ImportRequest, ...] = ()
    restores_gradient: bool = False
    compile_units: bool = False

    def __post_init__(self) -> None:
        if not self.title:
            raise ValueError("a fix needs a title")
        if self.applicability is not Applicability.SAFE and not self.reason:
            raise ValueError(f"fix {self.title!r} is {self.applicability.value}: it must say why")
        if not self.edits and self.applicability is not Applicability.MANUAL:
            raise ValueError(f"fix {self.title!r} has no edits")
