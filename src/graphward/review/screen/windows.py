"""The windows that open over the review: help, filter, a question.

They are part of the screen all the time, and shown when asked for: a screen of Textual's own for each would style and
lay out everything anew, twice, which takes longer than a key press may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Click, Key, Resize
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from ..filters import HELP, BadFilter, parse_filter
from ..status import Status
from .keys import KEYS, MORE
from .lines import Lines
from .marks import GLYPHS, STATUS_STYLES

# Columns that a window takes, if there are as many, and what of them is frame.
_WIDE, _NARROW, _FRAMED = 76, 64, 4
_FRAME = """
%(name)s { display: none; layer: windows; width: %(width)s; max-width: 100%%; height: auto; max-height: 100%%;
    border: round ansi_blue; padding: 0 1; background: ansi_default; }
"""


class Closed(Message):
    """A window was answered; nothing for one that was only closed."""

    def __init__(self, answer: str | None) -> None:
        super().__init__()
        self.answer = answer


class Wrapped(Lines):
    """A pane as high as its text, which is wrapped to its width."""

    DEFAULT_CSS = "Wrapped { height: auto; }"
    HANGING = 0

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._text = Text()
        self._known: tuple[Text, int, list[Text]] | None = None

    def set_text(self, text: Text, width: int = 0) -> None:
        """Show `text` from its beginning on, in a pane that will have that width; 0 means the one that it has."""
        if text == self._text and not width:
            return
        self._text = text
        lines = self._wrapped(width or self.size.width)
        if len(lines) != len(self._lines):
            self.refresh(layout=True)
        self.set_lines(lines)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._wrapped(width))

    def on_resize(self, event: Resize) -> None:
        event.prevent_default()  # nobody else has to know
        lines = self._wrapped(self.size.width)
        if lines is not self._lines:
            self.set_lines(lines)

    def _wrapped(self, width: int) -> list[Text]:
        if self._known is None or self._known[0] is not self._text or self._known[1] != width:
            self._known = self._text, width, list(self._wrap(max(10, width)))
        return self._known[2]

    def _wrap(self, width: int) -> Iterator[Text]:
        """What a line has no room for goes on below it, `HANGING` columns further in."""
        console = self.app.console
        for line in self._text.split("\n", allow_blank=True):
            first, *more = line.wrap(console, width) or [line]
            yield first
            if more:
                rest = line.plain[len(first.plain) :]
                at = len(line.plain) - len(rest.lstrip())
                for piece in line[at:].wrap(console, max(10, width - self.HANGING)):
                    yield Text(" " * self.HANGING).append_text(piece)


class HelpWindow(Wrapped, can_focus=True):
    """All keys."""

    HANGING = 9

    DEFAULT_CSS = _FRAME % {"name": "HelpWindow", "width": _WIDE}

    def open(self) -> None:
        """Show it."""
        self.border_title = "Keys (Esc closes)"
        self.set_text(_HELP, _room(self, _WIDE))
        self.border_subtitle = "Up and Down scroll" if len(self._lines) > self.app.size.height - 2 else ""
        _open(self, self)

    def on_key(self, event: Key) -> None:
        event.stop()
        page = max(1, self.size.height - 1)
        by = {"down": 1, "j": 1, "up": -1, "k": -1, "pagedown": page, "pageup": -page, "home": -(10**6), "end": 10**6}
        if event.key in by:
            self.scroll_lines(0, by[event.key])
        elif event.key in ("escape", "q", "question_mark", "enter"):
            self.post_message(Closed(None))

    def on_click(self, event: Click) -> None:
        event.stop()
        self.post_message(Closed(None))


class ChoiceWindow(Wrapped, can_focus=True):
    """A question with answers by key; Esc answers with nothing."""

    DEFAULT_CSS = _FRAME % {"name": "ChoiceWindow", "width": _NARROW}

    def open(self, question: str, answers: Mapping[str, str]) -> None:
        """Ask it."""
        self._answers = dict(answers)
        text = Text(f"{question}\n")
        for key, said in {**answers, "Esc": "go back"}.items():
            text.append(f"\n{key:>4}  ", "bold")
            text.append(said)
        self.set_text(text, _room(self, _NARROW))
        _open(self, self)

    def on_key(self, event: Key) -> None:
        event.stop()
        if event.key in self._answers:
            self.post_message(Closed(event.key))
        elif event.key == "escape":
            self.post_message(Closed(None))

    def on_click(self, event: Click) -> None:
        event.stop()
        answers = [*self._answers, None]
        # The answers are the last lines, whatever room the question takes.
        number = event.get_content_offset_capture(self).y - (len(self._lines) - len(answers))
        if 0 <= number < len(answers):
            self.post_message(Closed(answers[number]))


class FilterWindow(Vertical):
    """One line that says what the list shows."""

    DEFAULT_CSS = _FRAME % {"name": "FilterWindow", "width": _WIDE}

    def compose(self) -> ComposeResult:
        hint = "rule:GW1 fix:safe state:open words"
        yield Input(placeholder=hint, select_on_focus=False, compact=True)
        yield Wrapped(id="hint")

    def open(self, text: str) -> None:
        """Show it, with the filter as it is."""
        self.border_title = "Filter (Enter takes it, an empty line shows everything)"
        line = self.query_one(Input)
        line.value = text
        line.cursor_position = len(text)
        self._explain(text)
        _open(self, line)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._explain(event.value)

    def _explain(self, text: str) -> None:
        try:
            parse_filter(text)
        except BadFilter as error:
            said = Text(str(error), "yellow")
        else:
            said = Text("\n".join(HELP), "dim")
        self.query_one(Wrapped).set_text(said)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(Closed(event.value))

    def on_key(self, event: Key) -> None:
        if event.key == "escape":
            event.stop()
            self.post_message(Closed(None))


class Windows:
    """At most one window is open; its answer goes to who has opened it."""

    def __init__(self) -> None:
        self.open: Widget | None = None
        self._taken: Callable[[str | None], None] = _nothing

    def show(self, window: Widget, taken: Callable[[str | None], None] | None = None) -> None:
        """`window` is open; `taken` hears of the answer, None when it is closed without one."""
        self.open, self._taken = window, taken or _nothing

    def close(self, answer: str | None) -> None:
        """Hide the window that is open, and go on with the answer."""
        if self.open is None:
            return
        window, taken = self.open, self._taken
        self.open, self._taken = None, _nothing
        window.screen.set_focus(None)
        window.display = False
        taken(answer)


def _nothing(answer: str | None) -> None:
    pass


def _open(window: Widget, focused: Widget) -> None:
    window.display = True
    window.screen.set_focus(focused, scroll_visible=False)


def _room(window: Widget, columns: int) -> int:
    return min(columns, window.app.size.width) - _FRAMED


def _help() -> Text:
    text = Text()
    for key in KEYS:
        text.append(f"{key.shown:>7}  ", "bold")
        text.append(f"{key.help}\n")
    for shown, said in MORE:
        text.append(f"{shown}: ", "bold")
        text.append(f"{said}\n")
    text.append("States: ", "bold")
    for status in Status:
        text.append(f"{GLYPHS[status]} {status.value}  ", STATUS_STYLES[status])
    return text


_HELP = _help()
