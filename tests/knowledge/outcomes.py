"""How two values or calls compare, as text; used by the measuring script and by the test that reads its results."""

from __future__ import annotations

from collections.abc import Iterable

AGAINST = ("crashes", "differs", "rejects", "no-kernel", "numpy-rejects")


def worst(outcomes: Iterable[str]) -> str:
    """The outcome that says most against a rewrite; "same" when all are."""
    found = set(outcomes) - {"same"}
    for outcome in AGAINST:
        if outcome in found:
            return outcome
    return min(found, default="same")
