"""The review as line prompts, in the manner of `git add -p`: for pipes, dumb terminals and screen readers."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TextIO

from ..errors import GraphwardError
from ..source.paths import display
from . import actions as act
from .checking import Unusable, applied
from .editing import BadEdit, draft, edited
from .editor import edit_text
from .filters import HELP as FILTER_HELP
from .journal import Entry as Journaled
from .outcome import Written
from .proving import Prover
from .session import Review
from .state import FileReview, State
from .status import Status
from .transcript import Transcript, left_alone, taken_line

KEYS = "y,n,t,a,d,e,s,j,k,v,/,q,?"
HELP = """\
y - accept this fix
n - reject it; the finding stays as it is, and is not asked again
t - show the next alternative fix of this finding
a - accept this fix, and the safe fixes of all later findings in this file;
    findings without a safe fix are still asked
d - skip the rest of this file; what was accepted in it is written
e - edit the proposed text in $EDITOR, and accept it if it parses
s - silence the rule here with a comment
j - leave it undecided and go on to the next one
k - go back to the one before in this file
v - prove this region with the fix that is shown: this runs the code
/ - ask only what fits: /rule:GW1 fix:safe word; / alone asks all again
q - quit; what was accepted is written
? - show this help
What was accepted is written when the last finding of a file has been met.
Until then the file is checked again after each fix: what is new, or had to
wait because its fix overlapped an accepted one, is asked; what is no longer
needed is not."""

# Files that take longer to check are checked once all their findings have been met.
_PROMPT_SECONDS = 0.7


class End(Enum):
    """How the review of a file ended."""

    DONE = "done"
    SKIPPED = "skipped"
    QUIT = "quit"


class PlainFront:
    """Asks on `stdout`, reads answers from `stdin`, one a line."""

    def __init__(self, review: Review, stdin: TextIO, stdout: TextIO):
        self._review = review
        self._out = Transcript(stdin, stdout)
        self._passed: set[tuple[Path, str]] = set()
        self._filtered = False
        self._prover: Prover | None = None

    def run(self, written: Callable[[Written], None]) -> bool:
        """Take the user through the files, each written when it has been met; whether all were. An interrupt is a `q`:
        it keeps what was accepted. `written` hears of each write."""
        if self._review.state.message:
            self._out.note(f"{self._review.state.message} (--fresh asks everything again)")
        entry = self._review.begin_write()
        complete = True
        try:
            paths = deque(self._review.state.files)
            while paths:
                path = paths.popleft()
                end = self._file_until_written(path, entry, written)
                if end is End.QUIT:
                    complete = False
                    break
                if self._filtered:  # what it shows now may stand in files that were passed
                    self._filtered = False
                    files = list(self._review.state.files)
                    at = files.index(path) if path in files else len(files) - len(paths)
                    paths = deque(files[at + 1 :] + files[:at])
        finally:
            if self._prover is not None:
                self._prover.close()
        return complete

    def _file_until_written(self, path: Path, entry: Journaled, written: Callable[[Written], None]) -> End:
        while True:
            try:
                end = self._file(path)
            except KeyboardInterrupt:
                self._out.say("")
                end = End.QUIT
            file = self._review.state.files.get(path)
            if file is None or self._review.ways.patch is not None or not self._differs(file):
                return end
            done = self._review.write([file], entry)
            for problem in done.problems:
                self._out.note(problem)
            written(done)
            if not done.changed:
                return end
            self._out.note(f"{display(path)} changed on disk meanwhile: nothing is written.")
            if end is not End.DONE:
                return end
            self._reload(path)
            self._passed = {place for place in self._passed if place[0] != path}

    def _differs(self, file: FileReview) -> bool:
        return any(file is other for other in self._review.unwritten())

    def _file(self, path: Path) -> End:
        """Ask for each finding of a file that is open."""
        if path in self._review.changed_on_disk():
            self._reload(path)
        while True:
            key = self._next(path)
            if key is None:
                if any(f.path == path for f in self._review.unsettled()):
                    self._settle()
                    continue
                return End.DONE
            self._do(act.Select((path, key)))
            entry = self._review.state.entry
            assert entry is not None
            self._out.finding(entry, self._review.state)
            if self._review.state.shown(entry) is None:
                self._out.say("No fix can be applied here; it is left to you.")
                self._passed.add((path, key))
                continue
            end = self._ask(path)
            if end is not None:
                return end

    def _next(self, path: Path) -> str | None:
        """The first finding of the file that has to be asked."""
        file = self._review.state.files.get(path)
        if file is None:
            return None
        return next((k for k in file.visible(self._review.state.filter)
                     if file.entries[k].status is Status.OPEN and (path, k) not in self._passed), None)  # fmt: skip

    def _ask(self, path: Path) -> End | None:
        """Prompt until the finding is decided; what it means for the file, if it means something."""
        self._show_fix()
        while True:
            answer = self._answer()
            if answer is None or answer == "q":
                return End.QUIT
            if answer == "d":
                return End.SKIPPED
            if answer.startswith("/"):
                self._filter(answer[1:])
                return None
            if answer == "t":
                self._do(act.ShowNext())
                if self._review.state.message:
                    self._out.say(self._review.state.message)
                else:
                    self._show_fix()
            elif answer == "v":
                self._prove()
            elif answer in _DECISIONS:
                if getattr(self, _DECISIONS[answer])(path):
                    return None
            elif answer:
                self._out.say(HELP)

    # Decisions: each says whether the finding is dealt with

    def _accept(self, path: Path) -> bool:
        return self._decided(path, act.Accept())

    def _accept_safe(self, path: Path) -> bool:
        place = self._review.state.selected
        if not self._decided(path, act.Accept()):
            return False
        assert place is not None
        while True:
            self._settle()
            before = self._review.state.files.get(path)
            if before is None:
                return True
            self._do(act.Select(place))
            self._do(act.AcceptAll(act.Scope.SAFE, here=True))
            after = self._review.state.files[path]
            if after is before:
                return True
            self._tell_taken(before, after)

    def _reject(self, path: Path) -> bool:
        self._do(act.Reject())
        return True

    def _suppress(self, path: Path) -> bool:
        return self._decided(path, act.Suppress())

    def _later(self, path: Path) -> bool:
        assert self._review.state.selected is not None
        self._passed.add(self._review.state.selected)
        return True

    def _earlier(self, path: Path) -> bool:
        state = self._review.state
        assert state.selected is not None
        file = state.files[path]
        keys = [k for k in file.visible(state.filter) if file.entries[k].status is Status.OPEN]
        at = keys.index(state.selected[1])
        if not at:
            self._out.say("There is no earlier finding to decide in this file.")
            return False
        self._passed -= {(path, key) for key in keys[at - 1 :]}
        return True

    def _edit(self, path: Path) -> bool:
        state = self._review.state
        entry = state.entry
        assert entry is not None and state.selected is not None
        proposal = draft(entry.item, state.shown(entry))
        document = proposal.document
        while True:
            try:
                document = edit_text(document, path.name)
                fix = edited(proposal, document)
            except GraphwardError as error:
                self._out.say(str(error), "red")
                return False
            except BadEdit as error:
                self._out.say(f"This cannot be taken: {error}", "red")
                if self._out.ask("Edit it again [y,n]? ") != "y":
                    return False
                continue
            if fix is None:
                self._out.say("Nothing was changed.")
                return False
            return self._decided(path, act.TakeText(state.selected, fix))

    def _decided(self, path: Path, action: act.Action) -> bool:
        """Take a decision; False, with the reason told, when it cannot be."""
        before = self._review.state.files[path]
        place = self._review.state.selected
        self._do(action)
        after = self._review.state.files[path]
        if after is before:
            self._out.say(self._review.state.message, "red")
            return False
        try:
            applied(after)
        except Unusable as error:
            self._do(act.Refused(after, error.key, str(error), error.alone))
            self._out.say(self._review.state.message, "red")
            return place is not None and not (error.alone and error.key == place[1])
        said = self._review.state.message.partition(". ")[2]
        if said:
            self._out.say(said)
        if self._review.checker.seconds < _PROMPT_SECONDS:
            self._settle()
        return True

    def _show_fix(self) -> None:
        entry = self._review.state.entry
        if entry is not None:
            self._out.fix(entry, self._review.state)

    def _settle(self) -> None:
        """Check again what the decisions have made, and tell what that changed."""
        while waiting := self._review.unsettled():
            self._do(act.Say(""))
            for action in self._review.checker.settle(waiting, self._review.state.files):
                self._do(action)
            if self._review.state.message:
                self._out.say(self._review.state.message)

    def _filter(self, text: str) -> None:
        self._do(act.SetFilter(text))
        self._passed.clear()
        self._filtered = True
        if self._review.state.message:
            self._out.say(self._review.state.message)
            if str(self._review.state.filter) != text.strip() and not self._review.state.filter:
                self._out.say("\n".join(FILTER_HELP))

    def _prove(self) -> None:
        state = self._review.state
        assert state.selected is not None
        if self._prover is None:
            self._prover = Prover(self._review)
        try:
            told = self._prover.prove(state, [state.selected], _tell_step)
        except GraphwardError as error:
            self._out.say(str(error), "red")
            return
        except KeyboardInterrupt:
            self._prover.stop()
            self._prover = None
            self._out.say("The proof was stopped.")
            return
        self._do(told)
        entry = self._review.state.entry
        if entry is not None and told.verdicts:
            self._out.proof(entry, self._review.state)
        else:
            self._out.say(told.message)

    # On the terminal

    def _do(self, action: act.Action) -> State:
        return self._review.do(action)

    def _reload(self, path: Path) -> None:
        problems = len(self._review.problems)
        self._review.take(path, self._review.look_again(path))
        if path in self._review.state.files:
            self._out.note(self._review.state.message)
        for problem in self._review.problems[problems:]:
            left_alone(problem)

    def _answer(self) -> str | None:
        """What the user types; None at the end of the input."""
        state = self._review.state
        assert state.selected is not None
        keys = list(state.files[state.selected[0]].entries)
        number = keys.index(state.selected[1]) + 1
        return self._out.ask(f"({number}/{len(keys)}) Apply this fix [{KEYS}]? ")

    def _tell_taken(self, before: FileReview, after: FileReview) -> None:
        for key, (_, decision) in after.decisions.items():
            if key not in before.decisions:
                self._out.say(taken_line(decision.item, decision.fix))


_DECISIONS = {
    "y": "_accept", "n": "_reject", "a": "_accept_safe", "e": "_edit", "s": "_suppress", "j": "_later", "k": "_earlier",
}  # fmt: skip


def _tell_step(done: int, total: int, label: str) -> None:
    if done < total:
        sys.stderr.write(f"proving {done + 1} of {total}: {label}\n")


def accept_safe(review: Review, stdout: TextIO) -> None:
    """Take every safe fix, and those that come up on the new text; asks nothing."""
    while True:
        before = review.state
        review.do(act.AcceptAll(act.Scope.SAFE))
        if review.state.files is before.files:
            return
        for path, file in review.state.files.items():
            for key, (_, decision) in file.decisions.items():
                if key not in before.files[path].decisions:
                    stdout.write(taken_line(decision.item, decision.fix) + "\n")
        review.settle()
