"""Recorded calls as the inputs of proofs: which of them, and what the worker gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphward.recordings import Recording, Recordings
from graphward.verify.targets import Target
from graphward_worker.recording.plain import call as call_text
from graphward_worker.recording.plain import children, obstacle, text

_TRIES = 2
"""Recorded calls of one kind that a proof tries, when the first is not accepted."""
_OTHERS = 2
"""Calls of other kinds (another argument is None, a flag is set) that a proof must hold for as well."""


def recorded_inputs(recordings: Recordings, target: Target) -> dict[str, Any] | None:
    """What was recorded of a target, for a job of the worker. None when nothing was.

    `calls`, best first, are of the kind that was seen most often, `others` one each of further kinds. Each call has
    `samples` (arguments of calls like it), `constructor` (None when it must not be used), `outline` and `init_outline`
    (to know the target again), `folder` (of the arrays), `training`, `specs` and `target` (texts for the verdict),
    `note`, `command`, and `replay` (how to run the script again, when the data are not enough; else None).
    """
    name = _head(target.expr)
    found = [
        (recording, call)
        for recording in recordings.of(target.path, name)
        for call in sorted(recording.calls, key=lambda c: -c["count"])
        if call["completed"]
    ]
    pairs = [(_structure(call["samples"][0]), _call(recording, call, target)) for recording, call in found]
    calls = [(structure, call) for structure, call in pairs if call is not None]
    # What can be made from the data says more, in less time, than a script that runs again.
    usable = [(s, c) for s, c in calls if c["replay"] is None] or calls
    if not usable:
        return None
    kinds: dict[str, list[dict[str, Any]]] = {}
    for structure, call in usable:
        kinds.setdefault(structure, []).append(call)
    first, *others = kinds.values()
    return {"calls": first[:_TRIES], "others": [other[0] for other in others[:_OTHERS]]}


def _structure(sample: dict[str, Any]) -> str:
    """What decides which way a graph takes: the kinds of the arguments, and the values of flags and texts."""
    return repr([[_kind(node) for node in sample["args"]], {k: _kind(v) for k, v in sorted(sample["kwargs"].items())}])


def _kind(node: dict[str, Any]) -> Any:
    if node["kind"] == "constant":
        return node["value"] if node["type"] in ("None", "bool", "str") else node["type"]
    return [node["kind"], node.get("dtype"), *map(_kind, children(node))]


def _call(recording: Recording, call: dict[str, Any], target: Target) -> dict[str, Any] | None:
    is_cell = recording.kind == "cell"
    constructor = None if call["constructor"] is None else recording.constructors[call["constructor"]]
    made_by_user = "(" in (target.expr or "")
    first = call["samples"][0]
    nodes = [*first["args"], *first["kwargs"].values()]
    made = [*constructor["args"], *constructor["kwargs"].values()] if constructor and not made_by_user else []
    specs = [*map(text, first["args"]), *(f"{name}={text(node)}" for name, node in first["kwargs"].items())]
    times = "once" if call["count"] == 1 else f"{call['count']} times"
    others = len(recording.calls) - 1 + recording.further
    also = f"; {others} other {'kind of call' if others == 1 else 'kinds of calls'}" if others else ""
    wrong = next(filter(None, map(obstacle, [*made, *nodes])), "")
    if is_cell and constructor is None and not made_by_user:
        wrong = "how it was made was not seen"
    data = _relative(
        {
            "samples": call["samples"],
            "constructor": constructor if is_cell else None,
            "outline": recording.outline,
            "init_outline": recording.init_outline,
            "folder": str(recording.run),
            "training": bool(call.get("training")),
            "specs": specs,
            "target": call_text(recording.qualname, constructor["args"], constructor["kwargs"])
            if constructor
            else recording.qualname,
            "note": f"recorded from `{recording.command_text}`: called so {times}{also}",
            "command": recording.command_text,
            "replay": None,
        },
        recording.root,
        target.tree,
    )
    if wrong:
        again = _replay(recording, target) if is_cell else None
        if again is None:
            return None
        data["replay"] = again
        data["note"] += f"; run again for the proof, since this cannot be stored: {wrong}"
    return data


def _replay(recording: Recording, target: Target) -> dict[str, Any] | None:
    """How to run the recorded process again; None when that is not known, or it did not run inside the tree."""
    start = recording.start()
    if start is None or not recording.root.is_relative_to(target.tree):
        return None
    arguments, folder = start
    if not folder.is_relative_to(target.tree):
        return None
    place = folder.relative_to(target.tree).as_posix()
    return {"arguments": arguments, "folder": place, "root": str(target.tree)}


def _relative(data: Any, root: Path, tree: Path) -> Any:
    """The data with every `file` of a reference relative to `tree`, since a proof may run in a tree below, or above,
    the folder in which was recorded."""
    if isinstance(data, list):
        return [_relative(item, root, tree) for item in data]
    if not isinstance(data, dict):
        return data
    made = {key: _relative(value, root, tree) for key, value in data.items()}
    if "module" in made and isinstance(made.get("file"), str):
        path = root / made["file"]
        made["file"] = path.relative_to(tree).as_posix() if path.is_relative_to(tree) else None
    return made


def _head(expr: str | None) -> str:
    return (expr or "").partition("(")[0].strip()
