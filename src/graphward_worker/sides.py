"""What one version did in Graph Mode, judged against what the original did in PyNative."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import differences
from .compare import Difference
from .differences import Found

End = dict[str, Any]
"""How a play ended (see `children.Child`); its `value` is the record, as far as it came."""

_PLACES = 5  # of a kind that a note names
_VERIFIED = ("verified", "compiles whole and means the same")


def side(verdict: str, message: str, **facts: Any) -> dict[str, Any]:
    """A side with every field; `facts` fills in what is known."""
    result: dict[str, Any] = {
        "verdict": verdict,
        "message": message,
        "compiles": None,
        "nodes": [],
        "interpreted": [],
        "outputs": None,
        "gradients": None,
        "state": None,
        "export": None,
        "compilations": [],
        "difference": None,
        "error": None,
        "lax_error": None,
        "output_tail": "",
        "notes": [],
    }
    unknown = facts.keys() - result.keys()
    assert not unknown, unknown
    result.update(facts)
    return result


def completed(end: End) -> bool:
    """Whether all calls succeeded; what happened later concerns the gradient only."""
    return end["value"] is not None and "after" in end["value"]


def ended(end: End) -> dict[str, Any]:
    """The side of a process that was killed or died."""
    return side(_end_verdict(end), end["reason"], output_tail=end["tail"])


def broken(error: dict[str, Any]) -> dict[str, Any]:
    """The side of an original that does not run in PyNative, or for which no inputs were found."""
    if error["stage"] == "inputs":
        return side("no-inputs", error["message"], error=error)
    return side("no-kernel" if error["no_kernel"] else "original-broken", _sentence(error), error=error)


def reference_problem(reference: End) -> dict[str, Any] | None:
    """Why the original's PyNative play cannot serve as the reference, or None."""
    if completed(reference):
        return None
    return broken(reference["value"]["error"]) if reference["kind"] == "done" else ended(reference)


def refused(strict: End) -> bool:
    """Whether STRICT said no where LAX may say yes."""
    if strict["kind"] != "done" or completed(strict):
        return False
    error = strict["value"]["error"]
    return error["stage"] in ("compile", "call") and not error["no_kernel"]


def refusal(reference: End, strict: End, lax: End, options: dict[str, Any]) -> dict[str, Any]:
    """STRICT refused: `falls-back` when LAX runs it, else `fails` (or what became of the LAX process)."""
    error = strict["value"]["error"]
    if not completed(lax):
        if lax["kind"] != "done":
            facts = {"compiles": False, "error": error, "output_tail": lax["tail"]}
            return side(_end_verdict(lax), f"under LAX: {lax['reason']}", **facts)
        of_lax = lax["value"]["error"]
        verdict = "no-kernel" if of_lax["no_kernel"] else "fails"
        places = {part: lax["value"][part] for part in ("nodes", "interpreted")}
        return side(verdict, _sentence(error), compiles=False, error=error, lax_error=of_lax, **places)
    nodes = lax["value"]["nodes"] or [_node_of(error)]
    lines = sorted({f"{node['path']}:{node['line']}" for node in nodes if node["path"]})
    where = f" at {', '.join(lines[:5])}" if lines else ""
    message = f"runs in the Python interpreter{where}: {error['type']}: {error['message']}"
    notes: list[str] = []
    found = differences.in_calls(reference["value"], lax["value"], options["ignore_state"], notes)
    if found is not None:
        notes.append(f"under LAX it also computes something else: {found.sentence()}")
    elif differences.in_gradients(reference["value"], lax["value"]) is not None:
        notes.append("under LAX its gradient is another one, without an error")
    difference = None if found is None else found.to_json()
    facts = {"nodes": nodes, "interpreted": lax["value"]["interpreted"], "notes": notes, "difference": difference}
    return side("falls-back", message, compiles=False, error=error, **facts)


def accepted(reference: End, strict: End, options: dict[str, Any]) -> dict[str, Any]:
    """STRICT compiled it, or the process died, or it failed where LAX would too."""
    if not completed(strict):
        if strict["kind"] != "done":
            return ended(strict)
        error = strict["value"]["error"]
        compiles = False if error["stage"] == "compile" else None
        return side("no-kernel" if error["no_kernel"] else "fails", _sentence(error), error=error, compiles=compiles)
    want, got = reference["value"], strict["value"]
    compilations = [call["compiled"] for call in got["calls"]]
    notes = differences.parameter_notes(want, got)
    facts: dict[str, Any] = {"compiles": True, "compilations": compilations, "notes": notes}
    facts |= {part: got[part] for part in ("nodes", "interpreted")}
    if got["nodes"]:
        node = got["nodes"][0]
        place = f" at {node['path']}:{node['line']}" if node["path"] else ""
        return side("falls-back", f"the final graph holds {node['name']}{place}", **facts)
    notes += _in_place_notes(got)
    found = differences.in_calls(want, got, options["ignore_state"], notes)
    if found is not None:
        facts["outputs"] = "equal" if found.part == "state" else "differ"
        facts["state"] = "differ" if found.part == "state" else None
        return side("diverges", found.sentence(), difference=found.to_json(), **facts)
    facts["outputs"] = facts["state"] = "equal"
    notes += differences.cut_notes(want)
    if options["ignore_state"]:
        notes.append(f"state not compared, as declared: {', '.join(sorted(options['ignore_state']))}")
    if options["units"] and not compilations[0]:
        return side("falls-back", "nothing of it is compiled: it calls no graph", **facts)
    again = next((number for number, count in enumerate(compilations, 1) if number > 1 and count), None)
    if again is not None:
        return side("recompiles", f"compiles again on call {again} with the same shapes", **facts)
    notes += differences.nan_notes(want)
    verdict, message = _judge_gradients(reference, strict, options, facts)
    return side(verdict, message, **facts)


def _judge_gradients(reference: End, strict: End, options: dict[str, Any], facts: dict[str, Any]) -> tuple[str, str]:
    """Verdict and message; adds to `facts`."""
    want, got = reference["value"], strict["value"]
    if options["gradients"] == "off":
        return _VERIFIED
    if want["gradients"] is None:
        facts["gradients"] = "none"
        if want["error"] is not None or reference["kind"] != "done":
            reason = _sentence(want["error"]) if want["error"] else reference["reason"]
            facts["notes"].append(f"gradients not compared, the original has none: {reason}")
        return _VERIFIED
    if strict["kind"] != "done":
        facts["output_tail"] = strict["tail"]
        return _end_verdict(strict), f"while differentiating: {strict['reason']}"
    if got["error"] is not None:
        facts.update(error=got["error"], gradients="differ")
        verdict = "no-kernel" if got["error"]["no_kernel"] else "fails"
        return verdict, f"the forward graph is right, its gradient fails: {_sentence(got['error'])}"
    found = differences.in_gradients(want, got)
    if found is None:
        facts["gradients"] = "equal"
        return _VERIFIED
    facts.update(gradients="differ", difference=found.to_json())
    return "diverges", found.sentence()


def _in_place_notes(got: dict[str, Any]) -> list[str]:
    """What CPU PyNative, a graph, and PyNative on Ascend do not all understand alike."""
    if not got["in_place"]:
        return []
    places = ", ".join(f"{place['path']}:{place['line']}" for place in got["in_place"][:_PLACES])
    return [
        "the reference is PyNative on this device, where an assignment such as `x += y` makes a new tensor and a "
        "method such as `x.add_(y)` may leave `x` as it was; a graph, and PyNative on Ascend, may write into the "
        f"tensor: {places}"
    ]


def may_be_right(judged: dict[str, Any], strict: End, options: dict[str, Any]) -> bool:
    """Whether the rewrite's own PyNative play can still change the verdict on its graph: nothing differs, or only the
    gradient, which the rewrite was declared to restore."""
    if not completed(strict):
        return False
    return judged["difference"] is None or (judged["gradients"] == "differ" and options["gradients"] == "restored")


def with_own_play(
    judged: dict[str, Any], reference: End, strict: End, own: End, options: dict[str, Any]
) -> dict[str, Any]:
    """The side of a rewrite, now that it was played in PyNative too. People go on debugging there, so a graph that is
    right is not enough; a gradient that was restored must be the one that PyNative gives; and of a rewrite that does
    not compile this tells a fix that does harm from one that is not enough."""
    if judged["gradients"] == "differ" and judged["difference"] is not None:
        if own["value"] is None or own["value"]["gradients"] is None:
            return judged
        found = differences.in_restored_gradients(reference["value"], own["value"], strict["value"])
        if found is not None:
            return {**judged, "message": found.sentence(), "difference": found.to_json()}
        judged["notes"].append("gradients: restored (the original cuts them; declared by the rewrite)")
        judged.update(zip(("verdict", "message"), _VERIFIED), gradients="restored", difference=None)
    error = own["value"] and own["value"]["error"]
    if error and error["no_kernel"]:
        judged["notes"].append(f"the rewrite was not played in PyNative to the end: {_sentence(error)}")
        return judged
    failure = _failure(reference["value"], own)
    if failure is not None:
        message = f"the rewrite does not run in PyNative: {failure}"
        difference = Difference("the rewrite", "error", "runs", f"ends with {failure}", sides=differences.BOTH_PYNATIVE)
        found = Found("pynative", None, difference)
    else:
        same = options["gradients"] == "same"
        found = differences.in_pynative(reference["value"], own["value"], options["ignore_state"], gradients=same)
        if found is None:
            return judged
        message = f"the rewrite means something else in PyNative: {found.sentence()}"
    judged["difference"] = found.to_json()
    if judged["verdict"] in ("verified", "recompiles"):
        judged.update(verdict="diverges" if own["kind"] == "done" else _end_verdict(own), message=message)
    else:
        judged["notes"].append(message)
    return judged


def indistinct(judged: dict[str, Any], reference: End) -> list[str]:
    """Parameters that a rewrite could have taken for one another without a trace: they hold the same values, and no
    gradient tells them apart."""
    gradients = reference["value"]["gradients"] if judged["gradients"] == "equal" else None
    names = differences.twins(reference["value"])
    if gradients is None:
        return names
    return [name for name in names if not gradients[0].get(f"parameter {name}", np.zeros(1)).any()]


def same_parameters(reference: End, strict: End) -> bool:
    """Whether both sides have parameters of the same names."""
    return bool(reference["value"]["before"]["parameters"].keys() == strict["value"]["before"]["parameters"].keys())


def with_distinct(judged: dict[str, Any], reference: End, strict: End, options: dict[str, Any]) -> dict[str, Any]:
    """The side of what verified, now that it was played with other values for each parameter."""
    if not (completed(reference) and completed(strict)):
        return judged
    found = differences.in_calls(reference["value"], strict["value"], options["ignore_state"], [])
    if found is None:
        return judged
    message = f"with other values in each parameter, {found.sentence()}"
    changes = {"outputs": "differ"} if found.part == "outputs" else {"state": "differ"}
    return {**judged, **changes, "verdict": "diverges", "message": message, "difference": found.to_json()}


def with_export(judged: dict[str, Any], reference: End, loaded: End) -> dict[str, Any]:
    """The side of what verified, now that it was exported, loaded and run. A file has no containers: outputs come back
    as one tuple, or as the only one."""
    if not completed(loaded):
        error = loaded["value"] and loaded["value"]["error"]
        if error is None:
            return {**judged, "verdict": _end_verdict(loaded), "message": f"in MINDIR: {loaded['reason']}"}
        stage = "cannot be exported to MINDIR" if error["stage"] != "load" else "does not run from its MINDIR file"
        verdict = "no-kernel" if error["no_kernel"] else "fails"
        message = f"{stage}: {_sentence(error)}"
        return {**judged, "verdict": verdict, "message": message, "export": "fails", "error": error}
    found = differences.in_export(reference["value"], loaded["value"])
    if found is None:
        return {**judged, "export": "equal"}
    message = f"loaded from its MINDIR file: {found.sentence()}"
    return {**judged, "verdict": "diverges", "message": message, "export": "differ", "difference": found.to_json()}


def _failure(want: dict[str, Any], own: End) -> str | None:
    """How the rewrite's PyNative play ended before the original's did."""
    if own["kind"] != "done":
        return None if completed(own) and want["gradients"] is None else str(own["reason"])
    error = own["value"]["error"]
    if error is None or (completed(own) and want["gradients"] is None):
        return None
    return _sentence(error)


def _end_verdict(end: End) -> str:
    return "times-out" if end["kind"] == "timeout" else "crashes"


def _node_of(error: dict[str, Any]) -> dict[str, Any]:
    """When LAX's final graph shows no node (it was folded away), the place where STRICT stopped."""
    return {
        "name": "PyInterpret",
        "script": "",
        "path": error["path"],
        "line": error["line"],
        "column": error["column"],
        "end_line": error["line"],
        "end_column": error["end_column"],
        "expression": "",
    }


def _sentence(error: dict[str, Any]) -> str:
    place = f"{error['path']}:{error['line']}: " if error["path"] else ""
    if error["no_kernel"] and error["kernel"]:
        return f"{place}this device has no kernel for {error['kernel']}"
    return f"{place}{error['type']}: {error['message']}"
