"""The list: files with their counts, findings with their states. Thousands of rows cost what is in sight."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.events import Click, MouseDown, MouseMove, MouseScrollDown, MouseScrollUp, MouseUp, Resize
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ...source.paths import display
from ..state import Entry, FileReview, Place, State
from ..status import Status
from ..visible import visible
from .lines import PLAIN, strip_of
from .marks import CONSEQUENCE_STYLES, GLYPHS, STATUS_STYLES

_COUNTED = (Status.OPEN, Status.ACCEPTED, Status.REJECTED, Status.SUPPRESSED, Status.WAITING, Status.UNNECESSARY)


_IN_SIGHT, _OUT_OF_SIGHT = Segment("▐", PLAIN), Segment("│", Style(dim=True))
# Rows that one notch of the wheel goes.
_WHEEL = 3


class Listing(Widget, can_focus=False):
    """The tree of files and findings, with a bar that says how far it goes. It scrolls by itself: Textual's own bars
    are drawn anew, later than the rest, whenever something else is laid out."""

    class Chosen(Message):
        """A row was clicked; `again` when it was selected already."""

        def __init__(self, place: Place, again: bool) -> None:
            super().__init__()
            self.place, self.again = place, again

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._state = State({})
        self._top = 0
        self._dragged = False
        self._strips: dict[Place, tuple[object, tuple[int, bool, bool], Strip]] = {}

    def set_state(self, state: State) -> None:
        """Show the list as it is in `state`, with the selected row in sight."""
        self._state = state
        row = state.row_of(state.selected)
        height = self.size.height
        if row is not None and height > 1:
            above = 1 if row else 0  # the row before keeps the way visible
            self._top = max(min(self._top, row - above), row + 1 - height)
        self.go_on(0)

    def go_on(self, rows: int) -> None:
        """Go that many rows further, as far as there are any."""
        self._top = max(0, min(self._top + rows, len(self._state.rows) - self.size.height))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        number = self._top + y
        rows = self._state.rows
        scrolls = len(rows) > self.size.height
        width = self.size.width - scrolls
        if number >= len(rows):
            return Strip.blank(width, PLAIN)
        path, key = rows[number]
        file = self._state.files[path]
        shown: Entry | FileReview = file.entries[key] if key else file
        look = width, rows[number] == self._state.selected, path in self._state.collapsed
        known = self._strips.get(rows[number])
        if known is None or known[0] is not shown or known[1] != look:
            text = _finding(file.entries[key], width) if key else self._file(file, width)
            if look[1]:
                text = Text(text.plain, "reverse bold")
            strip = strip_of(text, self).crop_extend(0, width, PLAIN)
            known = self._strips[rows[number]] = shown, look, strip
        return Strip([*known[2], self._bar(y)]) if scrolls else known[2]

    def _bar(self, y: int) -> Segment:
        """The part of the bar that is on this line: thick for what is in sight."""
        height, total = self.size.height, len(self._state.rows)
        size = max(1, height * height // total)
        start = self._top * (height - size) // (total - height)
        return _IN_SIGHT if start <= y < start + size else _OUT_OF_SIGHT

    def _file(self, file: FileReview, width: int) -> Text:
        folded = "▸" if file.path in self._state.collapsed else "▾"
        counts = Text()
        for status in _COUNTED:
            if file.counts[status]:
                counts.append(f" {GLYPHS[status]}{file.counts[status]}", STATUS_STYLES[status])
        name = _end_of(visible(display(file.path)), width - counts.cell_len - 3)
        text = Text(f"{folded} ")
        text.append(name, "bold")
        text.append(" " * max(0, width - text.cell_len - counts.cell_len - 1))
        return text.append_text(counts)

    def on_click(self, event: Click) -> None:
        number = self._top + event.y
        if not self._on_bar(event.x) and 0 <= number < len(self._state.rows):
            place = self._state.rows[number]
            self.post_message(self.Chosen(place, place == self._state.selected))

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        self.go_on(_WHEEL)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        self.go_on(-_WHEEL)

    def on_mouse_down(self, event: MouseDown) -> None:
        if self._on_bar(event.x):
            self._dragged = True
            self.capture_mouse()
            self._go_to(event.y)

    def on_mouse_move(self, event: MouseMove) -> None:
        if self._dragged:
            self._go_to(event.y)

    def on_mouse_up(self, event: MouseUp) -> None:
        if self._dragged:
            self._dragged = False
            self.release_mouse()

    def on_resize(self, event: Resize) -> None:
        self.set_state(self._state)

    def _on_bar(self, x: int) -> bool:
        return x >= self.size.width - 1 and len(self._state.rows) > self.size.height

    def _go_to(self, y: int) -> None:
        """As far into the list as `y` is down the bar."""
        height = self.size.height
        self.go_on(y * (len(self._state.rows) - height) // max(1, height - 1) - self._top)


def _finding(entry: Entry, width: int) -> Text:
    finding = entry.item.finding
    text = Text("  ")
    text.append(f"{GLYPHS[entry.status]} ", STATUS_STYLES[entry.status])
    text.append(f"{entry.item.line_shown:>4} ", "dim")
    text.append(f"{finding.code} ", CONSEQUENCE_STYLES[finding.consequence])
    if entry.item.new:
        text.append("new ", "bold cyan")
    rest = max(0, width - text.cell_len)
    said = visible(finding.message).replace("\n", " ")
    style = "dim" if entry.status is not Status.OPEN else ""
    text.append(said if cell_len(said) <= rest else set_cell_size(said, max(0, rest - 1)) + "…", style)
    return text


def _end_of(name: str, width: int) -> str:
    """The end of a path says more than its beginning."""
    if cell_len(name) <= width:
        return name
    while name and cell_len(name) > width - 1:
        name = name[1:]
    return f"…{name}"
