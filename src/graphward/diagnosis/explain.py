"""Diagnoses: what the errors of a log mean, where they come from and what mends them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..knowledge.errors import ErrorEntry, registry
from ..rules.registry import all_rules
from ..rules.rule import FAMILIES
from .frames import Frame, own
from .lines import LogLine, Stream, streams
from .match import Match, entries_in, entry_of, nearest
from .reports import PLACES, Report, is_remark, reports
from .texts import Texts, texts

# What somebody pastes is short, and may be a message without its exception's name.
_PASTED_LINES = 60
_COMPLAINT = re.compile(
    r"(?i)\b(?:error|exception|fail|unsupported|invalid|not support|can ?not|could not|unable|must be|should be)"
    r"|报错|错误|失败|不支持|无法|异常"
)
_ORDER = (*PLACES, "")
_NUMBERS = re.compile(r"\d+")
# How much below a line that is recognised belongs to it: the places that it names.
_LINES_BELOW = 12


@dataclass(frozen=True)
class Near:
    """An entry that an unknown message comes near to."""

    entry: str
    title: str


@dataclass(frozen=True)
class Diagnosis:
    """What is known of one error.

    `entry` is the id in the registry, empty when the message is unknown; then `nearest` names entries that come near,
    as it does for messages that MindSpore never raises. `message` are MindSpore's own words (one line). `place` is the
    user's own line, None where the text names none, and `found_in` is one of PLACES: in "graph" it lies in the code
    that is compiled, else where that is called; `frames` is the way to it, the outermost first. `rules` are codes, or
    beginnings of codes, of what mends it, and `command` is what to run; both may be empty. `log_line` is where the
    error begins in the text, `ranks` are the processes that raised it and `count` is how often it was raised.
    """

    title: str
    cause: str
    cure: str
    message: str
    log_line: int
    entry: str = ""
    name: str = ""
    construct: str = ""
    exception: str = ""
    raised: tuple[str, ...] = ()
    versions: str = ""
    place: Frame | None = None
    found_in: str = ""
    frames: tuple[Frame, ...] = ()
    rules: tuple[str, ...] = ()
    command: str = ""
    ranks: tuple[str, ...] = ()
    count: int = 1
    nearest: tuple[Near, ...] = ()

    @property
    def known(self) -> bool:
        return bool(self.entry)

    @property
    def file(self) -> str | None:
        """The file of the user's own line, as the text names it."""
        return self.place.path if self.place else None

    @property
    def line(self) -> int | None:
        """The user's own line (1-based)."""
        return self.place.line if self.place else None

    @property
    def proof(self) -> str:
        """The command that rewrites the file and proves each rewrite."""
        return f"graphward migrate {_quoted(self.file)}"


def diagnose(text: str, *, language: str = "en", message: bool = False) -> list[Diagnosis]:
    """What the errors in a text mean: a message, a traceback, or a whole log with lines of many processes.

    Known errors come first, then unknown ones, each in the order of the log; the same error of several processes is
    one diagnosis. Empty when the text holds no error; with `message` it is taken for one, however it reads. Runs
    nothing, reads no file.
    """
    words = texts(language)
    found: list[Diagnosis] = []
    whole = streams(text)
    for stream in whole:
        errors, rest = reports(stream)
        found += [_diagnosis(report, words) for report in errors]
        found += _in_plain_lines(stream, rest, words)
    pasted = None if found else _pasted(whole)
    if pasted and (message or len(pasted.body) <= _PASTED_LINES):
        if message or _COMPLAINT.search(pasted.text) or entry_of(pasted):
            found = [_diagnosis(pasted, words)]
    if any(d.exception for d in found):
        # What MindSpore logs besides an exception says nothing that the exception does not say.
        found = [d for d in found if d.known or d.exception]
    merged = _merged(sorted(found, key=lambda d: d.log_line))
    general = {entry.id for entry in registry() if entry.general}
    return sorted(merged, key=lambda d: (0 if d.known and d.entry not in general else 1 if d.known else 2))


def known_rules(rules: Iterable[str]) -> tuple[str, ...]:
    """Those codes, or beginnings of codes, that some codemod at hand has."""
    codes = [rule.code for rule in all_rules()]
    return tuple(item for item in rules if any(code.startswith(item) for code in codes))


def command_for(entry: ErrorEntry, rules: Iterable[str], path: str | None) -> str:
    """What to run: the entry's own command, or the diff of the codemods that mend such an error."""
    if entry.command or not rules:
        return entry.command
    return f"graphward fix {_quoted(path)} --select {','.join(rules)} --unsafe-fixes"


def described(rules: Iterable[str], words: Texts) -> Iterator[tuple[str | None, str]]:
    """`(code, name and first sentence)` of each rule; `(None, text)` for the beginning of codes."""
    by_code = {rule.code: rule for rule in all_rules()}
    for item in rules:
        rule = by_code.get(item)
        if rule is not None:
            yield item, f"{rule.name}: {words.of_rule(item, rule.summary())}"
        else:
            family = FAMILIES.get(item[:3], "")
            yield None, words.say("family", prefix=item, family=family)


def _quoted(path: str | None) -> str:
    """A path for a command; the current folder for code without a file."""
    return shlex.quote(path) if path and not path.startswith("<") else "."


def _diagnosis(report: Report, words: Texts, matched: Match | None = None) -> Diagnosis:
    matched = matched or entry_of(report)
    place, found_in = report.place
    seen: dict[str, Any] = {
        "exception": report.exception, "place": place, "log_line": report.number,
        "found_in": found_in,
        "frames": tuple(own(report.code_stack) or own(report.traceback)),
        "ranks": (report.rank,) if report.rank else (),
    }  # fmt: skip
    if matched is None:
        near = _near(nearest(report.message or report.text), words)
        known = "mindspore" if report.of_mindspore or near else "other"
        return Diagnosis(
            title=words.say(f"unknown-{known}"), cause=words.say(f"unknown-{known}-cause"),
            cure=words.say("unknown-cure"), message=report.headline, nearest=near, **seen,
        )  # fmt: skip
    entry, match = matched
    groups = match.groupdict()
    if place is None and groups.get("file") and groups.get("line"):  # the message itself says where
        place = seen["place"] = Frame(groups["file"], int(groups["line"]))
        seen["found_in"] = "log"
    rules = known_rules(entry.rules_for(place.code if place else ""))
    fields = ("title", "cause", "cure", "construct")
    filled: dict[str, Any] = {name: words.of(entry, name, groups) for name in fields}
    return Diagnosis(
        entry=entry.id, name=entry.name, message=_line_of(match).removeprefix(f"{report.exception}: "),
        raised=entry.raised, versions=entry.versions, rules=rules,
        command=command_for(entry, rules, place.path if place else None),
        nearest=_near((e for e in registry() if e.id in entry.nearest), words), **filled, **seen,
    )  # fmt: skip


def _line_of(match: re.Match[str]) -> str:
    """The line of the text in which something was recognised."""
    return match.string[match.string.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0].strip()


def _near(entries: Iterable[ErrorEntry], words: Texts) -> tuple[Near, ...]:
    return tuple(Near(entry.id, words.of_its_message(entry, "title")) for entry in entries)


def _in_plain_lines(stream: Stream, rest: list[LogLine], words: Texts) -> Iterator[Diagnosis]:
    """Known messages in lines that are no exception: warnings, what a program logs, `Segmentation fault`."""
    # The steps of a training differ in their numbers only: one of each kind is looked at.
    kinds = {_NUMBERS.sub("", rest[i].text): i for i in range(len(rest) - 1, -1, -1)}
    indexes = sorted(kinds.values())
    text = "\n".join(rest[i].text for i in indexes)
    for entry, match in entries_in(text):
        index = indexes[text.count("\n", 0, match.start())]
        around = [line.text for line in rest[index : index + _LINES_BELOW]]
        yield _diagnosis(Report("", rest[index].number, stream.rank, around), words, (entry, match))


def _pasted(whole: list[Stream]) -> Report | None:
    """A text without any exception's name as one message, warnings left out; None for a text of nothing else."""
    lines = [line for stream in whole for line in stream.lines if line.text.strip() and not is_remark(line.text)]
    return Report("", lines[0].number, "", [line.text for line in lines]) if lines else None


def _merged(found: Iterable[Diagnosis]) -> list[Diagnosis]:
    """Each error once: the same one of other processes, or MindSpore's log record of an exception that follows."""
    kept: list[Diagnosis] = []
    for diagnosis in found:
        for i, other in enumerate(kept):
            if _same(diagnosis, other):
                best = min(other, diagnosis, key=_vagueness)
                ranks = tuple(dict.fromkeys((*other.ranks, *diagnosis.ranks)))
                kept[i] = replace(
                    best, ranks=ranks, count=other.count + diagnosis.count, log_line=other.log_line,
                    exception=best.exception or other.exception or diagnosis.exception,
                )  # fmt: skip
                break
        else:
            kept.append(diagnosis)
    return kept


def _vagueness(diagnosis: Diagnosis) -> tuple[int, bool]:
    return _ORDER.index(diagnosis.found_in), diagnosis.place is not None and diagnosis.place.of_a_block


def _same(one: Diagnosis, other: Diagnosis) -> bool:
    if (one.entry, one.entry or one.message) != (other.entry, other.entry or other.message):
        return False
    if one.place is None or other.place is None or (one.file, one.line) == (other.file, other.line):
        return True
    if one.place.holds(other.place) or other.place.holds(one.place):  # one text was cut off before the line itself
        return True
    # MindSpore logs the place in the graph, and raises an exception that names the call of the network alone.
    told_twice = one.message in other.message or other.message in one.message
    return one.found_in != other.found_in and told_twice
