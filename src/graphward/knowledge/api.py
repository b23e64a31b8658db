"""What each public function, method, layer and Primitive of MindSpore gives back.

The tables `api_<version>.json` are generated from an installed wheel by `scripts/generate_api_tables.py`, which says
how a row is found. A table maps a rule to the names that follow it, by module; `Result.parse` reads a rule.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import NamedTuple

VERSIONS = ("2.7", "2.10")


class Result(NamedTuple):
    """`form`: "tensor", "tuple" (of `len(dtypes)` Tensors), "tensors" (a tuple of any number), "python" (a Python value
    known while compiling), "number" (a Python number read off a Tensor), "shape", "none". A dtype is MindSpore's
    name, "same" as the first Tensor argument's, "floating" (the same, but float32 for what is no float), "same-float"
    (the same of a float, unknown of anything else), "promoted" from all Tensor arguments, or empty for unknown; `rank`
    is a number, "same", or empty."""

    form: str
    dtypes: tuple[str, ...] = ("",)
    rank: str = ""

    @classmethod
    def parse(cls, rule: str) -> Result:
        """`tensor bool same`, `tuple same,int64 same`, `python int`, `shape`: form, dtypes, rank; `-` for unknown."""
        form, _, rest = rule.partition(" ")
        dtypes, _, rank = rest.partition(" ")
        return cls(form, tuple("" if d == "-" else d for d in dtypes.split(",")), "" if rank == "-" else rank)


@cache
def table(version: str) -> dict[str, Result]:
    """Qualified name to Result: `mindspore.ops.abs`, `mindspore.Tensor.abs`; of a class (`mindspore.nn.LSTM`,
    `mindspore.ops.TopK`) what a call of its instance gives. The nearest version not newer than `version`."""
    wanted = _key(version)
    chosen = max((v for v in VERSIONS if _key(v) <= wanted), key=_key, default=VERSIONS[0])
    text = resources.files(__package__).joinpath(f"api_{chosen}.json").read_text(encoding="utf-8")
    found: dict[str, Result] = {}
    for module, rules in json.loads(text)["results"].items():
        for rule, names in rules.items():
            result = Result.parse(rule)
            for name in names.split():
                found[f"{module}.{name}"] = result
    return found


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
