"""What the line prompts print and read."""

from __future__ import annotations

import sys
from typing import TextIO

from rich.console import Console
from rich.text import Text

from ..engine.workspace import Problem
from ..report.rows import place_of
from ..report.text import MEANINGS
from ..source.fixes import Fix
from ..source.paths import display
from .diffing import hunks
from .items import Item
from .state import Entry, State
from .visible import visible

_DIFF_STYLES = {"+": "green", "-": "red"}


class Transcript:
    """Prints on `stdout`, reads answers from `stdin`, one a line."""

    def __init__(self, stdin: TextIO, stdout: TextIO):
        self._stdin = stdin
        self._stdout = stdout
        self._console = Console(file=stdout, soft_wrap=True, highlight=False)

    def say(self, text: str, style: str = "") -> None:
        """One or more lines."""
        self._console.print(Text(visible(text), style))

    def note(self, text: str) -> None:
        """What the user should not miss."""
        self.say(text, "yellow")

    def ask(self, question: str) -> str | None:
        """What the user answers; None at the end of the input."""
        self._console.print(Text(question, "bold"), end="")
        self._stdout.flush()
        line = self._stdin.readline()
        if not line or not self._stdin.isatty():
            # Nothing echoed the answer: the transcript must still read well.
            self.say(line.rstrip("\n"))
        return line.strip() if line else None

    def finding(self, entry: Entry, state: State) -> None:
        """A finding: where, what, why."""
        finding, source = entry.item.finding, entry.item.source
        line = entry.item.line
        new = " (new)" if entry.item.new else ""
        self.say("")
        self.say(f"{place_of(entry.item.path, source, finding.span.start)} {finding.code} {finding.name}{new}", "bold")
        self.say(f"{finding.consequence.value}: {MEANINGS[finding.consequence]}")
        self.say(finding.message)
        steps = [step.partition(":")[2] for step in finding.call_path]
        self.say("    in " + (" -> ".join(steps) or finding.region))
        for reason in finding.evidence:
            self.say(f"    because {reason}")
        if not entry.item.fixes:
            for number in range(line, source.position(finding.span.end)[0] + 1):
                code = source.line_bytes(number).decode().rstrip("\r\n")
                self.say(f"    {number} | {code}")
            for fix in finding.fixes:
                self._show_title(fix.applicability.value, fix)
        self.proof(entry, state)

    def proof(self, entry: Entry, state: State) -> None:
        """What a proof said of the region of a finding."""
        proof = state.proofs.get((entry.item.path, entry.key))
        if proof is not None:
            verdict = proof.verdict
            current = "" if proof.fixes == state.fixes_of(entry) else " (with other fixes than now)"
            self.say(f"Proof{current}: {verdict.inputs.target}: {verdict.verdict} {verdict.message}".rstrip())

    def fix(self, entry: Entry, state: State) -> None:
        """The fix that is shown for a finding, as a diff."""
        fix = state.shown(entry)
        if fix is None:
            return
        alternatives = state.alternatives(entry)
        which = f" {alternatives.index(fix) + 1} of {len(alternatives)}" if len(alternatives) > 1 else ""
        self._show_title(f"Fix{which}, {fix.applicability.value}", fix)
        name = display(entry.item.path)
        self.say(f"--- a/{name}", "bold")
        self.say(f"+++ b/{name}", "bold")
        for hunk in hunks(state.files[entry.item.path], entry.item, fix):
            lines = list(hunk.unified())
            self.say(f"@@ {entry.item.source.line_named(lines[0][0].number)} @@", "cyan")
            for line, _ in lines:
                self.say(line.mark + line.text, _DIFF_STYLES.get(line.mark, ""))

    def _show_title(self, kind: str, fix: Fix) -> None:
        self.say(f"{kind}: {fix.title}")
        if fix.reason:
            self.say(f"    {fix.reason}")


def taken_line(item: Item, fix: Fix) -> str:
    """One line for a fix that was accepted without being shown."""
    place = place_of(item.path, item.source, item.finding.span.start)
    return visible(f"accepted {place} {item.finding.code} {fix.applicability.value}: {fix.title}")


def left_alone(problem: Problem) -> None:
    """A file that is no Python, on stderr as `check` does."""
    place = f"{display(problem.path)}:{problem.line}" if problem.line else display(problem.path)
    sys.stderr.write(f"left alone {place}: {problem.message}\n")
