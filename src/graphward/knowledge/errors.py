"""The registry of MindSpore's errors: what a message means, and which codemods mend what it points at."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FAMILIES = {
    "ME1": "syntax that the compiler does not read", "ME2": "names, calls and source text",
    "ME3": "Python and NumPy on values of the graph", "ME4": "branches, loops and conditions",
    "ME5": "lists, tuples, dicts and indices", "ME6": "Cells, Parameters, state and gradients",
    "ME7": "operators, shapes and dtypes", "ME8": "run setup, export, versions and devices",
    "ME9": "messages that are quoted and never raised",
}  # fmt: skip
_FILES = (
    "errors_syntax", "errors_names", "errors_host", "errors_control", "errors_containers", "errors_cells",
    "errors_operators", "errors_setup", "errors_folklore",
)  # fmt: skip
ELSEWHERE = (
    "old-version", "newer-python", "no-way-found", "other-device", "many-processes", "other-environment",
    "no-exception",
)  # fmt: skip
"""Why no script in `fixtures/errors` raises an error: only older versions do; it takes syntax that not every Python
has; the words are MindSpore's, but nothing that was tried on the CPU raises it; it takes another device, several
processes, or an environment without MindSpore or with another NumPy; the process ends without an exception."""
STAGES = ("compile", "strict", "pynative", "run", "export", "setup", "never")
"""When MindSpore raises it: compiling, compiling without the interpreter's help (`fullgraph=True`, jit_syntax_level
STRICT, export), in PyNative, in a running graph, exporting, setting up, or never."""


@dataclass(frozen=True)
class ErrorEntry:
    """One error. `id` is stable for ever.

    `pattern` is searched for in the text of an exception; its named groups fill the braces of `title`, `construct`,
    `cause` and `cure`. `message` is a real message. `rules` are codes, or beginnings of codes, of what mends the place
    that the error names, the likeliest first; `also` are more that the repair loop tries there. `general` entries are
    tried after all others. `versions` are those of MindSpore that raise it, `>=2.0` or `>=1.6,<2.0`; `command` is what
    to run where no codemod helps; `nearest` are the ids of what is meant by a message that nobody raises. `hints` are
    pairs of a rule's code and a pattern: where some match the line that the error names, these rules are told alone.
    `elsewhere`, one of ELSEWHERE, says why the error has no script in `fixtures/errors`.
    """

    id: str
    name: str
    title: str
    pattern: re.Pattern[str]
    message: str
    raised: tuple[str, ...]
    versions: str
    cause: str
    cure: str
    construct: str = ""
    rules: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    command: str = ""
    nearest: tuple[str, ...] = ()
    general: bool = False
    hints: tuple[tuple[str, str], ...] = ()
    elsewhere: str = ""

    def rules_for(self, code: str) -> tuple[str, ...]:
        """What mends that line of code; all of `rules` where the line is unknown or says nothing."""
        told = tuple(rule for rule, pattern in self.hints if re.search(pattern, code))
        return told or self.rules

    @property
    def repairs(self) -> tuple[str, ...]:
        """Codes, or beginnings of codes, of all that may mend the place that the error names."""
        return (*self.rules, *(code for code in self.also if code not in self.rules))

    def covers(self, code: str) -> bool:
        """Whether a rule's code is one of `repairs`."""
        return code.startswith(self.repairs)

    @property
    def family(self) -> str:
        return FAMILIES[self.id[:3]]


@lru_cache(maxsize=1)
def registry() -> tuple[ErrorEntry, ...]:
    """All entries, in the order in which they are tried: the general ones last."""
    entries = [_entry(data) for name in _FILES for data in _load(name)]
    return tuple(sorted(entries, key=lambda entry: entry.general))


def entry(id: str) -> ErrorEntry | None:
    """The entry of that id or name, if there is one."""
    return next((e for e in registry() if e.id == id.upper() or e.name == id), None)


def entry_for(text: str) -> ErrorEntry | None:
    """The first entry that an exception's text matches."""
    return next((entry for entry in registry() if entry.pattern.search(text)), None)


def _load(name: str) -> list[dict[str, Any]]:
    text = files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["error"]


def _entry(data: dict[str, Any]) -> ErrorEntry:
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
    fields["pattern"] = re.compile(fields["pattern"])
    fields["hints"] = tuple((rule, pattern) for rule, pattern in fields.get("hints", ()))
    return ErrorEntry(**fields)
