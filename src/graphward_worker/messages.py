"""An exception reduced to what its reader needs: the first meaningful line and the place in the user's tree."""

from __future__ import annotations

import linecache
import os
import re
import traceback
from typing import Any

_PLACE = re.compile(r"In file (?P<path>[^\n]+?):(?P<line>\d+)(?:~(?P<end_line>\d+))?, (?P<column>\d+)~(?P<end>\d+)")
_RULER = re.compile(r"^[-=\s]*$")
_HEADING = re.compile(r"^-? ?(C\+\+ Call Stack|The Traceback of Net Construct Code|Framework )")
_TRACE = "The Traceback of Net Construct Code"
_CALL_STACK = re.compile(r"-{20,}\n- C\+\+ Call Stack.*?(?=\n-{20,}\n- |\Z)", re.DOTALL)
_NO_KERNEL = re.compile(
    r"[Kk]ernel select failed|Unsupported op \[|[Kk]ernel \S+ (is )?unregistered|kernel of \S+ is not registered"
    r"|Select CPU operator\[\w+\] fail|Create kernelmod for op \w+ failed|Not found op \w+ on device"
    r"|^\w+ only supports Ascend\b|^'\w+' is not supported on this device"
)
_UNSUPPORTED = re.compile(r"Unsupported op \[(\w+)")
_KERNEL_NAME = re.compile(
    r"Unsupported op \[(?:const )?(\w+)|[Kk]ernel (\w+) (?:is )?unregistered|kernel of (\w+) is not registered"
    r"|Select CPU operator\[(\w+)\]|Create kernelmod for op (\w+)|Not found op (\w+)|^(\w+) only supports Ascend"
    r"|^'(\w+)' is not supported"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|(?<=,)\s+(?=[Pp]lease )")
_ADVICE = re.compile(
    r"https?://|^You can use os\.environ\['MS_DEV_JIT_SYNTAX_LEVEL'\]|^Try to set jit_syntax_level"
    r"|^(For )?[Mm]ore details"
)
_LINE_LIMIT = 400
_TEXT_LIMIT = 6000


def describe(error: BaseException, stage: str, tree: str) -> dict[str, Any]:
    """`stage`, `type`, `message` (one line), `path` (relative to the tree), `line`, `column`, `end_column` (1-based,
    None when unknown), `text` (the whole message without MindSpore's C++ call stack), `no_kernel`, `kernel` (the
    operator without one)."""
    text = str(error)
    place = _place_in_text(text, tree) or _place_in_traceback(error, tree) or {}
    return {
        "stage": stage,
        "type": type(error).__name__,
        "message": first_line(text) or type(error).__name__,
        "path": place.get("path"),
        "line": place.get("line"),
        "column": place.get("column"),
        "end_column": place.get("end_column"),
        "text": _CALL_STACK.sub("", text).strip()[:_TEXT_LIMIT],
        "no_kernel": lacks_kernel(text),
        "kernel": missing_kernel(text),
    }


def lacks_kernel(text: str) -> bool:
    """Whether an error says that this device has no kernel for an operator.

    Operators are in CamelCase; the compiler's own primitives (`string_eq`) are not, and no device has a kernel for
    one that is left over, so that is a refusal of the code."""
    unsupported = _UNSUPPORTED.search(text)
    return bool(_NO_KERNEL.search(text)) and not (unsupported is not None and unsupported[1][:1].islower())


def missing_kernel(text: str) -> str | None:
    """The operator without a kernel, as the error names it."""
    found = _KERNEL_NAME.search(text) if lacks_kernel(text) else None
    return None if found is None else next(name for name in found.groups() if name)


def first_line(text: str) -> str:
    """MindSpore puts rulers, headings and blank lines around the one line that says what is wrong, and advice behind
    it: to give up on compiling (LAX), or a link."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not _RULER.match(line) and not _HEADING.match(line)]
    for i, line in enumerate(lines):
        if _PLACE.search(line):
            continue
        line = line[2:] if line.startswith("- ") else line
        if line.endswith(":") and i + 1 < len(lines):
            line = f"{line} {lines[i + 1]}"
        return _without_advice(line)[:_LINE_LIMIT]
    return ""


def _without_advice(line: str) -> str:
    kept = " ".join(part for part in _SENTENCE.split(line) if not _ADVICE.search(part))
    return kept.rstrip(",") or line


def places(text: str, tree: str) -> list[dict[str, Any]]:
    """Every `In file F:line, column~column` that points into the tree, positions 1-based."""
    found = []
    for match in _PLACE.finditer(text):
        path = relative(match["path"], tree)
        if path is not None:
            line = int(match["line"])
            end_line = int(match["end_line"] or line)
            found.append(
                {
                    "path": path,
                    "line": line,
                    "column": int(match["column"]) + 1,
                    "end_line": end_line,
                    "end_column": int(match["end"]) + 1,
                }
            )
    return found


def source_of(place: dict[str, Any], tree: str) -> str:
    """The user's code between two positions, in one line."""
    path = os.path.join(tree, place["path"])
    lines = [linecache.getline(path, number) for number in range(place["line"], place["end_line"] + 1)]
    if not all(lines):
        return ""
    lines[-1] = lines[-1][: place["end_column"] - 1]
    lines[0] = lines[0][place["column"] - 1 :]
    return " ".join(" ".join(lines).split())[:_LINE_LIMIT]


def relative(path: str, tree: str) -> str | None:
    """`path` relative to `tree` with forward slashes, or None when it lies elsewhere."""
    real = os.path.realpath(path)
    tree = os.path.realpath(tree)
    if not real.startswith(tree + os.sep):
        return None
    return os.path.relpath(real, tree).replace(os.sep, "/")


def _place_in_text(text: str, tree: str) -> dict[str, Any] | None:
    """The compiler may name the offending node in the message itself; below follow the calls that led there, the
    outermost first."""
    message, _, trace = text.partition(_TRACE)
    return next(iter(places(message, tree)), None) or next(reversed(places(trace, tree)), None)


def _place_in_traceback(error: BaseException, tree: str) -> dict[str, Any] | None:
    if isinstance(error, SyntaxError) and error.filename:
        path = relative(error.filename, tree)
        if path is not None:
            return {"path": path, "line": error.lineno}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = relative(frame.filename, tree)
        if path is not None:
            return {"path": path, "line": frame.lineno}
    return None
