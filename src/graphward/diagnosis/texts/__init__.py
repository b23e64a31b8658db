"""What `explain` says, in each language: `en.toml` holds the sentences, every other file their translations and those
of the registry's entries and of the rules' summaries. A language is a file here."""

from __future__ import annotations

import locale
import os
import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from ...knowledge.errors import ErrorEntry

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LANGUAGES = ("en", "zh")
_BRACES = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Texts:
    """The sentences of one language."""

    language: str

    def say(self, key: str, **values: object) -> str:
        """A sentence with its braces filled."""
        return _filled(_load(self.language)["messages"][key], {name: str(value) for name, value in values.items()})

    def of(self, entry: ErrorEntry, field: str, groups: dict[str, str | None] | None = None) -> str:
        """`title`, `construct`, `cause` or `cure` of an entry, filled with what its pattern found in a message."""
        own = getattr(entry, field)
        translated = _load(self.language).get("entries", {}).get(entry.id, {}) if self.language != "en" else {}
        return _filled(translated.get(field, own), groups or {})

    def of_rule(self, code: str, summary: str) -> str:
        """A rule's summary, translated where that was done."""
        return _load(self.language).get("rules", {}).get(code, summary)

    def of_its_message(self, entry: ErrorEntry, field: str) -> str:
        """The same, filled with what the pattern finds in the entry's own message."""
        match = entry.pattern.search(entry.message)
        return self.of(entry, field, match.groupdict() if match else None)


def texts(language: str = "en") -> Texts:
    """The sentences of `en` or `zh`; of English for a language that has none."""
    return Texts(language if language in LANGUAGES else "en")


def language_of_the_locale() -> str:
    """The language that the user's environment asks for, if there is a translation; else English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            break
    else:
        # Windows has no such variables; its own setting is found another way.
        value = (locale.getlocale()[0] or "") if sys.platform == "win32" else ""
    start = value.lower()
    return "zh" if start.startswith(("zh", "chinese")) else "en"


@lru_cache(maxsize=len(LANGUAGES))
def _load(language: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(f"{language}.toml").read_text(encoding="utf-8"))


def _filled(text: str, values: dict[str, str | None]) -> str:
    # Not str.format: code in a text may hold braces of its own.
    return _BRACES.sub(lambda m: (values[m[1]] or "...") if m[1] in values else m[0], text)
