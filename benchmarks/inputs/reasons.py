"""Why a Cell cannot be run: one reason for each failed inference, by the stage and the error."""

from __future__ import annotations

import re
from typing import Any

RUNS = "runs"
_OF_IMPORT = (
    ("import: the package wants another version of MindSpore or Transformers", re.compile(
        r"No module named '(mindspore|transformers)|cannot import name|has no attribute")),
    ("import: a third-party package is missing", re.compile(
        r"No module named|requires? the|not installed|pip install")),
)  # fmt: skip
_OF_CONSTRUCT = (
    ("constructor: a file or a download is needed", re.compile(
        r"No such file|checkpoint|pretrained|urlopen|Connection|resolve|huggingface|download|not a directory", re.I)),
    ("constructor: MindSpore lacks a name or refuses an argument name", re.compile(
        r"unexpected keyword|has no attribute|cannot import name|No module named")),
    ("constructor: a device or a parallel run is needed", re.compile(
        r"\brank\b|All(Reduce|Gather)|communication|Ascend|device_target|parallel", re.I)),
)
_OF_CALL = (
    ("call: not implemented by the class (abstract)", re.compile(r"NotImplementedError|^$")),
    ("call: a shape fits nowhere", re.compile(
        r"shape|dimension|dim\b|broadcast|unpack|rank|size|reshape|axis|channel|out of range|length", re.I)),
    ("call: a dtype fits nowhere", re.compile(r"dtype|type", re.I)),
    ("call: MindSpore lacks a name or refuses an argument", re.compile(r"has no attribute|unexpected keyword")),
)  # fmt: skip


def reason(end: dict[str, Any]) -> tuple[str, str]:
    """`(reason, message)` for the end of the stage that inferred inputs of one Cell."""
    if end["kind"] == "timeout" and (end["value"] is None or end["value"]["error"] is None):
        return "no end within the time", end.get("reason", "")
    if end["value"] is None or (end["kind"] == "crash" and end["value"]["error"] is None):
        return "the process died (memory, a signal)", (end.get("reason") or "") + (end.get("tail") or "")[-200:]
    error = end["value"]["error"]
    if error is None:
        return RUNS, ""
    text = f"{error['type']}: {error['message']}"
    if error["no_kernel"]:
        return "call: CPU lacks a kernel", text
    if error["stage"] == "import":
        return _first(_OF_IMPORT, text, "import: another error"), text
    if error["stage"] == "construct":
        return _first(_OF_CONSTRUCT, text, "constructor: guessed arguments are refused"), text
    if error["type"] == "Unknown":
        return "constructor: an argument cannot be guessed", text
    if "NotImplementedError" in error["text"] or error["type"] == "NotImplementedError":
        return _OF_CALL[0][0], text
    return _first(_OF_CALL[1:], text, "call: another error"), text


def _first(table: tuple[tuple[str, re.Pattern[str]], ...], text: str, otherwise: str) -> str:
    return next((name for name, pattern in table if pattern.search(text)), otherwise)
