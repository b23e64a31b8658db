"""The review as line prompts, in the manner of `git add -p`: for pipes, dumb terminals and screen readers."""

from __future__ import annotations

import sys
from typing import TextIO

from rich.console import Console
from rich.text import Text

from ..engine.workspace import Problem
from ..report.diff import file_diff
from ..report.rows import Row
from ..report.text import MEANINGS
from ..rules.finding import Finding
from ..source.fixes import Fix
from ..source.paths import display
from .decisions import Decision, Refused, State, accept, accept_safe, outcome, reject, show_next
from .session import End

KEYS = "y,n,t,a,d,q,?"
HELP = """\
y - accept this fix
n - reject it; the finding stays as it is
t - show the next alternative fix of this finding
a - accept this fix, and the safe fixes of all later findings in this file;
    findings without a safe fix are still asked
d - skip the rest of this file; what was accepted in it is written
q - quit; what was accepted is written
? - show this help
What was accepted is written when the last finding of a file has been met.
Then the file is checked again: what is new, or had to wait because its fix
overlapped an accepted one, is asked."""

_ACTIONS = {"y": accept, "n": reject, "a": accept_safe}
_DIFF_STYLES = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}
# Code under review can hold anything; a terminal must not obey it.
_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), *range(127, 160))} | {13: ""}


class PlainFront:
    """Asks on `stdout`, reads answers from `stdin`, one a line."""

    def __init__(self, stdin: TextIO, stdout: TextIO):
        self._stdin = stdin
        self._stdout = stdout
        self._console = Console(file=stdout, soft_wrap=True, highlight=False)

    def decide(self, state: State) -> tuple[State, End]:
        """Ask for each finding. An interrupt is a `q`: it keeps what was accepted."""
        told = 0
        try:
            while True:
                for decision in state.accepted[told:]:
                    self._tell_taken(state, decision)
                told = len(state.accepted)
                asked = state.current
                if asked is None:
                    return state, End.DONE
                self._show_finding(state, asked)
                if state.shown is None:
                    self._print("No fix can be applied here; it is left to you.")
                    state = reject(state)
                    continue
                state, end = self._ask(state)
                if end is not None:
                    return state, end
                # The fix that the user just accepted needs no line of its own.
                told += any(d.finding is asked for d in state.accepted[told : told + 1])
        except KeyboardInterrupt:
            self._print("")
            return state, End.QUIT

    def note(self, text: str) -> None:
        """One line to the user."""
        self._print(text, "yellow")

    def left_alone(self, problem: Problem) -> None:
        """A file that is no Python, on stderr as `check` does."""
        _warn(problem)

    def _ask(self, state: State) -> tuple[State, End | None]:
        """Prompt until the finding is decided or the file ends."""
        self._show_fix(state)
        while True:
            answer = self._answer(state)
            if answer is None or answer == "q":
                return state, End.QUIT
            if answer == "d":
                return state, End.SKIPPED
            if answer == "t" and len(state.alternatives) > 1:
                state = show_next(state)
                self._show_fix(state)
            elif answer == "t":
                self._print("There is no other fix.")
            elif answer in _ACTIONS:
                try:
                    return _ACTIONS[answer](state), None
                except Refused as reason:
                    self._print(f"This fix cannot be accepted: {reason}", "red")
            elif answer:
                self._print(HELP)

    def _answer(self, state: State) -> str | None:
        """What the user types; None at the end of the input."""
        prompt = f"({state.position + 1}/{len(state.findings)}) Apply this fix [{KEYS}]? "
        self._console.print(Text(prompt, "bold"), end="")
        self._stdout.flush()
        line = self._stdin.readline()
        if not line or not self._stdin.isatty():
            # Nothing echoed the answer: the transcript must still read well.
            self._print(line.rstrip("\n"))
        return line.strip() if line else None

    def _show_finding(self, state: State, finding: Finding) -> None:
        row = Row(state.source.path, state.source, finding)
        line, column = row.start
        self._print("")
        self._print(f"{display(row.path)}:{line}:{column} {finding.code} {finding.name}", "bold")
        self._print(f"{finding.consequence.value}: {MEANINGS[finding.consequence]}")
        self._print(finding.message)
        steps = [step.partition(":")[2] for step in finding.call_path]
        self._print("    in " + (" -> ".join(steps) or finding.region))
        for reason in finding.evidence:
            self._print(f"    because {reason}")
        if state.shown is None:
            for number in range(line, row.end[0] + 1):
                code = state.source.line_bytes(number).decode().rstrip("\r\n")
                self._print(f"    {number} | {code}")
            for fix in finding.fixes:
                self._show_title(fix.applicability.value, fix)

    def _show_fix(self, state: State) -> None:
        fix = state.shown
        if fix is None:
            return
        count = len(state.alternatives)
        which = f" {state.choice + 1} of {count}" if count > 1 else ""
        self._show_title(f"Fix{which}, {fix.applicability.value}", fix)
        try:
            after = outcome(state, fix)
        except Refused as reason:
            self._print(f"This fix cannot be accepted: {reason}", "red")
            return
        for line in file_diff(state.source.path, state.preview.utf8, after.utf8):
            style = next((s for mark, s in _DIFF_STYLES.items() if line.startswith(mark)), "")
            self._print(line.rstrip("\n"), style)

    def _show_title(self, kind: str, fix: Fix) -> None:
        self._print(f"{kind}: {fix.title}")
        if fix.reason:
            self._print(f"    {fix.reason}")

    def _tell_taken(self, state: State, decision: Decision) -> None:
        self._print(taken_line(state, decision))

    def _print(self, text: str, style: str = "") -> None:
        self._console.print(Text(text.translate(_VISIBLE), style))


class ScriptFront:
    """Asks nothing: the safe fixes are taken by the state, everything else is left."""

    def __init__(self, stdout: TextIO):
        self._stdout = stdout

    def decide(self, state: State) -> tuple[State, End]:
        """Pass over what needs a decision."""
        try:
            while state.current is not None:
                state = reject(state)
        except KeyboardInterrupt:
            return state, End.QUIT
        for decision in state.accepted:
            self._stdout.write(taken_line(state, decision).translate(_VISIBLE) + "\n")
        return state, End.DONE

    def note(self, text: str) -> None:
        """One line on stdout."""
        self._stdout.write(f"{text}\n")

    def left_alone(self, problem: Problem) -> None:
        """A file that is no Python, on stderr as `check` does."""
        _warn(problem)


def taken_line(state: State, decision: Decision) -> str:
    """One line for a fix that was accepted without being shown."""
    line, column = state.source.position(decision.finding.span.start)
    place = f"{display(state.source.path)}:{line}:{column}"
    return f"accepted {place} {decision.finding.code} {decision.fix.applicability.value}: {decision.fix.title}"


def _warn(problem: Problem) -> None:
    place = f"{display(problem.path)}:{problem.line}" if problem.line else display(problem.path)
    sys.stderr.write(f"left alone {place}: {problem.message}\n")
