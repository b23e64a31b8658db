"""A pane of prepared lines: only those in sight are drawn, and showing others lays nothing out anew."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.events import MouseScrollDown, MouseScrollUp, Resize
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

PLAIN = Style.null()
"""The terminal's own colors."""


class Lines(Widget):
    """Shows lines, which may be longer than the pane is wide and more than it is high."""

    class Resized(Message):
        """The pane has another size: what it shows was made for the old one."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Text] = ()
        self._left = self._top = 0

    def set_lines(self, lines: Sequence[Text], top: int = 0) -> None:
        """Show `lines`, from line number `top` on."""
        self._lines = lines
        self._left, self._top = 0, top
        self.scroll_lines(0, 0)

    def scroll_lines(self, right: int, down: int) -> None:
        """Show another part, as far as there is one."""
        width = max((line.cell_len for line in self._lines), default=0)
        self._left = max(0, min(self._left + right, width - self.size.width))
        self._top = max(0, min(self._top + down, len(self._lines) - self.size.height))
        self.refresh()

    @property
    def below(self) -> int:
        """How many lines there are below those in sight."""
        return max(0, len(self._lines) - self._top - self.size.height)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if self._top + y >= len(self._lines):
            return Strip.blank(width, PLAIN)
        return strip_of(self._lines[self._top + y], self).crop_extend(self._left, self._left + width, PLAIN)

    def on_resize(self, event: Resize) -> None:
        self.post_message(self.Resized())

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        self.scroll_lines(0, 3)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        self.scroll_lines(0, -3)


def strip_of(line: Text, widget: Widget) -> Strip:
    """A line as Textual draws it, on the terminal's own background: what `Widget.rich_style` would add takes longer to
    find out than all the rest of a key press."""
    console = widget.app.console
    # Rich leaves the style of the whole out when no part has one of its own. Textual's filters, for NO_COLOR, want one
    # everywhere.
    whole = console.get_style(line.style) if line.style else PLAIN
    return Strip(Segment(part.text, part.style or whole) for part in line.render(console))
