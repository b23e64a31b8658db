"""Which parameters an exception is about: those that stand on the line of the function where it came up."""

from __future__ import annotations

import linecache
import re
from types import CodeType, FrameType
from typing import Any, Callable

_MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)")
_QUOTED = re.compile(r"'(\w+)'")
_NAME = re.compile(r"[A-Za-z_]\w*")
_LINES = 12  # of one statement


def missing(error: BaseException) -> list[str]:
    """The parameters that Python says a call has left out, here or in a function that got them all as `**kwargs`."""
    found = _MISSING.search(str(error)) if isinstance(error, TypeError) else None
    return _QUOTED.findall(found[1]) if found else []


def blamed(error: BaseException, function: Callable[..., Any], names: list[str]) -> list[str]:
    """Those of the parameters `names` of `function` that the failing line reads; where that line lies in another
    function, those on the line of the call whose value a name on the failing line has too."""
    frames = _frames(error)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    at = next((i for i, (frame, _) in enumerate(frames) if frame.f_code is code), None)
    if at is None:
        return []
    own, line = frames[at]
    here = [name for name in names if name in _names(own.f_code, line)]
    below = [frame for frame in frames[at + 1 :] if not _of_libraries(frame[0].f_code)]
    if not below or not here:
        return here
    last, last_line = below[-1]
    on_line = _names(last.f_code, last_line)
    same = [name for name in here if name in on_line]
    if same:
        return same
    held = [last.f_locals[name] for name in on_line if name in last.f_locals]
    holder = last.f_locals.get("self")
    held += [vars(holder)[name] for name in on_line if name in getattr(holder, "__dict__", {})]
    return [name for name in here if any(_same(own.f_locals.get(name), value) for value in held)]


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    return type(a) is type(b) and isinstance(a, (int, float, str, tuple, list)) and a == b


def _frames(error: BaseException) -> list[tuple[FrameType, int]]:
    found = []
    trace = error.__traceback__
    while trace is not None:
        found.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return found


def _of_libraries(code: CodeType) -> bool:
    return "site-packages" in code.co_filename or "/lib/python" in code.co_filename


def _names(code: CodeType, line: int) -> list[str]:
    """The names in the statement that goes on at `line`: up to the line where its brackets close."""
    text = ""
    for number in range(line, line + _LINES):
        text += linecache.getline(code.co_filename, number)
        if sum(text.count(c) for c in "([{") <= sum(text.count(c) for c in ")]}"):
            break
    return _NAME.findall(text)
