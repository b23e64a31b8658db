"""The windows that open over the review: help, filter, the question before leaving."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.events import Click
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from ..filters import HELP, BadFilter, parse_filter
from ..state import Status
from .keys import KEYS, MORE
from .marks import GLYPHS, STATUS_STYLES

_FRAME = """
%(name)s { align: center middle; }
%(name)s > #window { width: %(width)s; max-width: 100%%; height: auto; max-height: 100%%; border: round ansi_blue;
    padding: 0 1; background: ansi_default; }
"""


class HelpScreen(ModalScreen[None]):
    """All keys."""

    DEFAULT_CSS = _FRAME % {"name": "HelpScreen", "width": 76}
    BINDINGS = [("escape,q,question_mark,enter", "dismiss", "close")]

    def compose(self) -> ComposeResult:
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
        with VerticalScroll(id="window", can_focus=True) as window:
            window.border_title = "Keys (Esc closes)"
            yield Static(text)

    def on_click(self, event: Click) -> None:
        self.dismiss()


class FilterScreen(ModalScreen[str | None]):
    """One line that says what the list shows."""

    DEFAULT_CSS = _FRAME % {"name": "FilterScreen", "width": 76}
    BINDINGS = [("escape", "dismiss", "close")]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(id="window") as window:
            window.border_title = "Filter (Enter takes it, an empty line shows everything)"
            hint = "rule:GW1 fix:safe state:open words"
            yield Input(self._text, placeholder=hint, select_on_focus=False, compact=True)
            yield Static(Text("\n".join(HELP), "dim"), id="hint")

    def on_input_changed(self, event: Input.Changed) -> None:
        try:
            parse_filter(event.value)
        except BadFilter as error:
            self.query_one("#hint", Static).update(Text(str(error), "yellow"))
        else:
            self.query_one("#hint", Static).update(Text("\n".join(HELP), "dim"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class ChoiceScreen(ModalScreen[str]):
    """A question with answers by key; Esc answers with nothing."""

    DEFAULT_CSS = _FRAME % {"name": "ChoiceScreen", "width": 64}

    def __init__(self, question: str, answers: dict[str, str]) -> None:
        super().__init__()
        self._question = question
        self._answers = answers

    def compose(self) -> ComposeResult:
        text = Text(f"{self._question}\n")
        for key, said in {**self._answers, "Esc": "go back"}.items():
            text.append(f"\n{key:>4}  ", "bold")
            text.append(said)
        with Vertical(id="window"):
            yield Static(text)

    def on_key(self, event) -> None:  # type: ignore[no-untyped-def]
        event.stop()
        if event.key in self._answers:
            self.dismiss(event.key)
        elif event.key == "escape":
            self.dismiss("")

    def on_click(self, event: Click) -> None:
        line = event.screen_y - self.query_one(Static).region.y - 2
        keys = [*self._answers, ""]
        if 0 <= line < len(keys):
            self.dismiss(keys[line])
