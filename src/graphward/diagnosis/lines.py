"""The lines of a log as the program wrote them: without colours, time stamps and the marks of launchers, and one
stream for each process that wrote into it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
# `rank` is the process; the mark stands before a line of one process of many.
_RANKS = (
    re.compile(r"\[\d+,(?P<rank>\d+)\]<std(?:err|out)>:? ?"),  # mpirun --tag-output
    re.compile(r"\[[Rr]ank[ _:]?(?P<rank>\d+)\]:? ?"),
    re.compile(r"[Rr]ank[ _:]?(?P<rank>\d+) ?[|:>] ?"),
    re.compile(r"\[(?P<rank>worker_\d+|rank_\d+)(?:\.log)?\]:? ?"),
    re.compile(r"(?P<rank>worker_\d+|rank_\d+)(?:\.log)?: ?"),  # grep or tail over the logs of msrun
    re.compile(r"==> .*?(?P<rank>worker_\d+|rank_\d+)\.log <=="),
)
# Only when most lines have them: alone they may be part of what a program prints.
_EVERYWHERE = (
    re.compile(r" *(?P<rank>\d+): ?"),  # srun --label
    re.compile(r"(?P<rank>[\w.-]+) +\| ?"),  # docker compose
    re.compile(r"\[(?P<rank>pod/[^\]\s]+)\] ?"),  # kubectl logs --prefix
    re.compile(r"> ?"),  # a quotation
)
_TIME = re.compile(
    r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,:]\d+)*(?:Z|[+-]\d\d:?\d\d)?\]?"
    r"(?: ?std(?:out|err) [FP]\b)?(?:[ \t]*[-|:,]?[ \t]*\[?(?:[\w.]+[ \t]*[-|:][ \t]*)?"
    r"(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\]?(?:[ \t]*\[[\w./:-]+\])?(?:[ \t]*[-|:](?=\s))?)? ?"
)
_PYTEST = re.compile(r"E {3}|E$")
# As many lines as show what all begin with.
_SAMPLE = 2000


@dataclass(frozen=True)
class LogLine:
    """`number` is 1-based in the text as it was given."""

    number: int
    text: str


@dataclass
class Stream:
    """What one process wrote; `rank` is empty when only one did."""

    rank: str
    lines: list[LogLine] = field(default_factory=list)


def decode(data: bytes) -> str:
    """The text of a log: UTF-8, UTF-16 with a BOM, as PowerShell redirects, or the Chinese code page."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace")
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", errors="replace")


def streams(text: str) -> list[Stream]:
    """The streams of a log, in order of appearance."""
    # A progress bar goes back to the start of its line; what it printed last is what one sees.
    raw = _ANSI.sub("", text).replace("\r\n", "\n").split("\n")
    lines = [LogLine(number, line.rstrip("\r").rpartition("\r")[2]) for number, line in enumerate(raw, 1)]
    lines = _without_common_marks(lines)
    found: dict[str, Stream] = {}
    section = ""
    for line in lines:
        rank, rest = _rank(line.text)
        if rank and not rest and line.text.startswith("==>"):
            section = rank
            continue
        name = rank or section
        stream = found.setdefault(name, Stream(name.removeprefix("worker_").removeprefix("rank_")))
        stream.lines.append(LogLine(line.number, _PYTEST.sub("", rest, count=1) if rest.startswith("E") else rest))
    return list(found.values())


def _rank(text: str) -> tuple[str, str]:
    if text[:1] in "[rRw=":
        for mark in _RANKS:
            match = mark.match(text)
            if match:
                return match["rank"], text[match.end() :]
    return "", text


def _without_common_marks(lines: Sequence[LogLine]) -> list[LogLine]:
    """Marks that most lines have: time stamps, names of containers, the `>` of a quotation. Processes are told apart
    by such marks too, which are written in the form that `_rank` reads."""
    lines = list(lines)
    for mark in (*_EVERYWHERE, _TIME):
        filled = [line for line in lines[:: 1 + len(lines) // _SAMPLE] if line.text.strip()]
        matching = [line for line in filled if mark.match(line.text)]
        if len(matching) < 3 or len(matching) * 5 < len(filled) * 4:
            continue
        named = lines if "rank" in mark.groupindex else ()
        names = {m["rank"] for line in named if (m := mark.match(line.text))}
        ranks = {name: i for i, name in enumerate(sorted(names))}
        lines = [LogLine(line.number, _cut(line.text, mark, ranks)) for line in lines]
    return lines


def _cut(text: str, mark: re.Pattern[str], ranks: dict[str, int]) -> str:
    match = mark.match(text)
    if match is None:
        return text
    rest = text[match.end() :]
    if not ranks:
        return rest
    name = match["rank"]
    return f"[rank{name if name.isdigit() else ranks[name]}] {rest}" if len(ranks) > 1 else rest
