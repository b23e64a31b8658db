"""The codemods at hand, shipped or a third party's, all found through the entry-point group `graphward.codemods`."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import entry_points
from types import ModuleType

from ..errors import GraphwardError
from .rule import Rule

GROUP = "graphward.codemods"


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """One instance of each rule, by code. Raises GraphwardError when a package cannot be loaded, two rules share a
    code, or a code is none."""
    found: dict[str, Rule] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name):
        try:
            package = importlib.import_module(entry.value)
            classes = [c for module in _modules(package) for c in _rules_of(module)]
        except Exception as error:  # a third party's code may fail in any way
            raise GraphwardError(
                f"the codemods of {entry.name!r} ({entry.value}) cannot be loaded: {type(error).__name__}: {error}",
                hint="uninstall or mend that package",
            ) from error
        for cls in classes:
            _check(cls)
            other = found.get(cls.code)
            if other is not None and type(other) is not cls:
                names = f"{type(other).__module__} and {cls.__module__}"
                raise GraphwardError(f"two codemods have the code {cls.code}: {names}", hint="renumber one of them")
            found[cls.code] = cls()
    return tuple(found[code] for code in sorted(found))


def rule(code: str) -> Rule:
    """The rule of that code or name. Raises GraphwardError when there is none."""
    for candidate in all_rules():
        if code.upper() == candidate.code or code == candidate.name:
            return candidate
    raise GraphwardError(f"there is no rule {code!r}", hint="`graphward rules` lists them all")


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    yield package
    for info in pkgutil.walk_packages(getattr(package, "__path__", ()), package.__name__ + "."):
        if not any(part.startswith("_") for part in info.name.split(".")[1:]):
            yield importlib.import_module(info.name)


def _rules_of(module: ModuleType) -> Iterator[type[Rule]]:
    for cls in list(vars(module).values()):
        own = isinstance(cls, type) and cls.__module__ == module.__name__
        if own and issubclass(cls, Rule) and "code" in vars(cls):
            yield cls


def _check(cls: type[Rule]) -> None:
    if not re.fullmatch(r"GW[1-9]\d\d", cls.code):
        raise GraphwardError(f"{cls.__module__}.{cls.__name__}: {cls.code!r} is no code", hint="GW and three digits")
