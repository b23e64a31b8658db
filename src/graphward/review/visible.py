"""Code under review can hold anything; a terminal must not obey it."""

from __future__ import annotations

_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), *range(127, 160))} | {13: ""}
_BACKWARD = {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


def visible(text: str) -> str:
    """The text with control characters, and those that turn the direction of writing, spelled out."""
    return text.translate(_VISIBLE | _BACKWARD)
