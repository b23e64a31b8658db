"""`graphward undo`: take the last write of a review or a layout back."""

from __future__ import annotations

from ..config import load_config
from ..review.journal import Journal
from ..source.paths import display
from .console import out
from .options import Paths, chosen


def undo(paths: Paths = None) -> None:
    """Restore the files that the last write of `graphward review` or `graphward layout` in this project changed, made
    or removed, from Graphward's own journal: no git is needed. Again takes the write before that back.

    Files that were changed since are left alone, and then none is restored. Exit status: 0 restored, 2 nothing to
    restore.

    Examples:

      graphward undo

      graphward undo ../other/project
    """
    restored = Journal(load_config(chosen(paths)[0]).root).undo()
    for path in restored:
        out.print(f"restored {display(path)}", markup=False)
