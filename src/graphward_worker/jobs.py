"""A job from its request to its verdict: which plays it takes, and what they amount to.

A job is a generator: it yields lists of stages and gets their ends back, so that the server can run the stages of many
jobs at once.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from . import sides
from .children import Stage
from .export import EXPORT, export
from .infer import infer
from .play import LAX, PYNATIVE, STRICT, UNITS, play
from .recording.replay import replay
from .specs import SpecError, parse_input
from .standins import lacking
from .standins.randomness import RANDOM

DEFAULTS: dict[str, Any] = {
    "gradients": "same",
    "timeout": 60.0,
    "weights": "derived",
    "calls": 3,
    "train": False,
    "as_it_stands": True,
    "ignore_state": [],
    "export": False,
    "units": False,
}
"""Options of a job. `gradients`: same, restored (the rewrite was declared to bring back a gradient that the original
cuts), off. `timeout`: seconds for one play. `weights`: derived, drawn. `calls`: successive calls of one instance, at
least 2. `train`: call `set_train` first; "both": prove it without and with. `as_it_stands`: of a pair, judge the
original as well. `ignore_state`: attributes that the rewrite was declared to move or drop. `export`: what verifies
must also come back from a MINDIR file. `units`: the rewrite is plain Python that calls graphs of its own."""


@dataclass
class Request:
    """One stage to run in a child: the function, what it gets, and its deadline in seconds."""

    stage: Stage
    payload: dict[str, Any]
    timeout: float


Plan = Generator["list[Request]", "list[dict[str, Any]]", "dict[str, Any]"]
Ends = Generator["list[Request]", "list[dict[str, Any]]", "list[dict[str, Any]]"]

_EQUIPMENT = lacking.Equipment()


def prove(job: dict[str, Any]) -> Plan:
    """The verdict of a job: `id`, `target`, `verdict`, `message`, `inputs` (`source`, `specs`, `target`), `original`,
    `rewritten`, `culprits`, `notes`, `stand_ins`, `seconds`."""
    started = time.monotonic()
    proof = _Proof(job)
    verdict = yield from proof.run()
    verdict["seconds"] = round(time.monotonic() - started, 3)
    return verdict


def _shows_difference(verdict: dict[str, Any]) -> bool:
    """Whether a side gives other values than the original, which random numbers could explain."""
    sides_given = [side for side in (verdict["original"], verdict["rewritten"]) if side is not None]
    return any(side["difference"] is not None and side["difference"]["what"] == "value" for side in sides_given)


class _Proof:
    def __init__(self, job: dict[str, Any]):
        self.job = job
        self.options = {**DEFAULTS, **(job.get("options") or {})}
        self.file: str = job["target"]["file"]
        self.expr: str = job["target"]["expr"]
        self.source = "declared"
        self.specs: list[str] = list(job.get("inputs") or [])
        self.recorded: dict[str, Any] | None = None
        self.notes: list[str] = []
        self.kernels = _EQUIPMENT.kernels
        self.missed: set[str] = set()
        self.stand_ins: set[str] = set()

    def run(self) -> Plan:
        if self.job.get("inputs") is None:
            verdict = yield from self.try_recorded(self.job.get("recorded") or {"calls": [], "others": []})
            if verdict is not None:
                return verdict
            problem = yield from self.find_inputs()
            if problem is not None:
                return self.verdict(problem["verdict"], problem["message"], problem, None)
        else:
            try:
                self.specs = [str(parse_input(text)) for text in self.specs]
            except SpecError as error:
                return self.verdict("no-inputs", str(error), None, None)
        verdict = yield from self.judge_both()
        if verdict["verdict"] != "verified":
            return verdict
        return (yield from self.judge_also(verdict))

    def judge_also(self, verdict: dict[str, Any]) -> Plan:
        """What else was asked for has to verify as well: inputs of other shapes, and training mode. The verdict is that
        of the first that does not."""
        alternatives: list[tuple[list[str], bool, str]] = []
        for texts in self.job.get("other_shapes") or ():
            try:
                specs = [str(parse_input(text)) for text in texts]
            except SpecError as error:
                return self.verdict("no-inputs", str(error), None, None)
            alternatives.append((specs, self.options["train"] is True, f"for {', '.join(specs)}"))
        if self.options["train"] == "both":
            alternatives.append((self.specs, True, "in training mode"))
        for specs, train, when in alternatives:
            first = self.specs, self.options["train"]
            self.specs, self.options["train"] = specs, train
            other = yield from self.judge_both()
            if other["verdict"] != "verified":
                other["notes"].append(f"the verdict is that {when}; what was asked for first verifies")
                return other
            self.specs, self.options["train"] = first
            verdict["notes"].append(f"verified {when} too")
            verdict["stand_ins"] = sorted({*verdict["stand_ins"], *other["stand_ins"]})
        return verdict

    def try_recorded(self, recorded: dict[str, Any]) -> Generator[list[Request], list[dict[str, Any]], Any]:
        """The verdict on the recorded calls; None when the original accepts none of them. When the most frequent kind
        of call verifies, the others have to as well."""
        for call in recorded["calls"]:
            verdict = yield from self.with_recorded(call)
            if verdict is not None:
                break
        else:
            return None
        for call in recorded["others"] if verdict["verdict"] == "verified" else ():
            other = yield from self.with_recorded(call)
            if other is not None and other["verdict"] != "verified":
                return other
            if other is not None:
                verdict["notes"].append(f"verified for another kind of recorded call too: {', '.join(call['specs'])}")
                if verdict["original"] is not None and verdict["original"]["verdict"] == "verified":
                    verdict["original"] = other["original"]
        return verdict

    def with_recorded(self, call: dict[str, Any]) -> Generator[list[Request], list[dict[str, Any]], Any]:
        """The verdict on the inputs of a recorded call; None when the original does not accept them (any more)."""
        expr = self.job["target"]["expr"]
        made_by_user = "(" in expr
        self.source, self.specs = "recorded", call["specs"]
        self.recorded = {**call, "constructor": None} if made_by_user else call
        self.expr = expr if made_by_user else call["target"]
        verdict = yield from self.judge_both()
        side = verdict["original"] or verdict["rewritten"]
        error = side["error"] if verdict["verdict"] in ("original-broken", "no-inputs") else None
        if error is None or error["stage"] == "import":
            verdict["notes"].append(call["note"])
            return verdict
        reason = f"{error['type']}: {error['message']}"
        hint = f"record again: graphward record -- {call['command']}"
        self.notes.append(f"the recorded inputs are not accepted any more ({reason}); {hint}")
        self.source, self.specs, self.recorded, self.expr = "declared", [], None, expr
        return None

    def judge_both(self) -> Plan:
        """The verdict on the inputs that were found; when a kernel is missing, or numbers may be random, once more with
        stand-ins."""
        while True:
            self.stand_ins = set()
            verdict = yield from self.judge_once()
            if not (yield from self.equip()):
                break
        if not _shows_difference(verdict):
            return verdict
        without, self.kernels = self.kernels, self.kernels | {RANDOM}
        used, self.stand_ins = self.stand_ins, set()
        again = yield from self.judge_once()
        self.kernels, self.missed = without, set()
        if self.stand_ins <= used:
            return verdict
        again["notes"].append("random numbers derive from shapes, the same on both sides")
        return again

    def equip(self) -> Generator[list[Request], list[dict[str, Any]], bool]:
        """Whether there are stand-ins for what the last plays missed that these did without."""
        if not self.missed:
            return False
        while not _EQUIPMENT.known:
            (end,) = yield [Request(lacking.probe, {"start": _EQUIPMENT.probed}, lacking.SECONDS)]
            _EQUIPMENT.learn(end)
        for kernel in self.missed:
            _EQUIPMENT.add(kernel)
        self.missed = set()
        before, self.kernels = self.kernels, _EQUIPMENT.kernels
        return self.kernels != before

    def ends(self, requests: list[Request]) -> Ends:
        """Run stages with the stand-ins that are known to be needed, and note which they used and what they missed."""
        for request in requests:
            request.stage = lacking.equipped(request.stage, self.kernels)
        ends = yield requests
        for end in ends:
            value = end["value"] or {}
            self.stand_ins |= set(value.get("stand_ins", ()))
            error = value.get("error")
            if error is not None and error["kernel"] is not None:
                self.missed.add(error["kernel"])
        return ends

    def judge_once(self) -> Plan:
        original, rewritten = self.job["original"], self.job.get("rewritten")
        graphs = UNITS if self.options["units"] else STRICT
        if rewritten is None:
            reference, strict = yield from self.ends(
                [self.request(original, PYNATIVE), self.request(original, graphs)]
            )
            side = yield from self.judge(original, reference, strict, as_it_stands=True)
            return self.verdict(side["verdict"], side["message"], side, None)
        plays = [self.request(original, PYNATIVE), self.request(rewritten, graphs)]
        if self.options["as_it_stands"]:
            plays.append(self.request(original, graphs))
        ends = yield from self.ends(plays)
        stands = None
        if self.options["as_it_stands"]:
            stands = yield from self.judge(original, ends[0], ends[2], as_it_stands=True)
        side = yield from self.judge(rewritten, ends[0], ends[1], as_it_stands=False)
        return self.verdict(side["verdict"], side["message"], stands, side)

    def find_inputs(self) -> Generator[list[Request], list[dict[str, Any]], dict[str, Any] | None]:
        """None when inputs were found, else the side that says why not."""
        payload = {
            "tree": self.job["original"],
            "file": self.file,
            "expr": self.expr,
            "train": self.options["train"] is True,
            "budget": 0.6 * self.options["timeout"],
        }
        self.source = "inferred"
        again = True
        while again:
            (end,) = yield from self.ends([Request(infer, payload, self.options["timeout"])])
            again = yield from self.equip()
        found = end["value"]
        if end["kind"] == "done" and found["error"] is None:
            self.specs, self.expr = found["specs"], found["expr"]
            self.notes += found["notes"]
            return None
        return sides.broken(found["error"]) if end["kind"] == "done" else sides.ended(end)

    def judge(self, tree: str, reference: dict[str, Any], strict: dict[str, Any], as_it_stands: bool) -> Plan:
        """The side of the graph against the reference; runs LAX when STRICT refuses, and the rewrite in PyNative unless
        it is known to be wrong by then."""
        broken = sides.reference_problem(reference)
        if broken is not None:
            return broken
        if sides.refused(strict):
            (lax,) = yield from self.ends([self.request(tree, LAX)])
            judged = sides.refusal(reference, strict, lax, self.options)
            settled = judged["verdict"] == "falls-back"
        else:
            judged = sides.accepted(reference, strict, self.options)
            settled = not sides.may_be_right(judged, strict, self.options)
        if not (as_it_stands or settled):
            (own,) = yield from self.ends([self.request(tree, PYNATIVE)])
            judged = sides.with_own_play(judged, reference, strict, own, self.options)
            judged = yield from self.tell_apart(tree, judged, reference, strict)
        if judged["verdict"] != "verified" or not self.options["export"]:
            return judged
        if self.replayed:
            judged["notes"].append("not exported: only a run of the script makes this Cell")
            return judged
        (loaded,) = yield from self.ends([self.request(tree, EXPORT)])
        return sides.with_export(judged, reference, loaded)

    def tell_apart(self, tree: str, judged: dict[str, Any], reference: dict[str, Any], strict: dict[str, Any]) -> Plan:
        """The side of a rewrite that verified, played again with values of its own in each parameter where it could
        have taken one layer for another unseen."""
        if judged["verdict"] != "verified" or self.replayed:
            return judged
        names = sides.indistinct(judged, reference)
        if not names:
            return judged
        if not sides.same_parameters(reference, strict):
            judged["notes"].append(
                "of the same values, and not told apart by a gradient; if the rewrite takes one for the other, that "
                f"does not show: {', '.join(names)}"
            )
            return judged
        graphs = UNITS if self.options["units"] else STRICT
        requests = [self.request(self.job["original"], PYNATIVE), self.request(tree, graphs)]
        for request in requests:
            request.payload.update(distinct=True, gradients=False)
        first, second = yield from self.ends(requests)
        return sides.with_distinct(judged, first, second, self.options)

    def request(self, tree: str, mode: str) -> Request:
        moved = None if tree == self.job["original"] else self.job["target"].get("rewritten_file")
        payload = {
            "tree": tree,
            "file": moved or self.file,
            "expr": self.job["target"]["expr"] if self.recorded else self.expr,
            "inputs": self.specs,
            "recorded": self.recorded and {**self.recorded, "check": tree == self.job["original"]},
            "mode": mode,
            "calls": self.options["calls"],
            "gradients": self.options["gradients"] != "off",
            "weights": self.options["weights"],
            "train": self.options["train"] is True,
            "units": self.options["units"],
        }
        stage = export if mode == EXPORT else replay if self.replayed else play
        return Request(stage, payload, self.options["timeout"])

    @property
    def replayed(self) -> bool:
        """Whether the plays are runs of the script that was recorded."""
        return self.recorded is not None and self.recorded["replay"] is not None

    def verdict(
        self, verdict: str, message: str, original: dict[str, Any] | None, rewritten: dict[str, Any] | None
    ) -> dict[str, Any]:
        return {
            "id": self.job["id"],
            "target": f"{self.file}::{self.job['target']['expr']}",
            "verdict": verdict,
            "message": message,
            "inputs": {"source": self.source, "specs": self.specs, "target": self.expr},
            "original": original,
            "rewritten": rewritten,
            "culprits": [],
            "notes": list(self.notes),
            "stand_ins": sorted(self.stand_ins),
        }
