"""What one version did in Graph Mode, judged against what the original did in PyNative."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compare import Difference, compare, compare_arrays
from .inputs import variants

EQUAL, DIFFER, RESTORED, NONE = "equal", "differ", "restored", "none"

_GRADIENT_FACTOR = 10.0  # sums over many elements, in another order, lose a digit


def side(verdict: str, message: str, **facts: Any) -> dict[str, Any]:
    """A side with every field; `facts` fills in what is known."""
    result: dict[str, Any] = {
        "verdict": verdict,
        "message": message,
        "compiles": None,
        "nodes": [],
        "outputs": None,
        "gradients": None,
        "state": None,
        "compilations": [],
        "difference": None,
        "error": None,
        "lax_error": None,
        "output_tail": "",
        "notes": [],
    }
    result.update(facts)
    return result


def ended(end: dict[str, Any]) -> dict[str, Any]:
    """The side of a process that was killed or died."""
    verdict = "times-out" if end["kind"] == "timeout" else "crashes"
    return side(verdict, end["reason"], output_tail=end["tail"])


def broken(error: dict[str, Any]) -> dict[str, Any]:
    """The side of an original that does not run in PyNative, or for which no inputs were found."""
    if error["stage"] == "inputs":
        return side("no-inputs", error["message"], error=error)
    return side("no-kernel" if error["no_kernel"] else "original-broken", _sentence(error), error=error)


def reference_problem(reference: dict[str, Any]) -> dict[str, Any] | None:
    """Why the original's PyNative play cannot serve as the reference, or None."""
    value = reference["value"]
    if value is not None and "after" in value:
        return None  # the calls succeeded; whatever happened later concerns the gradient only
    if reference["kind"] != "done":
        return ended(reference)
    return broken(value["error"])


def refused(strict: dict[str, Any]) -> bool:
    """Whether STRICT said no where LAX may say yes."""
    value = strict["value"]
    if strict["kind"] != "done" or value is None or "after" in value:
        return False
    error = value["error"]
    return error["stage"] in ("compile", "call") and not error["no_kernel"]


def refusal(
    reference: dict[str, Any], strict: dict[str, Any], lax: dict[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    """STRICT refused: `falls-back` when LAX runs it, else `fails` (or what became of the LAX process)."""
    error = strict["value"]["error"]
    facts: dict[str, Any] = {"compiles": False, "error": error}
    value = lax["value"]
    if value is None or "after" not in value:
        if lax["kind"] != "done":
            facts.update(output_tail=lax["tail"], notes=[f"under LAX: {lax['reason']}"])
            verdict = "times-out" if lax["kind"] == "timeout" else "crashes"
            return side(verdict, lax["reason"], **facts)
        verdict = "no-kernel" if value["error"]["no_kernel"] else "fails"
        return side(verdict, _sentence(error), lax_error=value["error"], nodes=value["nodes"], **facts)
    nodes = value["nodes"] or [_node_of(error)]
    notes: list[str] = []
    found = _first_difference(reference, value, options, notes)
    if found is not None:
        notes = [f"under LAX it also computes something else: {_difference_sentence(*found)}"]
        facts["difference"] = _difference_json(*found)
    elif options["gradients"] != "off" and gradient_difference(reference, value) is not None:
        notes.append("under LAX its gradient is another one, without an error")
    lines = sorted({f"{node['path']}:{node['line']}" for node in nodes if node["path"]})
    where = f" at {', '.join(lines[:5])}" if lines else ""
    message = f"runs in the Python interpreter{where}: {error['type']}: {error['message']}"
    return side("falls-back", message, nodes=nodes, **{**facts, "notes": notes})


def accepted(
    reference: dict[str, Any], strict: dict[str, Any], own: dict[str, Any] | None, options: dict[str, Any]
) -> dict[str, Any]:
    """STRICT compiled it, or the process died, or it failed for another reason. `own` is the rewrite's PyNative play
    when a restored gradient has to be compared with it."""
    value = strict["value"]
    if value is None or "after" not in value:
        if strict["kind"] != "done":
            return ended(strict)
        error = value["error"]
        verdict = "no-kernel" if error["no_kernel"] else "fails"
        return side(verdict, _sentence(error), error=error, compiles=False if error["stage"] == "compile" else None)
    compilations = [call["compiled"] for call in value["calls"]]
    facts: dict[str, Any] = {"compiles": True, "nodes": value["nodes"], "compilations": compilations}
    notes: list[str] = _parameter_notes(reference, value)
    facts["notes"] = notes
    if value["nodes"]:
        node = value["nodes"][0]
        place = f" at {node['path']}:{node['line']}" if node["path"] else ""
        return side("falls-back", f"the final graph holds {node['name']}{place}", **facts)
    found = _first_difference(reference, value, options, notes)
    if found is not None:
        part, call, difference = found
        facts["outputs"] = EQUAL if part == "state" else DIFFER
        facts["state"] = None if part == "outputs" else DIFFER
        facts["difference"] = _difference_json(part, call, difference)
        return side("diverges", _difference_sentence(*found), **facts)
    facts["outputs"] = facts["state"] = EQUAL
    if any(compilations[1:]):
        message = f"compiles again on call {compilations.index(max(compilations[1:]), 1) + 1} with the same shapes"
        return side("recompiles", message, **facts)
    verdict, message = _judge_gradients(reference, strict, own, options, facts)
    notes += _nan_notes(reference)
    return side(verdict, message, **facts)


def add_own_play(
    judged: dict[str, Any], reference: dict[str, Any], own: dict[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    """A rewrite that does not compile: whether at least in PyNative it means what the original does, which tells a fix
    that does harm from one that is not enough."""
    value = own["value"]
    if value is None or "after" not in value:
        detail = own["reason"] if own["kind"] != "done" else _sentence(value["error"])
        judged["difference"] = _difference_json("pynative", None, Difference("the rewrite", "error", detail))
        judged["notes"].append(f"the rewrite does not run in PyNative: {detail}")
        return judged
    found = _first_difference(reference, value, options, [])
    if found is not None:
        judged["difference"] = _difference_json("pynative", found[1], found[2])
        judged["notes"].append(f"the rewrite means something else in PyNative too: {_difference_sentence(*found)}")
    return judged


def gradient_difference(want: dict[str, Any], got: dict[str, Any]) -> tuple[int, Difference] | None:
    """Call number (1-based) and difference of the first gradient that is not the same."""
    if want["gradients"] is None or got["gradients"] is None:
        return None
    for variant, of_call in want["gradients"].items():
        for name, array in of_call.items():
            if name in got["gradients"][variant]:
                found = _compare_gradient(array, got["gradients"][variant][name], name)
                if found is not None:
                    return variants(2).index(variant) + 1, found
    return None


def _compare_gradient(want: np.ndarray, got: np.ndarray, name: str) -> Difference | None:
    return compare_arrays(want, got, f"gradient of {name}", str(want.dtype), factor=_GRADIENT_FACTOR)


def _judge_gradients(
    reference: dict[str, Any],
    strict: dict[str, Any],
    own: dict[str, Any] | None,
    options: dict[str, Any],
    facts: dict[str, Any],
) -> tuple[str, str]:
    """Verdict and message; fills in `gradients`, `difference`, `error` and `notes` of `facts`."""
    value = strict["value"]
    verified = ("verified", "compiles whole and means the same")
    if options["gradients"] in ("off", False):
        return verified
    if reference["gradients"] is None:
        facts["gradients"] = NONE
        if reference["error"] is not None:
            facts["notes"].append(f"gradients not compared: the original has none ({_sentence(reference['error'])})")
        return verified
    if strict["kind"] != "done":
        facts["output_tail"] = strict["tail"]
        verdict = "times-out" if strict["kind"] == "timeout" else "crashes"
        return verdict, f"while differentiating: {strict['reason']}"
    if value["error"] is not None:
        facts["error"] = value["error"]
        facts["gradients"] = DIFFER
        verdict = "no-kernel" if value["error"]["no_kernel"] else "fails"
        return verdict, f"the forward graph is right, its gradient fails: {_sentence(value['error'])}"
    found = gradient_difference(reference, value)
    if found is None:
        facts["gradients"] = EQUAL
        return verified
    if own is not None and own["gradients"] is not None:
        found = _restored_difference(reference, value, own)
        if found is None:
            facts["gradients"] = RESTORED
            facts["notes"].append("gradients: restored (the original cuts them; declared by the rewrite)")
            return verified
    facts["gradients"] = DIFFER
    facts["difference"] = _difference_json("gradients", *found)
    return "diverges", _difference_sentence("gradients", *found)


def _restored_difference(
    reference: dict[str, Any], got: dict[str, Any], own: dict[str, Any]
) -> tuple[int, Difference] | None:
    """As `gradient_difference`, each gradient against the original's or, failing that, the rewrite's own PyNative one."""
    for variant, of_call in own["gradients"].items():
        for name, array in of_call.items():
            actual = got["gradients"][variant].get(name)
            if actual is None:
                continue
            declared = reference["gradients"][variant].get(name)
            if declared is not None and _compare_gradient(declared, actual, name) is None:
                continue
            found = _compare_gradient(array, actual, name)
            if found is not None:
                return variants(2).index(variant) + 1, found
    return None


def _first_difference(
    reference: dict[str, Any], value: dict[str, Any], options: dict[str, Any], notes: list[str]
) -> tuple[str, int | None, Difference] | None:
    """Part (outputs, state), call number (1-based, None for the state after all calls) and difference."""
    seen: list[str] = []
    for number, (want, got) in enumerate(zip(reference["calls"], value["calls"]), 1):
        found = compare(want["output"], got["output"], "output", seen)
        if found is not None:
            return "outputs", number, found
        found = compare(want["arguments"], got["arguments"], "arguments", seen)
        if found is not None:
            found.where = found.where.replace("arguments[0]", "argument").replace("arguments[1]", "argument")
            return "state", number, found
    difference = _state_difference(reference, value, set(options["ignore_state"]), seen)
    if difference is not None:
        return "state", None, difference
    notes += sorted(set(seen))
    if options["ignore_state"]:
        notes.append(f"state not compared, as declared: {', '.join(sorted(options['ignore_state']))}")
    return None


def _state_difference(
    reference: dict[str, Any], value: dict[str, Any], ignored: set[str], notes: list[str]
) -> Difference | None:
    before, after, got = reference["before"], reference["after"], value["after"]
    for part in ("parameters", "buffers"):
        for name in after[part]:
            if name in got[part] and name not in ignored:
                found = compare(after[part][name], got[part][name], f"{part[:-1]} {name}", notes)
                if found is not None:
                    return found
    for part, word in (("attributes", "attribute"), ("globals", "global")):
        for name, node in after[part].items():
            if name in ignored:
                continue
            found = _attribute_difference(before, after, value, part, name, node, f"{word} {name}", notes)
            if found is not None:
                return found
    return None


def _attribute_difference(
    before: dict[str, Any],
    after: dict[str, Any],
    value: dict[str, Any],
    part: str,
    name: str,
    node: dict[str, Any],
    where: str,
    notes: list[str],
) -> Difference | None:
    """Only what the calls changed, on either side, is state; a constant that a rewrite renames is not."""
    old, got = before[part].get(name), value["after"][part]
    changed = old is None or compare(old, node, where, []) is not None
    if name in got:
        theirs = value["before"][part].get(name)
        moved = theirs is not None and compare(theirs, got[name], where, []) is not None
        return compare(node, got[name], where, notes) if changed or moved else None
    if not changed:
        return None
    for kind in ("parameters", "buffers"):
        if name in value["after"][kind]:  # a counter that became a Parameter
            return compare(node, _squeezed(value["after"][kind][name], node), where, notes)
    return Difference(where, "structure", "changed by the calls in PyNative, absent in the graph")


def _squeezed(got: dict[str, Any], want: dict[str, Any]) -> dict[str, Any]:
    if want["kind"] == "number" and got["value"].size == 1:
        return {**got, "value": got["value"].reshape(())}
    return got


def _parameter_notes(reference: dict[str, Any], value: dict[str, Any]) -> list[str]:
    want, got = set(reference["after"]["parameters"]), set(value["after"]["parameters"])
    notes = []
    if got - want:
        notes.append(f"parameters added: {', '.join(sorted(got - want)[:8])}")
    if want - got:
        notes.append(f"parameters gone: {', '.join(sorted(want - got)[:8])}")
    return notes


def _nan_notes(reference: dict[str, Any]) -> list[str]:
    """Equality of NaN with NaN proves little, so the verdict tells."""
    for call in reference["calls"]:
        for array in _float_arrays(call["output"]):
            if array.size and bool(np.isnan(array).all()):
                return ["an output is NaN throughout: compared, but it proves little"]
    return []


def _float_arrays(node: dict[str, Any]) -> list[np.ndarray]:
    if node["kind"] in ("tensor", "array") and node["value"].dtype.kind == "f":
        return [node["value"]]
    return [array for item in node.get("items", ()) for array in _float_arrays(item)]


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
    }


def _sentence(error: dict[str, Any]) -> str:
    place = f"{error['path']}:{error['line']}: " if error["path"] else ""
    return f"{place}{error['type']}: {error['message']}"


def _difference_json(part: str, call: int | None, difference: Difference) -> dict[str, Any]:
    return {"part": part, "call": call, **difference.to_json()}


def _difference_sentence(part: str, call: int | None, difference: Difference) -> str:
    when = "after all calls" if call is None else f"call {call}"
    size = "" if difference.max_abs is None else f", off by {difference.max_abs:.3g}"
    return f"{when}: {difference.where} differs in {difference.what}: {difference.detail}{size}"
