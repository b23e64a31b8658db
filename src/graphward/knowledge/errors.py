"""The registry of MindSpore's compile errors: what a message means and which codemods mend it."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class ErrorEntry:
    """`id` is stable; `pattern` is searched for in the text of an exception; `rules` are codes, or beginnings of codes,
    of what can mend the place that the error names."""

    id: str
    pattern: re.Pattern[str]
    cause: str
    rules: tuple[str, ...]

    def covers(self, code: str) -> bool:
        """Whether a rule's code is one of `rules`."""
        return code.startswith(self.rules)


@lru_cache(maxsize=1)
def registry() -> tuple[ErrorEntry, ...]:
    """All entries, in the order in which they are tried."""
    text = files(__package__).joinpath("errors.toml").read_text(encoding="utf-8")
    return tuple(
        ErrorEntry(entry["id"], re.compile(entry["pattern"]), entry["cause"], tuple(entry["rules"]))
        for entry in tomllib.loads(text)["error"]
    )


def entry_for(text: str) -> ErrorEntry | None:
    """The first entry that an exception's text matches."""
    return next((entry for entry in registry() if entry.pattern.search(text)), None)
