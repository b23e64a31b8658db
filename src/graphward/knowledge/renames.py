"""Which names each version of MindSpore has, and what to write for those that it no longer has.

`renames_<version>.json` is what an installed wheel tells of itself (`scripts/generate_renames.py`); `renames.toml` is
what it does not tell: successors, measured by `tests/knowledge/test_renames.py`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from typing import Any

from .names import canonical

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VERSIONS = ("2.7", "2.10")
ANYTHING = "*"


@dataclass(frozen=True)
class Successor:
    """What to write for a name. `new` is a qualified name, empty where nothing takes the same call; `reason` says why a
    plain exchange is unsafe; `advice` what a person has to do; `deprecated` since when it warns. Of a module:
    `renamed`, the names that are others in the new one, and `added`, the argument that a class has to be given
    there."""

    new: str = ""
    reason: str = ""
    advice: str = ""
    deprecated: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)
    added: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Deprecation:
    """A name that still works: since when it is deprecated, what the wheel advises, and its public spelling."""

    since: str
    instead: str
    public: str


class Table:
    """What one wheel exports and deprecates."""

    def __init__(self, version: str):
        text = resources.files(__package__).joinpath(f"renames_{version}.json").read_text(encoding="utf-8")
        self._data: dict[str, Any] = json.loads(text)
        self._modules: dict[str, str] = self._data["modules"]
        self._exports: dict[str, frozenset[str]] = {}

    def is_module(self, name: str) -> bool:
        return name in self._modules

    def exports(self, module: str) -> frozenset[str]:
        """The public names of a module; `*` among them when the wheel could not import it."""
        if module not in self._exports:
            self._exports[module] = frozenset(self._modules.get(module, "").split())
        return self._exports[module]

    def missing(self, qualified: str) -> str | None:
        """The shortest part of `mindspore.a.b.c` that this version lacks; None when it has all of it, or nobody knows:
        private names, attributes of classes."""
        parts = qualified.split(".")
        holder = parts[0]
        for part in parts[1:]:
            here = f"{holder}.{part}"
            if part.startswith("_"):
                return None
            if here in self._modules:
                holder = here
                continue
            names = self.exports(holder)
            return None if part in names or ANYTHING in names else here
        return None

    @cached_property
    def deprecated(self) -> dict[str, Deprecation]:
        """By the canonical spelling of each path that leads to it."""
        found = {}
        for name, mark in self._data["deprecated"].items():
            public = canonical(mark.get("public", name))
            found[canonical(name)] = Deprecation(mark["since"], mark["instead"], public)
        return found

    @cached_property
    def context(self) -> dict[str, tuple[str, str]]:
        """Key of `set_context` to ("ok", "deprecated" or "removed", what the wheel advises)."""
        found = {}
        for key, said in self._data["context"].items():
            status, _, advice = said.partition(": ")
            found[key] = (status.rstrip(":"), advice)
        return found

    def keywords(self, module: str, name: str) -> tuple[str, ...] | None:
        """The parameters of a callable; None where they are not known, or it takes any."""
        written = self._data["keywords"].get(module, {}).get(name)
        return None if written is None else tuple(written.split())


@dataclass(frozen=True)
class Version:
    """The tables on both sides of a version: what neither of them has, it has not."""

    number: tuple[int, ...]
    below: Table
    above: Table

    def missing(self, qualified: str) -> str | None:
        found = self.below.missing(qualified)
        return found if found is not None and self.above.missing(qualified) == found else None

    def has(self, qualified: str) -> bool:
        """Whether both tables have the name."""
        return self.below.missing(qualified) is None and self.above.missing(qualified) is None

    def deprecation(self, name: str) -> Deprecation | None:
        """What is deprecated at this version, by public name."""
        for table in (self.below, self.above):
            found = table.deprecated.get(name)
            if found is not None and numbers(found.since) <= self.number:
                return found
        written = successors().get(name)
        if written is not None and written.deprecated and self.below.missing(name) is None:
            return Deprecation(written.deprecated, written.new, name)
        return None

    def is_module(self, name: str) -> bool:
        """Whether either table has a module of that name."""
        return self.below.is_module(name) or self.above.is_module(name)

    def context_key(self, key: str) -> tuple[str, str]:
        """See `Table.context`; the milder of the two tables. A key that the tables do not know is "ok"."""
        found = [table.context.get(key, ("ok", "")) for table in (self.below, self.above)]
        return min(found, key=lambda f: ("ok", "deprecated", "removed").index(f[0]))

    def unknown_keyword(self, module: str, name: str, keyword: str) -> bool:
        """Whether both tables know the parameters of a callable, and neither has this one."""
        both = [table.keywords(module, name) for table in (self.below, self.above)]
        return all(known is not None and keyword not in known for known in both)

    def takes(self, module: str, name: str, keyword: str) -> bool:
        """Whether both tables know that a callable has this parameter."""
        return all(keyword in (table.keywords(module, name) or ()) for table in (self.below, self.above))


@cache
def version(target: str) -> Version:
    """The tables for a version of MindSpore; the nearest one where it lies outside all."""
    number = numbers(target)[:2]
    below = max((v for v in VERSIONS if numbers(v) <= number), key=numbers, default=VERSIONS[0])
    above = min((v for v in VERSIONS if numbers(v) >= number), key=numbers, default=VERSIONS[-1])
    return Version(number, _table(below), _table(above))


@cache
def _table(name: str) -> Table:
    return Table(name)


@cache
def successors() -> dict[str, Successor]:
    """By public name, or by the name of a module that has gone."""
    return {old: Successor(**entry) for old, entry in _written()["names"].items()}


@cache
def keyword_changes(name: str) -> dict[str, Successor]:
    """Keyword to what took its place (`new` is a keyword here), for the callable of that public name."""
    written = _written()["keywords"]
    found = {**written.get(f"{name.rpartition('.')[0]}.*", {}), **written.get(name, {})}
    return {keyword: Successor(**entry) for keyword, entry in found.items()}


@cache
def _written() -> dict[str, Any]:
    text = resources.files(__package__).joinpath("renames.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def numbers(text: str) -> tuple[int, ...]:
    """`2.10.0` as numbers that can be compared, the patch release left out."""
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())
