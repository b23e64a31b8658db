"""Errors in a stream of lines: where each begins and ends, its message, and the places that it names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .frames import Frame, at, in_file, is_carets, own, python
from .lines import LogLine, Stream

_TRACEBACK = re.compile(r"^(?P<indent>\s*)(?:[\w.]+\s+)?Traceback \(most recent call last\)")
_NAME = r"[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Fault)"
# Chinese keyboards write a colon of full width.
_COLON = r"\s*[:\uff1a]\s?"
_HEADER = re.compile(rf"^\s*(?P<type>{_NAME})(?:{_COLON}(?P<message>.*))?$")
_INSIDE = re.compile(rf"(?<![\w.])(?P<type>(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)){_COLON}(?P<message>\S.*)$")
_RECORD = re.compile(
    r"^\[(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL|EXCEPTION)\] ?[A-Z_]+\(\d+[^)]*\):\S+ ?(?P<message>.*)$"
)
_PLACE_IN_SOURCE = re.compile(r"^\[[\w./-]+:\d+\](?: ?\w+\])? ?")
_LEVEL = re.compile(r"^\s*(?:\[?\d{4}-\d\d-\d\d|\[?(?:INFO|WARNING|DEBUG|WARN)\b|epoch\b|step\b|Epoch\b|Step\b)")
_HEADINGS = "The Traceback of Net Construct Code|The Function Call Stack|Framework |Ascend |Kernel "
_SECTION = re.compile(
    rf"^\s*(?:-? ?(?:C\+\+ Call Stack|{_HEADINGS})|The function call stack|#+ ?\d* ?In file |-{{10,}}$)"
)
_CHAIN = re.compile(r"^(?:During handling of the above exception|The above exception was the direct cause)")
_END_OF_STACK = re.compile(r"\(See file '[^']*'")
# Of the thousands of lines of a log nearly all have nothing of this.
_WORTH_A_LOOK = re.compile(
    r"Error|Exception|Traceback|File |Cell |Input |\.py[: ]|<ipython|Interrupt|Exit|Fault|^\[(?:ERR|CRI|EXC)"
)
_STACK = re.compile(r"C\+\+ Call Stack|Net Construct Code|[Ff]unction [Cc]all [Ss]tack|^\s*#+ ?\d* ?In file ")
_NUMBERED = re.compile(r"^\s*#+ ?\d* ?In file ")
_RULER = re.compile(r"^[-=\s]*$")
_HEADING = re.compile(r"^\s*-? ?(?:C\+\+ Call Stack|The Traceback of Net Construct Code|Framework )")
_CPP = re.compile(r"-{20,}\n- C\+\+ Call Stack.*?(?=\n-{20,}\n- |\Z)", re.DOTALL)
PLACES = ("graph", "traceback", "log")
"""Where the user's line was found, the best first."""
# More lines than any message of MindSpore's has before its first section.
_MESSAGE_LINES = 60


@dataclass
class Report:
    """One error. `message` is what stands before MindSpore's sections, `text` all of it but the C++ call stack;
    `code_stack` and `traceback` are its places, the innermost last; `number` is the log's line on which it begins."""

    exception: str
    number: int
    rank: str
    body: list[str]
    traceback: list[Frame] = field(default_factory=list)
    level: str = ""

    @property
    def text(self) -> str:
        return _CPP.sub("", "\n".join(self.body)).strip()

    @property
    def message(self) -> str:
        kept: list[str] = []
        for line in self.body:
            if kept and _SECTION.match(line):
                break
            kept.append(line)
        return "\n".join(kept).strip()

    @property
    def headline(self) -> str:
        """The one line that says what is wrong; rulers and headings may stand before it."""
        for i, line in enumerate(self.body):
            stripped = line.strip().removeprefix("- ")
            if not stripped or _RULER.match(stripped) or _HEADING.match(line) or is_carets(line):
                continue
            if stripped.endswith(":"):
                more = (text.strip() for text in self.body[i + 1 :] if not _RULER.match(text))
                stripped = f"{stripped} {next(more, '')}".strip()
            return stripped
        return ""

    @property
    def code_stack(self) -> list[Frame]:
        """The way to the place in what is compiled, the outermost first."""
        stacks = self._stacks()
        return stacks["construct"] or stacks["inner"][::-1] or stacks["message"] or stacks["other"]

    @property
    def place(self) -> tuple[Frame | None, str]:
        """The user's own line, and where it was found (PLACES): of what is compiled where that is named, else of the
        traceback, else of the stack that MindSpore's C++ side logs."""
        logged = own(frame for line in self.body if (frame := at(line)) is not None)
        found = (self._compiled_place(), next(reversed(own(self.traceback)), None), next(iter(logged), None))
        return next(((frame, name) for frame, name in zip(found, PLACES) if frame is not None), (None, ""))

    def _compiled_place(self) -> Frame | None:
        """The user's line in what is compiled: one that the message itself names, else the innermost of the stack."""
        stacks = {name: own(frames) for name, frames in self._stacks().items()}
        inside = [frame for frame in stacks["message"] if not frame.of_a_block]
        for frames in (inside, stacks["construct"][::-1], stacks["inner"], stacks["message"], stacks["other"]):
            if frames:
                return frames[0]
        return None

    def _stacks(self) -> dict[str, list[Frame]]:
        """The places by where they stand: in the message, in the stack of what is compiled (the innermost last), in
        that of the running graph (the innermost first), or elsewhere."""
        found: dict[str, list[Frame]] = {"message": [], "construct": [], "inner": [], "other": []}
        section = "message"
        for i, line in enumerate(self.body):
            frame = in_file(self.body, i)
            if frame is not None:
                where = "construct" if section == "message" and _NUMBERED.match(line) else section
                found[where].append(frame)
            elif _SECTION.match(line) and not _RULER.match(line):
                section = "other"
                if "Net Construct Code" in line or "The function call stack" in line:
                    section = "construct"
                elif "Function Call Stack" in line:
                    section = "inner"
        return found

    @property
    def of_mindspore(self) -> bool:
        """Whether MindSpore had a part in it."""
        if any("mindspore" in frame.path for frame in self.traceback):
            return True
        return bool(self.level) or any("mindspore/" in line or "In file " in line for line in self.body)


def is_remark(text: str) -> bool:
    """Whether a line is a record of MindSpore's that is no error."""
    record = _RECORD.match(text)
    return record is not None and record["level"] in ("DEBUG", "INFO", "WARNING")


def reports(stream: Stream) -> tuple[list[Report], list[LogLine]]:
    """The errors of a stream, and the lines that belong to none."""
    found: list[Report] = []
    rest: list[LogLine] = []
    lines = stream.lines
    texts = [line.text for line in lines]
    i = 0
    traceback: list[Frame] = []
    started: int | None = None
    while i < len(lines):
        text = texts[i]
        if started is None and not _WORTH_A_LOOK.search(text):
            rest.append(lines[i])
            i += 1
            continue
        if _TRACEBACK.match(text):
            traceback, started = [], i
            i += 1
            continue
        frame = python(texts, i)
        if frame is not None:
            if started is None:
                started = i
            traceback.append(frame)
            i += 1
            continue
        head = _HEADER.match(text)
        if head is None and (started is None or not text[:1].isspace()):
            head = _INSIDE.search(text) if not _RECORD.match(text) else None
        record = _RECORD.match(text)
        if head is not None:
            end = _end(texts, i + 1)
            begin = lines[started if started is not None else i].number
            body = [head["message"] or "", *texts[i + 1 : end]]
            name = head["type"].rpartition(".")[2]
            found.append(Report(name, begin, stream.rank, body, traceback))
            traceback, started, i = [], None, end
        elif record is not None and record["level"] in ("ERROR", "CRITICAL", "EXCEPTION"):
            end = _end(texts, i + 1)
            first = _PLACE_IN_SOURCE.sub("", record["message"])
            found.append(Report("", lines[i].number, stream.rank, [first, *texts[i + 1 : end]], [], record["level"]))
            i = end
        else:
            if started is None or not (text[:1].isspace() or not text.strip()):
                rest.append(lines[i])
                if started is not None and text.strip() and not text.startswith(("->", "--")):
                    started, traceback = None, []
            i += 1
    return found, rest


def _end(texts: list[str], i: int) -> int:
    """Where an error ends whose message goes on at line `i`."""
    free = i  # since where any text may follow: the message itself, or a section that explains it
    section = False
    while i < len(texts):
        text = texts[i]
        if _TRACEBACK.match(text) or _CHAIN.match(text) or _RECORD.match(text):
            return i
        if _SECTION.match(text):
            section = True
            if not _RULER.match(text):
                free = len(texts) if _STACK.search(text) else i
        elif section and free > i:
            if _END_OF_STACK.search(text):
                return i + 1
            if text.strip() and not _of_a_stack(text):
                return i
        elif i - free >= _MESSAGE_LINES or _LEVEL.match(text) or _HEADER.match(text) or python(texts, i):
            return i
        i += 1
    return i


def _of_a_stack(text: str) -> bool:
    marks = ("#", "-", "mindspore/", "In file", "^", "~", "node:")
    return text[:1].isspace() or text.startswith(marks) or "ccsrc/" in text
