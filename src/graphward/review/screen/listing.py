"""The list: files with their counts, findings with their states. Thousands of rows cost what is in sight."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ...source.paths import display
from ..state import Entry, FileReview, Place, State, Status
from ..visible import visible
from .lines import PLAIN, strip_of
from .marks import CONSEQUENCE_STYLES, GLYPHS, STATUS_STYLES

_COUNTED = (Status.OPEN, Status.ACCEPTED, Status.REJECTED, Status.SUPPRESSED, Status.WAITING, Status.UNNECESSARY)


class Listing(ScrollView, can_focus=False):
    """The tree of files and findings."""

    DEFAULT_CSS = "Listing { scrollbar-size: 1 1; overflow-x: hidden; }"

    class Chosen(Message):
        """A row was clicked; `again` when it was selected already."""

        def __init__(self, place: Place, again: bool) -> None:
            super().__init__()
            self.place, self.again = place, again

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._state = State({})
        self._strips: dict[Place, tuple[object, tuple[int, bool, bool], Strip]] = {}

    def set_state(self, state: State) -> None:
        """Show the list as it is in `state`, with the selected row in sight."""
        self._state = state
        self.virtual_size = Size(self.size.width, len(state.rows))
        row = state.row_of(state.selected)
        if row is not None:
            above = 1 if row else 0  # the row before keeps the way visible
            self.scroll_to_region(Region(0, row - above, 1, 2 + above), animate=False, force=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        number = self.scroll_offset.y + y
        width = self.size.width
        rows = self._state.rows
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
        return known[2]

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
        number = self.scroll_offset.y + event.y
        if 0 <= number < len(self._state.rows):
            place = self._state.rows[number]
            self.post_message(self.Chosen(place, place == self._state.selected))


def _finding(entry: Entry, width: int) -> Text:
    finding = entry.item.finding
    text = Text("  ")
    text.append(f"{GLYPHS[entry.status]} ", STATUS_STYLES[entry.status])
    text.append(f"{entry.item.line:>4} ", "dim")
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
