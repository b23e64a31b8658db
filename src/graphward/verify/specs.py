"""Input specs as a user types them, checked before any worker starts."""

from __future__ import annotations

from collections.abc import Iterable

from graphward.errors import GraphwardError
from graphward_worker.specs import Input, SpecError, parse_input

_FORMS = (
    "f32[2,3,32,32], i64[2,16]<30522 (values below 30522), bool[2], f32[] (a scalar), a Python literal, or (f32[2], 3)"
)


def check_specs(texts: Iterable[str]) -> list[str]:
    """The specs in canonical form. Raises GraphwardError that names the spec, the character and what is allowed."""
    return [str(_parse(text)) for text in texts]


def _parse(text: str) -> Input:
    try:
        return parse_input(text)
    except SpecError as error:
        pointer = " " * error.position + "^"
        hint = f"{text}\n  {pointer}\n  An input is {_FORMS}"
        message = f"input spec {text!r}: {error.found} at character {error.position + 1}; expected {error.allowed}"
        raise GraphwardError(message, hint=hint) from None
