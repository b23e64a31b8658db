"""How the screens look: snapshots, few, of what the real program draws."""

from __future__ import annotations

from typing import Any

import pytest

from graphward.review.screen.app import ReviewApp

from .conftest import Begin

pytest.importorskip("pytest_textual_snapshot")


async def at_rest(pilot: Any) -> None:
    """Wait until nothing is checked in the background any more."""
    app: ReviewApp = pilot.app
    await pilot.pause()
    for _ in range(400):
        if not app.busy:
            break
        await pilot.pause(0.05)
    await pilot.pause()


@pytest.mark.parametrize(
    ("size", "keys"),
    [
        pytest.param((80, 24), "", id="start"),
        pytest.param((160, 40), "ynj", id="wide-with-decisions"),
        pytest.param((80, 24), "?", id="help"),
    ],
)
def test_screen(snap_compare: Any, begin: Begin, size: tuple[int, int], keys: str):
    async def press(pilot: Any) -> None:
        await at_rest(pilot)
        await pilot.press(*("question_mark" if key == "?" else key for key in keys))
        await at_rest(pilot)

    app = ReviewApp(begin(), lambda written: None)
    assert snap_compare(app, terminal_size=size, run_before=press)
