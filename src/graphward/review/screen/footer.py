"""All keys, in as many lines as they need; a click is as good as a key."""

from __future__ import annotations

from rich.text import Text
from textual.events import Click
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from .keys import KEYS, Key
from .lines import PLAIN, strip_of


class Keys(Widget):
    """The footer."""

    DEFAULT_CSS = "Keys { height: auto; }"

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(_rows(width))

    def render_line(self, y: int) -> Strip:
        rows = _rows(self.size.width)
        text = Text()
        for key in rows[y] if y < len(rows) else ():
            text.append(key.shown, "bold cyan")
            text.append(f" {key.label}  ")
        width = self.size.width
        return strip_of(text, self).crop_extend(0, width, PLAIN)

    async def on_click(self, event: Click) -> None:
        rows = _rows(self.size.width)
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
