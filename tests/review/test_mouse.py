"""The mouse, through Textual's pilot: the footer, the list, its bar, the diff, the windows; and windows of any size."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from graphward.review.status import Status

from .conftest import NET, Begin

pytest.importorskip("textual")

from textual.events import MouseScrollDown, MouseScrollUp

from graphward.review.screen.app import ReviewApp
from graphward.review.screen.footer import Keys
from graphward.review.screen.keys import KEYS
from graphward.review.screen.listing import Listing

Test = Callable[[Any, ReviewApp], Awaitable[None]]


def drive(begin: Begin, test: Test, size: tuple[int, int] = (80, 24)) -> None:
    """Run the application without a terminal, and `test` with a pilot for it."""

    async def run() -> None:
        app = ReviewApp(begin(), lambda written: None)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await test(pilot, app)
            while app.is_running and app.busy:  # a check that goes on would report to nobody
                await pilot.pause(0.05)

    asyncio.run(run())


def screen(app: ReviewApp, where: str) -> str:
    """What a part of the screen shows."""
    widget = app.query_one(where)
    return "\n".join(widget.render_line(y).text.rstrip() for y in range(widget.size.height))


def place_of_key(app: ReviewApp, name: str) -> tuple[int, int]:
    """Where a key stands in the footer."""
    key = next(key for key in KEYS if key.shown == name)
    lines = screen(app, "Keys").splitlines()
    text = f"{key.shown} {key.label}"
    return next((line.index(text), y) for y, line in enumerate(lines) if text in line)


async def click(pilot: Any, app: ReviewApp, name: str) -> None:
    assert await pilot.click(Keys, offset=place_of_key(app, name))
    await pilot.pause()


def test_all_of_the_footer_can_be_clicked(begin: Begin):
    async def test(pilot: Any, app: ReviewApp) -> None:
        called = []
        for key in KEYS:
            setattr(app, f"action_{key.action}", lambda action=key.action: called.append(action))
        for key in KEYS:
            await click(pilot, app, key.shown)
        assert called == [key.action for key in KEYS]

    for size in ((80, 24), (140, 40)):
        drive(begin, test, size)


def test_a_click_in_the_footer_does_what_the_key_does(begin: Begin):
    async def test(pilot: Any, app: ReviewApp) -> None:
        await click(pilot, app, "y")
        assert app.review.state.counts[Status.ACCEPTED] == 1
        await click(pilot, app, "n")
        assert app.review.state.counts[Status.REJECTED] == 1
        await click(pilot, app, "u")
        await click(pilot, app, "u")
        assert app.review.state.counts[Status.OPEN] == 5
        await click(pilot, app, "?")
        assert app.query_one("#help").display
        await click(pilot, app, "y")  # below an open window
        assert not app.review.state.counts[Status.ACCEPTED]
        await pilot.press("escape")
        assert not app.query_one("#help").display

    drive(begin, test)


def test_rows_are_clicked_and_a_file_is_folded(begin: Begin):
    async def test(pilot: Any, app: ReviewApp) -> None:
        await pilot.click(Listing, offset=(10, 2))
        assert app.review.state.entry is not None and app.review.state.entry.item.line == 8
        await pilot.click(Listing, offset=(10, 0))
        await pilot.click(Listing, offset=(10, 0))
        await pilot.pause()
        assert len(app.review.state.rows) == 1

    drive(begin, test)


def test_the_selected_row_is_to_be_seen(begin: Begin):
    async def test(pilot: Any, app: ReviewApp) -> None:
        listing = app.query_one(Listing)
        for _ in range(3):
            await pilot.press("down")
            reversed_rows = [
                y for y in range(listing.size.height)
                if any(part.style is not None and part.style.reverse for part in listing.render_line(y))
            ]  # fmt: skip
            assert [app.review.state.rows[listing._top + y] for y in reversed_rows] == [app.review.state.selected]

    drive(begin, test)


def test_the_wheel_scrolls_the_list_and_its_bar_goes_anywhere(begin: Begin, project: Path):
    for number in range(1, 20):
        (project / f"net_{number:02}.py").write_text(NET, encoding="utf-8")

    async def test(pilot: Any, app: ReviewApp) -> None:
        listing = app.query_one(Listing)
        at = app.review.state.selected
        first = screen(app, "#listing")
        await wheel(pilot, "#listing", MouseScrollDown)
        assert screen(app, "#listing").splitlines()[0] != first.splitlines()[0]
        assert screen(app, "#listing").splitlines()[0][:-1] == first.splitlines()[3][:-1]
        await wheel(pilot, "#listing", MouseScrollUp)
        assert screen(app, "#listing") == first
        await pilot.mouse_down(Listing, offset=(listing.size.width - 1, listing.size.height - 1))
        await pilot.mouse_up(Listing, offset=(listing.size.width - 1, listing.size.height - 1))
        await pilot.pause()
        assert "GW110" in screen(app, "#listing").splitlines()[-1]
        assert screen(app, "#listing").splitlines()[-1].endswith("▐")
        assert app.review.state.selected == at  # only looked at
        await pilot.press("down")
        assert app.review.state.selected != at

    drive(begin, test)


def test_the_wheel_scrolls_the_diff_and_the_panel(begin: Begin):
    async def test(pilot: Any, app: ReviewApp) -> None:
        await pilot.press("j", "j")  # a fix that needs an import, far above
        up, down = MouseScrollUp, MouseScrollDown
        for where, there, back in (("#diff", up, down), ("#panel", down, up)):
            first = screen(app, where)
            await wheel(pilot, where, there)
            assert screen(app, where) != first
            await wheel(pilot, where, back)
            assert screen(app, where) == first

    drive(begin, test, (80, 20))


def test_a_question_is_answered_by_a_click(begin: Begin, project: Path):
    async def test(pilot: Any, app: ReviewApp) -> None:
        await pilot.press("y", "q")
        await pilot.pause()
        lines = screen(app, "#choice").splitlines()
        back = next(y for y, line in enumerate(lines) if "go back" in line)
        await pilot.click("#choice", offset=(4, back + 1))  # the frame is above
        await pilot.pause()
        assert not app.query_one("#choice").display
        await pilot.press("q")
        await pilot.pause()
        write = next(y for y, line in enumerate(lines) if "write and leave" in line)
        await pilot.click("#choice", offset=(4, write + 1))
        for _ in range(200):
            if not app.is_running:
                break
            await pilot.pause(0.05)
        assert "swapaxes" in (project / "net.py").read_text(encoding="utf-8")

    drive(begin, test)


@pytest.mark.parametrize("size", [(30, 8), (20, 5), (80, 10), (80, 24)])
def test_in_a_low_window_the_footer_leaves_room_and_ends_with_the_help(begin: Begin, size: tuple[int, int]):
    async def test(pilot: Any, app: ReviewApp) -> None:
        assert "· " in screen(app, "#listing") and "GW110" in screen(app, "#listing")
        if size[1] > 5:
            assert "x.transpose" in screen(app, "#diff")
        footer = screen(app, "Keys").splitlines()
        assert len(footer) <= max(1, size[1] // 5)
        assert "y accept" in footer[0] and ("? help" in footer[-1] and footer[-1].endswith(("help", "quit")))
        assert not app.screen.show_vertical_scrollbar
        await click(pilot, app, "?")
        assert app.query_one("#help").display

    drive(begin, test, size)


async def wheel(pilot: Any, where: str, event: type) -> None:
    """One notch of the wheel over a part of the screen."""
    widget = pilot.app.query_one(where)
    x, y = widget.region.offset
    pilot.app.screen._forward_event(
        event(widget=None, x=x + 1, y=y + 1, delta_x=0, delta_y=0, button=0, shift=False, meta=False, ctrl=False,
              screen_x=x + 1, screen_y=y + 1)
    )  # fmt: skip
    await pilot.pause()
