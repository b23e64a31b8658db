"""Calls of Tensor methods that PyNative and Graph Mode take differently (`tensor_methods.toml`)."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from importlib import resources

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class MethodCall:
    """A row of the table; see its head for the fields."""

    method: str
    arguments: int
    template: str
    consequence: str
    why: str
    first: str = ""
    from_rank: int = 0
    pair: bool = False


@cache
def method_calls() -> dict[tuple[str, int], MethodCall]:
    """The rows by method and number of positional arguments."""
    source = resources.files(__package__).joinpath("tensor_methods.toml").read_text(encoding="utf-8")
    rows = [MethodCall(**row) for row in tomllib.loads(source)["call"]]
    return {(row.method, row.arguments): row for row in rows}
