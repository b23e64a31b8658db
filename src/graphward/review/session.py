"""A whole review: file by file, written and checked again until nothing new is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Protocol

from ..config import Config
from ..engine.check import CheckResult, check
from ..engine.fixpoint import MAX_PASSES
from ..engine.run import rules_of
from ..engine.shards import Shard
from ..engine.workspace import Problem, Workspace
from ..rules.finding import Finding
from ..source.paths import display
from ..source.text import NotText, SourceText
from ..source.writing import write_atomic
from .decisions import State, start


class End(Enum):
    """How the review of a file ended."""

    DONE = "done"
    SKIPPED = "skipped"
    QUIT = "quit"


class Front(Protocol):
    """Whoever takes the decisions."""

    def decide(self, state: State) -> tuple[State, End]:
        """Take the user through the findings; what the returned state has accepted is written, however it ended."""

    def note(self, text: str) -> None:
        """Tell the user."""

    def left_alone(self, problem: Problem) -> None:
        """Tell the user of a file that cannot be read as Python."""


@dataclass
class Summary:
    """What came of it. `complete` is false when the user left before all was seen."""

    applied: int = 0
    written: list[Path] = field(default_factory=list)
    left: int = 0
    complete: bool = True


def review(parts: Sequence[Shard], config: Config, front: Front, summary: Summary, *, take_safe: bool) -> None:
    """Review the files of `parts`. `summary` is kept up to date, so that it holds when an interrupt ends the review.

    Raises GraphwardError when a file cannot be read or written.
    """
    for part in parts:
        session = _Session(part, config, front, summary, take_safe)
        if not session.run():
            summary.complete = False
            return


class _Session:
    """The review of files that must be checked together."""

    def __init__(self, part: Shard, config: Config, front: Front, summary: Summary, take_safe: bool):
        self._files = part.files
        self._config = config
        self._rules = rules_of(config)
        self._front = front
        self._summary = summary
        self._take_safe = take_safe
        self._workspace = Workspace(part.files)
        self._result = CheckResult()

    def run(self) -> bool:
        """Whether the user stayed to the end."""
        self._check()
        for problem in self._result.problems:
            self._front.left_alone(problem)
        stayed = all(self._review_file(path) for path in self._files)
        self._summary.left += len(self._result.all_findings())
        return stayed

    def _check(self) -> None:
        self._result = check(self._workspace, self._rules, self._config)

    def _review_file(self, path: Path) -> bool:
        seen: Counter[tuple] = Counter()
        take_safe = self._take_safe
        for _ in range(MAX_PASSES):
            entry = self._result.files.get(path)
            if entry is None:
                return True
            if _changed_on_disk(entry.source):
                self._front.note(f"{display(path)} has changed on disk; reading it again.")
                if not self._read_again(path):
                    return True
                continue
            fresh = _unseen(entry.source, entry.findings, seen)
            if not fresh:
                return True
            state, end = self._front.decide(start(entry.source, fresh, take_safe=take_safe))
            take_safe = state.take_safe
            kept = not state.accepted or self._write(path, state)
            if end is not End.DONE:
                return end is End.SKIPPED
            if not kept:
                if not self._read_again(path):
                    return True
                seen.clear()
                continue
            seen.update(_key(entry.source, f) for f in state.decided)
            if not state.accepted:
                return True
        self._front.note(f"{display(path)}: its fixes do not come to rest; please report it.")
        return True

    def _write(self, path: Path, state: State) -> bool:
        """Write what was accepted, and check again; False, with nothing written, when the file changed meanwhile."""
        if _changed_on_disk(state.source):
            count = len(state.accepted)
            dropped = "the fix accepted for it is" if count == 1 else f"the {count} fixes accepted for it are"
            self._front.note(f"{display(path)} changed on disk meanwhile: {dropped} dropped, nothing is written.")
            return False
        write_atomic(path, state.preview.to_bytes())
        self._summary.applied += len(state.accepted)
        if path not in self._summary.written:
            self._summary.written.append(path)
        self._workspace.replace(path, state.preview)
        self._check()
        return True

    def _read_again(self, path: Path) -> bool:
        """Take the file as it now is on disk, and check again; False when it is no Python text any more."""
        try:
            self._workspace.replace(path, SourceText.from_bytes(path, path.read_bytes()))
        except NotText as error:
            problem = Problem(path, error.line, str(error))
        except OSError as error:
            problem = Problem(path, 0, f"cannot be read: {error.strerror}")
        else:
            self._check()
            parse_problem = self._workspace.problems.get(path)
            if parse_problem is None:
                return True
            problem = parse_problem
        self._front.left_alone(problem)
        self._result.files.pop(path, None)
        return False


def _changed_on_disk(source: SourceText) -> bool:
    try:
        return SourceText.from_bytes(source.path, source.path.read_bytes()) != source
    except (NotText, OSError):
        return True


def _key(source: SourceText, finding: Finding) -> tuple:
    """What makes a finding the same one after the file was rewritten around it."""
    return finding.code, finding.region, finding.message, source.utf8[finding.span.start : finding.span.end]


def _unseen(source: SourceText, findings: Sequence[Finding], seen: Counter[tuple]) -> list[Finding]:
    """The findings beyond those that have been decided."""
    left = Counter(seen)
    fresh = []
    for finding in findings:
        key = _key(source, finding)
        if left[key]:
            left[key] -= 1
        else:
            fresh.append(finding)
    return fresh
