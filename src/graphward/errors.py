"""The one error that a user meets: what is wrong, where, and the way out."""

from __future__ import annotations

from pathlib import Path


class GraphwardError(Exception):
    """Bad input or an impossible request; the command line turns it into exit status 2.

    `message` says what is wrong in one sentence, `hint` the way out. `path` and `line` (1-based) name the
    place where there is one.
    """

    def __init__(self, message: str, *, hint: str = "", path: Path | str | None = None, line: int | None = None):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.path = None if path is None else Path(path)
        self.line = line

    def __str__(self) -> str:
        place = "" if self.path is None else f"{self.path}:{self.line}: " if self.line else f"{self.path}: "
        return f"{place}{self.message}" + (f"\n  {self.hint}" if self.hint else "")

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default pickling of a process pool.
        return _rebuild, (self.message, self.hint, self.path, self.line)


def _rebuild(message: str, hint: str, path: Path | None, line: int | None) -> GraphwardError:
    return GraphwardError(message, hint=hint, path=path, line=line)
