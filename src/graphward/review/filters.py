"""What the list shows: `rule:GW1 consequence:error fix:safe state:open` and words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..rules.finding import Consequence, Finding
from ..source.fixes import Applicability
from .status import Status

if TYPE_CHECKING:
    from .state import Entry

STATES = (*(status.value for status in Status), "new")
HELP = (
    "rule:GW1 or rule:name",
    "consequence:" + " | ".join(c.value for c in Consequence),
    "fix:" + " | ".join(a.value for a in Applicability),
    "state:" + " | ".join(STATES),
    "any other word: in the path, the function, the message or the code",
)


class BadFilter(Exception):
    """`str()` says what cannot be understood."""


@dataclass(frozen=True)
class Filter:
    """Empty fields let everything pass."""

    rule: str = ""
    consequence: str = ""
    fix: str = ""
    state: str = ""
    words: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rule or self.consequence or self.fix or self.state or self.words)

    def __str__(self) -> str:
        named = (f"{name}:{getattr(self, name)}" for name in _FIELDS if getattr(self, name))
        return " ".join((*named, *self.words))

    def passing(self, name: str, entries: Mapping[str, Entry]) -> list[str]:
        """The keys of the entries of one file that the list shows. `name` is its path in small letters."""
        keys = list(entries)
        if self.rule:
            keys = [key for key in keys if self._is_of_rule(entries[key].item.finding)]
        if self.consequence:
            consequence = Consequence(self.consequence)
            keys = [key for key in keys if entries[key].item.finding.consequence is consequence]
        if self.fix:
            fix = Applicability(self.fix)
            keys = [key for key in keys if entries[key].item.applicability is fix]
        if self.state == "new":
            keys = [key for key in keys if entries[key].item.new]
        elif self.state:
            status = Status(self.state)
            keys = [key for key in keys if entries[key].status is status]
        for word in self.words:
            if word not in name:
                keys = [key for key in keys if word in entries[key].item.said]
        return keys

    def _is_of_rule(self, finding: Finding) -> bool:
        return finding.code.startswith(self.rule.upper()) or self.rule in finding.name


_FIELDS = ("rule", "consequence", "fix", "state")
_VALUES = {
    "consequence": tuple(c.value for c in Consequence), "fix": tuple(a.value for a in Applicability), "state": STATES,
}  # fmt: skip


def parse_filter(text: str) -> Filter:
    """Raises BadFilter."""
    named: dict[str, str] = {}
    words = []
    for word in text.split():
        name, colon, value = word.partition(":")
        if not colon or name not in _FIELDS:
            words.append(word.lower())
            continue
        values = _VALUES.get(name)
        if values:
            fitting = [v for v in values if v.startswith(value.lower())]
            if not value or not fitting:
                raise BadFilter(f"{name} is one of {', '.join(values)}")
            value = fitting[0]
        named[name] = value
    return Filter(words=tuple(words), **named)
