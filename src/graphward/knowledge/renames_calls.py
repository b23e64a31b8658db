"""How to write calls of deprecated names in the form of their successors, and why that cannot be done for the rest.

`renames_calls.toml` holds the forms, measured by `tests/knowledge/test_renames_calls.py`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Parameter:
    """`default` is its text; None where the argument has to be given."""

    name: str
    default: str | None
    keyword_only: bool


@dataclass(frozen=True)
class CallForm:
    """See `renames_calls.toml`. `made` is None for a function, whose calls are written as they stand."""

    made: tuple[Parameter, ...] | None
    takes: tuple[Parameter, ...]
    gives: str
    reason: str = ""
    only: Mapping[str, str] = field(default_factory=dict)
    never: Mapping[str, str] = field(default_factory=dict)


@cache
def call_forms() -> dict[str, CallForm]:
    """By public name."""
    found = {}
    for name, entry in _written()["calls"].items():
        made = _parameters(entry.pop("made")) if "made" in entry else None
        found[name] = CallForm(made, _parameters(entry.pop("takes")), **entry)
    return found


@cache
def advice(public: str) -> str:
    """Why nothing takes the call of a deprecated name, and what to do; empty where that is not known."""
    parts = public.split(".")
    return next((said for n in (3, 2, 1) if (said := _advice().get(".".join(parts[-n:])))), "")


@cache
def _advice() -> dict[str, str]:
    return {name: entry["says"] for entry in _written()["advice"] for name in entry["names"]}


def _written() -> dict[str, Any]:
    text = resources.files(__package__).joinpath("renames_calls.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _parameters(text: str) -> tuple[Parameter, ...]:
    """The parameters of a signature as it is written in Python."""
    parsed = ast.parse(f"def f({text}): pass").body[0]
    assert isinstance(parsed, ast.FunctionDef)
    given = parsed.args
    free: list[ast.expr | None] = [None] * (len(given.args) - len(given.defaults))
    found = [*zip(given.args, [*free, *given.defaults]), *zip(given.kwonlyargs, given.kw_defaults)]
    return tuple(
        Parameter(argument.arg, None if default is None else ast.unparse(default), argument in given.kwonlyargs)
        for argument, default in found
    )
