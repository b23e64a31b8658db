"""All keys, in as many lines as they need, unless the window is so low that they would take its place; a click is as
good as a key."""

from __future__ import annotations

from rich.text import Text
from textual.events import Click
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from .keys import KEYS, Key
from .lines import PLAIN, strip_of

# Of the window's height, the footer takes no more than one part in so many.
_SHARE = 5
_HELP = next(key for key in KEYS if key.action == "help")


class Keys(Widget):
    """The footer."""

    DEFAULT_CSS = "Keys { height: auto; }"

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(1, min(len(_rows(width)), viewport.height // _SHARE))

    def render_line(self, y: int) -> Strip:
        rows = self._rows
        text = Text()
        for key in rows[y] if y < len(rows) else ():
            text.append(key.shown, "bold cyan")
            text.append(f" {key.label}  ")
        width = self.size.width
        return strip_of(text, self).crop_extend(0, width, PLAIN)

    @property
    def _rows(self) -> list[list[Key]]:
        """Those that there is room for; the last one ends with the help, which lists all, when others are left out."""
        width, height = self.size
        rows = _rows(width)
        if len(rows) <= height or not height:
            return rows
        *rows, last = rows[:height]
        while len(last) > 1 and sum(map(_width, [*last, _HELP])) - 2 > width:
            last = last[:-1]
        return [*rows, [*last, _HELP]]

    async def on_click(self, event: Click) -> None:
        rows = self._rows
        at = 0
        for key in rows[event.y] if event.y < len(rows) else ():
            at += _width(key)
            if event.x < at:
                await self.app.run_action(key.action)
                return


def _rows(width: int) -> list[list[Key]]:
    rows: list[list[Key]] = [[]]
    used = 0
    for key in KEYS:
        if rows[-1] and used + _width(key) - 2 > width:
            rows.append([])
            used = 0
        rows[-1].append(key)
        used += _width(key)
    return rows


def _width(key: Key) -> int:
    return len(key.shown) + len(key.label) + 3
