"""What other versions of MindSpore do with what a rule is about: the table in behaviours.toml, as objects."""

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
class Behaviour:
    """Where the code of a rule behaves otherwise than on MindSpore 2.10. `versions` as in a rule's `targets`
    (`>=2.7.2,<2.8`); `says` is Markdown, whole sentences."""

    code: str
    versions: str
    says: str


@cache
def behaviours(code: str | None = None) -> tuple[Behaviour, ...]:
    """Those of one rule, or all."""
    text = resources.files(__package__).joinpath("behaviours.toml").read_text(encoding="utf-8")
    found = (Behaviour(**data) for data in tomllib.loads(text)["behaviour"])
    return tuple(b for b in found if code is None or b.code == code)
