"""Why a Cell cannot be run: one reason for each failed inference, by the stage and the error.

A reason lies outside of what guessing can change only where the error itself says so: a module that cannot be imported,
a file or a package that is not there, a kernel that the machine lacks. An error that other arguments might have avoided
counts as a wrong guess, whatever its text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reason:
    """`outside`: the machine or the package stands in the way, and no other guess would help."""

    name: str
    outside: bool = False


RUNS = Reason("runs")
_NO_IMPORT = Reason("import: another error, or no end of it", True)
_ANOTHER_VERSION = re.compile(
    r"No module named '(mindspore|transformers)|cannot import name|module '[\w.]+' has no attribute"
    r"|type object '\w+' has no attribute"
)
_NO_PACKAGE = re.compile(r"No module named|requires? the \S+ (library|package)|not installed|pip install")
_OF_IMPORT = (
    (Reason("import: the package wants another version of MindSpore or Transformers", True), _ANOTHER_VERSION),
    (Reason("import: a third-party package is missing", True), _NO_PACKAGE),
)
_OF_EVERY_STAGE = (
    (Reason("it runs into a name that this version of MindSpore or Transformers lacks", True), re.compile(
        r"cannot import name|No module named '(mindspore|transformers)|module 'mindspore[\w.]*' has no attribute")),
    (Reason("it runs into a third-party package that is missing", True), _NO_PACKAGE),
    (Reason("it reads a file or downloads one", True), re.compile(
        r"No such file|URLError|HTTPError|ConnectionError|ConnectTimeout|Max retries|name resolution"
        r"|couldn't connect to|Can't load .{0,40}for '")),
    (Reason("it needs a device or a parallel run", True), re.compile(
        r"only supports? (the )?(Ascend|GPU)|(requires?|needs?|must be( run)? on) (an? |the )?(Ascend|GPU|NPU)\b"
        r"|\bhccl|\bnccl|communication (group|operator|service)|World group|(get_rank|get_group_size|init\(\))"
        r"|not support(ed)?( by)?( on)? (device )?'?CPU\b")),
)  # fmt: skip
_NO_KERNEL = Reason("it needs a kernel that CPU lacks", True)
_OF_CALL = (
    (Reason("call: a shape fits nowhere"), re.compile(
        r"shape|dimension|dim\b|broadcast|unpack|rank|size|reshape|axis|channel|out of range|length", re.I)),
    (Reason("call: a dtype fits nowhere"), re.compile(r"dtype|type", re.I)),
)  # fmt: skip


def reason(end: dict[str, Any]) -> tuple[Reason, str]:
    """`(reason, message)` for the end of the stage that inferred inputs of one Cell."""
    if end.get("reason") == "importing":
        return _NO_IMPORT, "importing the module killed the process or hung"
    if end["kind"] == "timeout" and (end["value"] is None or end["value"]["error"] is None):
        return Reason("no end within the time"), end.get("reason", "")
    if end["value"] is None or (end["kind"] == "crash" and end["value"]["error"] is None):
        died = (end.get("reason") or "") + (end.get("tail") or "")[-200:]
        return Reason("the process died (memory, a signal)"), died
    error = end["value"]["error"]
    if error is None:
        return RUNS, ""
    text = f"{error['type']}: {error['message']}"
    if error["stage"] == "import":
        return _first(_OF_IMPORT, text, _NO_IMPORT), text
    if error["no_kernel"]:
        return _NO_KERNEL, text
    outside = _first(_OF_EVERY_STAGE, text, RUNS)
    if outside is not RUNS:
        return outside, text
    if error["type"] == "TooSlow":
        return Reason("no end within the time"), text
    if error["stage"] == "construct":
        return Reason("constructor: guessed arguments are refused"), text
    if error["type"] == "Unknown":
        return Reason("constructor: an argument cannot be guessed"), text
    return _first(_OF_CALL, text, Reason("call: another error")), text


def _first(table: tuple[tuple[Reason, re.Pattern[str]], ...], text: str, otherwise: Reason) -> Reason:
    return next((name for name, pattern in table if pattern.search(text)), otherwise)
