"""The full-screen review: keys and clicks become actions, and what the state says is drawn."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rich.text import Text
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import Binding
from textual.containers import Vertical
from textual.events import Event, InputEvent
from textual.timer import Timer
from textual.widgets import Static

from ...errors import GraphwardError
from ...report.rows import place_of
from ...source.fixes import Fix
from ...source.paths import display
from .. import actions as act
from ..diffing import CONTEXT, hunks
from ..editing import BadEdit, Draft, draft, edited
from ..editor import edit_text, open_at
from ..outcome import Written
from ..session import Reread, Review
from ..state import Entry
from ..status import Status
from ..visible import visible
from .background import Checks, Proofs, Writes
from .difftext import diff_lines
from .driver import driver_class
from .footer import Keys
from .keys import KEYS
from .lines import Lines
from .listing import Listing
from .marks import APPLICABILITY_STYLES, GLYPHS, STATUS_STYLES
from .paneltext import panel_text
from .pauses import Pauses
from .windows import ChoiceWindow, Closed, FilterWindow, HelpWindow, Windows

# From this width on, the list stands beside the diff instead of above it.
_WIDE = 110
# How long the keys must rest before decisions are checked, and how often the disk is looked at.
_REST, _WATCH = 0.15, 2.0
# What is left to check on more files than this is not waited for at the end.
_LAST = 8
# How long the keys may have to wait, in seconds, while the news of many files is taken in.
_PART = 0.008


def _first(key: str, action: str) -> Binding:
    return Binding(key, action, priority=True)


class ReviewApp(App[None]):
    """Everything that it decides is in `Review`; this only shows it."""

    CSS = """
    Screen { layout: vertical; layers: default windows; align: center middle; background: ansi_default;
        color: ansi_default; overflow: hidden; }
    #top, #message { height: 1; }
    #body { layout: vertical; height: 1fr; }
    #listing { height: 2fr; min-height: 2; }
    #detail { height: 5fr; }
    #title, #rule { height: 1; text-style: bold; }
    #diff { height: 3fr; min-height: 3; }
    #panel { height: 2fr; min-height: 1; }
    .wide #body { layout: horizontal; }
    .wide #listing { width: 1fr; min-width: 40; max-width: 64; height: 100%; border-right: solid ansi_bright_black; }
    .wide #detail { width: 3fr; height: 100%; }
    """
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = None
    # All of them come first, else what is typed ahead would be lost: a window would open only after the keys for it.
    BINDINGS = [
        *(_first(key.name, key.action) for key in KEYS),
        _first("shift+tab", "previous_fix"), _first("t", "next_fix"), _first("space", "fold"),
        _first("escape", "escape"),
        *(_first(name, f"move({by})") for name, by in (("up", -1), ("down", 1), ("home", -(10**9)), ("end", 10**9))),
        *(_first(name, f"scroll_diff({x}, {y})")
          for name, x, y in (("pageup", 0, -1), ("pagedown", 0, 1), ("left", -8, 0), ("right", 8, 0))),
        _first("left_square_bracket", "scroll_panel(-1)"), _first("right_square_bracket", "scroll_panel(1)"),
    ]  # fmt: skip

    def __init__(self, review: Review, written: Callable[[Written], None]) -> None:
        super().__init__(driver_class=driver_class(), ansi_color=True)
        self.theme = "ansi-dark"
        self.review = review
        self._written = written
        self._windows = Windows()
        self._drawn: tuple[Any, ...] = ()
        self._paneled: tuple[Any, ...] = ()
        self.pauses = Pauses()
        self._texts: dict[str, Text] = {}
        self._status = ""
        self._rest: Timer | None = None
        self._news: deque[act.Action] = deque()
        review.checker.between = self.pauses.give_way
        self._checks = Checks(review, self._from_thread, self._checked, self._reread)
        self._writes = Writes(review, self._from_thread)
        self._proofs = Proofs(review, self._from_thread, self._progress, self._proven)

    @property
    def complete(self) -> bool:
        """Whether every finding was decided on."""
        return not self.review.state.counts[Status.OPEN]

    @property
    def busy(self) -> bool:
        """Whether something goes on, or is about to, in the background."""
        running = self._checks.running or self._proofs.running or self._writes.running
        return running or bool(self._news or self.review.unsettled())

    def compose(self) -> ComposeResult:
        yield Static(id="top")
        with Vertical(id="body"):
            yield Listing(id="listing")
            with Vertical(id="detail"):
                yield Static(id="title")
                yield Lines(id="diff")
                yield Static(id="rule")
                yield Lines(id="panel")
        yield Static(id="message")
        yield Keys()
        yield HelpWindow(id="help")
        yield FilterWindow(id="filter")
        yield ChoiceWindow(id="choice")

    def on_mount(self) -> None:
        with suppress(NotImplementedError):  # there is no such thing on Windows
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.exit)
        self.set_interval(_WATCH, self._look_at_disk)
        self._draw()
        self._start_checks()
        for entry in self.review.state.all_entries():
            entry.item.said  # noqa: B018 - remembered: the first filter has no time to put thousands together

    def on_resize(self, event: Any) -> None:
        self.screen.set_class(event.size.width >= _WIDE, "wide")
        self.call_after_refresh(self._draw, True)

    def on_lines_resized(self, message: Lines.Resized) -> None:
        self._draw()
        self._put("#rule", _rule(self.query_one("#panel", Lines)))

    def on_unmount(self) -> None:
        self._proofs.close()

    # Keys

    async def on_event(self, event: Event) -> None:
        if isinstance(event, InputEvent):
            self.pauses.pressed()
        await super().on_event(event)

    def do(self, action: act.Action) -> None:
        """Take an action, show what came of it, and have it checked when the keys rest."""
        self.review.do(action)
        self._draw()
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(_REST, self._start_checks)

    def action_accept(self) -> None:
        self.do(act.Accept())

    def action_reject(self) -> None:
        self.do(act.Reject())

    def action_clear(self) -> None:
        self.do(act.Reopen())

    def action_silence(self) -> None:
        self.do(act.Suppress())

    def action_next_fix(self) -> None:
        self.do(act.ShowNext())

    def action_previous_fix(self) -> None:
        self.do(act.ShowNext(-1))

    def action_accept_rule(self) -> None:
        self.do(act.AcceptAll(act.Scope.RULE))

    def action_accept_file(self) -> None:
        self.do(act.AcceptAll(act.Scope.FILE))

    def action_accept_safe(self) -> None:
        self.do(act.AcceptAll(act.Scope.SAFE))

    def action_next_open(self) -> None:
        self.do(act.GoOpen(1))

    def action_previous_open(self) -> None:
        self.do(act.GoOpen(-1))

    def action_move(self, by: int) -> None:
        self.do(act.Move(by))

    def action_undo(self) -> None:
        self.do(act.Undo())

    def action_redo(self) -> None:
        self.do(act.Redo())

    def action_fold(self) -> None:
        self.do(act.Fold())

    def action_help(self) -> None:
        window = self.query_one(HelpWindow)
        window.open()
        self._windows.show(window)

    def action_filter(self) -> None:
        def taken(text: str | None) -> None:
            if text is not None:
                self.do(act.SetFilter(text))

        window = self.query_one(FilterWindow)
        window.open(str(self.review.state.filter))
        self._windows.show(window, taken)

    def _ask(self, question: str, answers: dict[str, str], taken: Callable[[str | None], None]) -> None:
        window = self.query_one(ChoiceWindow)
        window.open(question, answers)
        self._windows.show(window, taken)

    def on_closed(self, message: Closed) -> None:
        with self.batch_update():
            self._windows.close(message.answer)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing but the window that is open takes keys and clicks."""
        return self._windows.open is None

    def action_escape(self) -> None:
        if self._proofs.running:
            self._proofs.stop()
        elif self.review.state.filter:
            self.do(act.SetFilter(""))

    def action_scroll_diff(self, x: int, y: int) -> None:
        diff = self.query_one("#diff", Lines)
        diff.scroll_lines(x, y * max(1, diff.size.height - 1))

    def action_scroll_panel(self, by: int) -> None:
        panel = self.query_one("#panel", Lines)
        panel.scroll_lines(0, by * max(1, panel.size.height - 1))
        self._put("#rule", _rule(panel))

    def on_listing_chosen(self, message: Listing.Chosen) -> None:
        if self._windows.open is None:
            self.do(act.Fold() if message.again and not message.place[1] else act.Select(message.place))

    # Proofs

    def action_verify(self) -> None:
        entry = self.review.state.entry
        if entry is None:
            self.do(act.Say("Select a finding to verify its region."))
        else:
            self._start_proof([(entry.item.path, entry.key)])

    def action_verify_all(self) -> None:
        accepted = [(e.item.path, e.key) for e in self.review.state.all_entries() if e.decision is not None]
        if accepted:
            self._start_proof(accepted, widely=True)
        else:
            self.do(act.Say("Nothing is accepted yet."))

    def _start_proof(self, places: list[tuple[Path, str]], *, widely: bool = False) -> None:
        if self._proofs.running:
            self.do(act.Say("A proof is under way; Esc stops it."))
            return
        self._progress(0, 0, "MindSpore is being imported")
        self._proofs.start(self.review.state, places, widely=widely)

    def _progress(self, done: int, total: int, label: str) -> None:
        if total:
            filled = 12 * done // total
            label = f"[{'█' * filled}{'░' * (12 - filled)}] {done} of {total} {label}"
        self._status = f"Proving: {label}"
        self._draw_message()

    def _proven(self, action: act.Action) -> None:
        self._status = ""
        self.do(action)

    # The editor

    def action_edit(self) -> None:
        entry = self.review.state.entry
        if entry is None:
            self.do(act.Say("Select a finding to edit the text that is proposed for it."))
            return
        if entry.status in (Status.WAITING, Status.UNNECESSARY):
            self.do(act.Accept())  # it says why not
            return
        proposal = draft(entry.item, self.review.state.shown(entry))
        self._edit(entry, proposal, proposal.document)

    def _edit(self, entry: Entry, proposal: Draft, document: str) -> None:
        place = entry.item.path, entry.key
        try:
            with self._suspended():
                document = edit_text(document, entry.item.path.name)
            fix = edited(proposal, document)
        except GraphwardError as error:
            self.do(act.Say(str(error).replace("\n", " ")))
        except BadEdit as error:
            self._ask_again(entry, proposal, document, str(error))
        else:
            self.do(act.Say("Nothing was changed.") if fix is None else act.TakeText(place, fix, entry.item.source))

    def _ask_again(self, entry: Entry, proposal: Draft, document: str, reason: str) -> None:
        def taken(answer: str | None) -> None:
            if answer == "e":
                self._edit(entry, proposal, document)

        self._ask(f"This cannot be taken: {reason}", {"e": "edit it again"}, taken)

    def action_open(self) -> None:
        entry = self.review.state.entry
        if entry is None:
            self.do(act.Say("Select a finding to open its file there."))
            return
        try:
            with self._suspended():
                open_at(entry.item.path, entry.item.source.line_on_disk(entry.item.line))
        except GraphwardError as error:
            self.do(act.Say(str(error).replace("\n", " ")))
        self._look_at_disk()

    @contextmanager
    def _suspended(self) -> Iterator[None]:
        """The terminal as it was, for another program."""
        failed: GraphwardError | None = None
        try:
            with self.suspend():
                try:
                    yield
                except GraphwardError as error:  # only after a body that ends well does Textual take the terminal back
                    failed = error
        except SuspendNotSupported:
            failed = GraphwardError("this terminal cannot be handed to an editor", hint="use --plain")
        if failed is not None:
            raise failed

    # Writing and leaving

    def action_write(self) -> None:
        self._write()

    def _write(self, then: Callable[[], None] = lambda: None) -> None:
        """Write in the background, and go on with `then` when all went well."""
        patch = self.review.ways.patch
        files = self.review.unwritten()
        if self._writes.running:
            self.do(act.Say("It is being written."))
        elif not files and patch is None:
            self.do(act.Say("There is nothing to write."))
            then()
        else:
            self._status = "Writing…"
            self._draw_message()
            self._writes.start(files, lambda done: self._wrote(done, then))

    def _wrote(self, done: Written | GraphwardError, then: Callable[[], None]) -> None:
        self._status = ""
        if isinstance(done, GraphwardError):
            self.do(act.Say(str(done).replace("\n", " ")))
            return
        patch = self.review.ways.patch
        self._written(done)
        told = f"{patch} is written" if patch is not None else f"Wrote {_count(len(done.files), 'file')}"
        told += "; `graphward undo` restores what was there." if done.files else "."
        if done.changed:
            told += f" {_count(len(done.changed), 'file')} changed on disk meanwhile and left alone."
        self.do(act.Say(" ".join((told, *done.problems))))
        self._look_at_disk()
        if not (done.changed or done.problems):
            then()

    def action_quit(self) -> None:  # type: ignore[override]
        if self._writes.running:
            self.do(act.Say("It is being written; then q leaves."))
            return
        patch = self.review.ways.patch
        waiting = self.review.unwritten()
        if not waiting:
            self.exit()
            return

        def taken(answer: str | None) -> None:
            if answer == "k":
                self._leave()
            elif answer == "w":
                self._write(self._leave)

        accepted, undone = self.review.to_write(waiting)
        parts = [(accepted, "accepted"), (undone, "undone")]
        fixes = " and ".join(_count(n, f"{kind} fix", f"{kind} fixes") for n, kind in parts if n)
        what = f"{fixes or 'accepted fixes'} in {_count(len(waiting), 'file')}"
        way = f"write {patch} and leave" if patch is not None else "write and leave"
        answers = {"w": way, "k": "leave; the decisions are kept for the next time"}
        self._ask(f"Not written yet: {what}.", answers, taken)

    def _leave(self) -> None:
        if not self._checks.running and len(self.review.unsettled()) <= _LAST:
            self.review.settle()  # what is told at the end counts what the last decisions have mended
        self.exit()

    # In the background

    def _from_thread(self, function: Callable[..., None], *arguments: Any) -> None:
        with suppress(RuntimeError):  # the review has ended
            self.call_from_thread(function, *arguments)

    def _start_checks(self) -> None:
        if not self._news and self._checks.start():
            self._draw_message()

    def _checked(self, actions: Sequence[act.Action]) -> None:
        self.pauses.checked()
        self._news.extend(actions)
        self._take_news()

    def _take_news(self) -> None:
        """What a check of hundreds of files has found is taken in by parts, so that keys come in between."""
        end = time.monotonic() + _PART
        while self._news and time.monotonic() < end:
            self.review.do(self._news.popleft())
        if self._news:
            self.set_timer(_PART, self._take_news)
        else:
            self._draw()
            self._start_checks()

    def _look_at_disk(self) -> None:
        self.pauses.idle()
        if self._writes.running:
            return
        changed = self.review.changed_on_disk()
        if changed:
            self._checks.start(changed)

    def _reread(self, path: Path, seen: Reread) -> None:
        self.review.take(path, seen)
        self._draw()

    # Drawing

    def _draw(self, resized: bool = False) -> None:
        state = self.review.state
        self._put("#top", self._top())
        self.query_one(Listing).set_state(state)
        entry = state.entry
        diff, panel = self.query_one("#diff", Lines), self.query_one("#panel", Lines)
        fix = state.shown(entry) if entry is not None else None
        drawn = entry and entry.item, fix, state.file and state.file.layers, diff.size.width
        if drawn != self._drawn or resized:
            self._drawn = drawn
            self._put("#title", self._title(entry, fix))
            lines, top = self._diff(entry, fix, diff.size.width, diff.size.height)
            diff.set_lines(lines, top if len(lines) > diff.size.height else 0)
        paneled = entry, fix, state.proofs, state.file and state.file.layers, panel.size.width
        if paneled != self._paneled or resized:
            self._paneled = paneled
            panel.set_lines(self._panel(entry, panel.size.width))
            self._put("#rule", _rule(panel))
        self._draw_message()

    def _top(self) -> Text:
        state = self.review.state
        known = state.counts
        total = sum(known.values())
        text = Text()
        text.append("Graphward ", "bold")
        text.append(f" {_count(total, 'finding')} in {_count(len(state.files), 'file')}")
        if state.filter:
            text.append(f"  / {state.filter}", "bold yellow")
        counts = [(status, known[status]) for status in Status if known[status]]
        words = text.cell_len + sum(len(f"{count} {status.value}") + 4 for status, count in counts) <= self.size.width
        for status, count in counts:
            text.append(f"  {GLYPHS[status]} ", STATUS_STYLES[status])
            text.append(f"{count} {status.value}" if words else str(count))
        text.truncate(max(10, self.size.width), overflow="ellipsis")
        return text

    def _title(self, entry: Entry | None, fix: Fix | None) -> Text:
        if entry is None:
            path = self.review.state.selected[0] if self.review.state.selected else None
            return Text(visible(display(path)) if path else "Nothing to show", "bold")
        place = place_of(entry.item.path, entry.item.source, entry.item.finding.span.start).rpartition(":")[0]
        text = Text(f"{visible(place)} ", "bold")
        text.append(f"{entry.item.finding.code} {entry.item.finding.name} ", "")
        alternatives = self.review.state.alternatives(entry) or entry.item.fixes
        if fix is None:
            text.append("· no fix can be applied; it is left to you", "magenta")
            return text
        kind = fix.applicability.value
        number = alternatives.index(fix) + 1 if fix in alternatives else 0
        text.append(f"· {kind} fix", APPLICABILITY_STYLES[kind])
        if len(alternatives) > 1 and number:
            text.append(f" {number} of {len(alternatives)} (Tab)", "")
        text.append(f": {visible(fix.title)}", "")
        text.truncate(max(10, self.query_one("#title").size.width), overflow="ellipsis")
        return text

    def _diff(self, entry: Entry | None, fix: Fix | None, width: int, height: int) -> tuple[list[Text], int]:
        state = self.review.state
        if entry is not None:
            context = CONTEXT if height > 3 * CONTEXT else 1
            found = hunks(state.files[entry.item.path], entry.item, fix, context)
            return diff_lines(found, width, height, entry.item.line)
        if state.file is None:
            said = "No finding passes the filter; Esc shows everything." if state.filter else "No findings."
            return [Text(said)], 0
        lines = [Text(f"{GLYPHS[s]} {n} {s.value}", STATUS_STYLES[s]) for s, n in sorted(
            state.file.counts.items(), key=lambda pair: pair[0].value)]  # fmt: skip
        return [*lines, Text(""), Text("F accepts all, n rejects all that is open, Enter folds.", "dim")], 0

    def _panel(self, entry: Entry | None, width: int) -> list[Text]:
        if entry is None:
            return []
        return list(panel_text(self.review.state, entry).wrap(self.console, max(10, width)))

    def _draw_message(self) -> None:
        text = (self._status or self.review.state.message)[: 2 * max(10, self.size.width)]
        if not self._status and self._checks.running:
            text += " (checking…)" if text else "Checking what the decisions change…"
        said = Text(visible(text), "yellow")
        lines = min(2, len(said.wrap(self.console, max(10, self.size.width))) or 1)
        message = self.query_one("#message", Static)
        if message.size.height != lines:
            message.styles.height = lines
        self._put("#message", said)

    def _put(self, where: str, text: Text) -> None:
        """Show a text; the widget keeps its size, so nothing else is laid out anew."""
        if self._texts.get(where) != text:
            self._texts[where] = text
            self.query_one(where, Static).update(text, layout=False)


def _rule(panel: Lines) -> Text:
    """The line above the panel, which says whether there is more of it."""
    width = panel.size.width
    more = f" {_count(panel.below, 'more line')}, [ and ] scroll " if panel.below else ""
    return Text("─" * max(0, width - len(more) - 2) + more + "──"[: max(0, width)], "dim", no_wrap=True)


def _count(number: int, noun: str, nouns: str = "") -> str:
    return f"{number} {noun if number == 1 else nouns or noun + 's'}"
