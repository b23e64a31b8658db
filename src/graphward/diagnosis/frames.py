"""Places in code that an error names: MindSpore's `In file ...` and Python's `File ...`, and which are the user's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

# Since 2.6 with columns; before, the number of the line stands in brackets.
_IN_FILE = re.compile(
    r"In file (?P<path>[^\n]+?)(?:\((?P<old>\d+)\)|:(?P<line>\d+)(?:~(?P<end_line>\d+))?"
    r"(?:, (?P<column>\d+)~(?P<end>\d+))?)(?=[\s.,;/:)]|$)"
)
_PYTHON = re.compile(r'^\s*File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>.+))?')
# IPython, and pytest's short form.
_IPYTHON = re.compile(
    r"^(?:File |Cell |Input )(?P<path>\S[^\n]*?)(?::|, line )(?P<line>\d+)(?:, in (?P<function>.+))?$"
)
# Before version 8; the number of the line stands at the arrow below.
_OLD_IPYTHON = re.compile(r"^(?P<path>\S+\.py|<ipython-input-\S+>) in (?P<function>.+)$")
_ARROW = re.compile(r"^-+> ?(?P<line>\d+) ?(?P<code>.*)$")
_PYTEST = re.compile(r"^(?P<path>[^\s:]+\.py):(?P<line>\d+): (?:in (?P<function>\S+)|\w+(?:Error|Exception))?$")
_AT = re.compile(r"^\s+(?P<path>\S.*?)\((?P<line>\d+)\): (?P<function>\S+)$")
_CARETS = re.compile(r"^\s*[\^~]+(?:/[^\n]*)?$")
# More lines than a function has that an error shows.
_FUNCTION_LINES = 200
# As many lines as IPython shows around the one at the arrow.
_AROUND = 12
_LIBRARY = re.compile(r"[\\/](?:site-packages|dist-packages|lib[\\/]python3\.\d+)[\\/]|^<frozen |^mindspore[\\/]")


@dataclass(frozen=True)
class Frame:
    """A place: `line` is 1-based, `column` and `end_column` are 1-based in characters, None when unknown; `code` is
    the text of the line as the log shows it, empty when it does not."""

    path: str
    line: int
    column: int | None = None
    end_column: int | None = None
    code: str = ""
    function: str = ""
    end_line: int | None = None

    @property
    def of_a_library(self) -> bool:
        """Whether the place lies in MindSpore, Python or another installed package."""
        return bool(_LIBRARY.search(self.path))

    @property
    def of_a_block(self) -> bool:
        """Whether it names a whole function or block, not a line."""
        return self.end_line is not None and self.end_line > self.line

    def holds(self, other: Frame) -> bool:
        """Whether it names a block in which the other place lies."""
        return self.of_a_block and self.path == other.path and self.line <= other.line <= (self.end_line or self.line)


def in_file(lines: list[str], i: int) -> Frame | None:
    """The frame of the code stack that line `i` names, with its code from the lines below."""
    match = _IN_FILE.search(lines[i])
    if match is None:
        return None
    column, end = match["column"], match["end"]
    return Frame(
        match["path"], int(match["old"] or match["line"]), int(column) + 1 if column else None,
        int(end) + 1 if end else None, _code(lines, i, match.end()),
        end_line=int(match["end_line"]) if match["end_line"] else None,
    )  # fmt: skip


def python(lines: list[str], i: int) -> Frame | None:
    """The frame of a Python traceback that line `i` names."""
    match = _PYTHON.match(lines[i]) or _PYTEST.match(lines[i])
    if match is None:
        return _in_a_notebook(lines, i)
    return Frame(match["path"], int(match["line"]), code=_code(lines, i), function=(match["function"] or "").strip())


def _in_a_notebook(lines: list[str], i: int) -> Frame | None:
    match = _IPYTHON.match(lines[i]) or _OLD_IPYTHON.match(lines[i])
    if match is None:
        return None
    arrows = (_ARROW.match(line) for line in lines[i + 1 : i + _AROUND])
    arrow = next((found for found in arrows if found is not None), None)
    line = match.groupdict().get("line") or (arrow and arrow["line"])
    if line is None:
        return None
    code = arrow["code"].strip() if arrow is not None and arrow["line"] == line else ""
    return Frame(match["path"].rstrip(","), int(line), code=code, function=(match["function"] or "").strip())


def at(line: str) -> Frame | None:
    """The frame of a Python stack as MindSpore's C++ side logs it below `At:`, the innermost first."""
    match = _AT.match(line)
    return Frame(match["path"], int(match["line"]), function=match["function"]) if match else None


def is_carets(line: str) -> bool:
    """Whether a line does nothing but point at the one above."""
    return bool(_CARETS.match(line))


def own(frames: Iterable[Frame]) -> list[Frame]:
    """Those that lie in the user's code."""
    return [frame for frame in frames if not frame.of_a_library]


def _code(lines: list[str], i: int, after: int = 0) -> str:
    """The text of the line that line `i` names, as it stands below, or between slashes behind the place."""
    behind = lines[i][after:].strip() if after else ""
    if behind.startswith("/") and behind.endswith("/") and len(behind) > 1:
        return behind.strip("/").strip()
    following = lines[i + 1] if i + 1 < len(lines) else ""
    if not following[:1].isspace() or is_carets(following) or "File " in following[:12]:
        return ""
    # The function may be shown from its start, up to an arrow below the line that is meant.
    for k in range(i + 2, min(i + _FUNCTION_LINES, len(lines))):
        if "<---" in lines[k] and "HERE" in lines[k]:
            return lines[k - 1].strip()
        if not lines[k].strip() or _IN_FILE.search(lines[k]):
            break
    return following.strip()
