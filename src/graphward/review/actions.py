"""What can happen to a review: what the user does, and what work in the background reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from ..source.fixes import Fix
from ..source.text import SourceText
from .state import FileReview, Place, Proof, Snapshot


class Scope(Enum):
    """Which findings are accepted together, of those that the list shows."""

    RULE = "rule"
    FILE = "file"
    SAFE = "safe"


@dataclass(frozen=True)
class Accept:
    """Take the shown fix of the selected finding."""


@dataclass(frozen=True)
class AcceptAll:
    """Take the preferred fix of each open finding of the scope; of SAFE, the preferred one that is safe. SAFE with
    `here` means the selected finding and what comes after it in its file."""

    scope: Scope
    here: bool = False


@dataclass(frozen=True)
class Reject:
    """Leave the selected finding as it is, or the whole selected file."""


@dataclass(frozen=True)
class Reopen:
    """Take the decision on the selected finding back."""


@dataclass(frozen=True)
class Suppress:
    """Silence the rule at the selected finding."""


@dataclass(frozen=True)
class TakeText:
    """Take a text that the user has written for the finding at `place`; `source` is what it was written for, None for
    what is known now."""

    place: Place
    fix: Fix
    source: SourceText | None = None


@dataclass(frozen=True)
class ShowNext:
    """Show the next alternative, or the one before."""

    step: int = 1


@dataclass(frozen=True)
class Move:
    """Select another row, that many further down."""

    by: int


@dataclass(frozen=True)
class Select:
    """Select a row."""

    place: Place


@dataclass(frozen=True)
class GoOpen:
    """Select the next open finding, or the one before (-1)."""

    step: int = 1


@dataclass(frozen=True)
class SetFilter:
    """Show what this says."""

    text: str


@dataclass(frozen=True)
class Fold:
    """Hide or show the findings of the selected file."""


@dataclass(frozen=True)
class Undo:
    """Take the last decision back."""


@dataclass(frozen=True)
class Redo:
    """Take it again."""


@dataclass(frozen=True)
class Checked:
    """`file`, as it was when the check began, with what was found in the text that its decisions make."""

    file: FileReview
    fresh: Snapshot


@dataclass(frozen=True)
class Refused:
    """The fix accepted for `key` cannot be applied to `file`; not `alone`: together with the others."""

    file: FileReview
    key: str
    reason: str
    alone: bool = True


@dataclass(frozen=True)
class Reloaded:
    """A file was read again: what it is now (None: it is gone, or no Python any more), and what to tell."""

    place: Place
    file: FileReview | None
    message: str


@dataclass(frozen=True)
class Proven:
    """Verdicts for findings, with the fixes that each was made with."""

    verdicts: Mapping[Place, Proof]
    message: str


@dataclass(frozen=True)
class Say:
    """A message, nothing else."""

    message: str


Action = (
    Accept | AcceptAll | Reject | Reopen | Suppress | TakeText | ShowNext | Move | Select | GoOpen | SetFilter | Fold
    | Undo | Redo | Checked | Refused | Reloaded | Proven | Say
)  # fmt: skip
