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
from .infer import infer
from .play import LAX, PYNATIVE, STRICT, play
from .specs import SpecError, parse_input

DEFAULTS: dict[str, Any] = {
    "gradients": "same",
    "timeout": 60.0,
    "weights": "derived",
    "calls": 3,
    "train": False,
    "as_it_stands": True,
    "ignore_state": [],
}
"""Options of a job. `gradients`: same, restored (the rewrite was declared to bring back a gradient that the original
cuts), off. `timeout`: seconds for one play. `weights`: derived, drawn. `calls`: successive calls of one instance, at
least 2. `train`: call `set_train` first. `as_it_stands`: of a pair, judge the original as well. `ignore_state`:
attributes that the rewrite was declared to move or drop."""


@dataclass
class Request:
    """One stage to run in a child: the function, what it gets, and its deadline in seconds."""

    stage: Stage
    payload: dict[str, Any]
    timeout: float


Plan = Generator["list[Request]", "list[dict[str, Any]]", "dict[str, Any]"]


def prove(job: dict[str, Any]) -> Plan:
    """The verdict of a job: `id`, `target`, `verdict`, `message`, `inputs` (`source`, `specs`, `target`), `original`,
    `rewritten`, `culprits`, `notes`, `seconds`."""
    started = time.monotonic()
    proof = _Proof(job)
    verdict = yield from proof.run()
    verdict["seconds"] = round(time.monotonic() - started, 3)
    return verdict


class _Proof:
    def __init__(self, job: dict[str, Any]):
        self.job = job
        self.options = {**DEFAULTS, **(job.get("options") or {})}
        self.file: str = job["target"]["file"]
        self.expr: str = job["target"]["expr"]
        self.source = "declared"
        self.specs: list[str] = list(job.get("inputs") or [])

    def run(self) -> Plan:
        if self.job.get("inputs") is None:
            problem = yield from self.find_inputs()
            if problem is not None:
                return self.verdict(problem["verdict"], problem["message"], problem, None)
        else:
            try:
                self.specs = [str(parse_input(text)) for text in self.specs]
            except SpecError as error:
                return self.verdict("no-inputs", str(error), None, None)
        original, rewritten = self.job["original"], self.job.get("rewritten")
        if rewritten is None:
            reference, strict = yield [self.request(original, PYNATIVE), self.request(original, STRICT)]
            side = yield from self.judge(original, reference, strict, as_it_stands=True)
            return self.verdict(side["verdict"], side["message"], side, None)
        plays = [self.request(original, PYNATIVE), self.request(rewritten, STRICT)]
        if self.options["as_it_stands"]:
            plays.append(self.request(original, STRICT))
        ends = yield plays
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
            "train": self.options["train"],
            "budget": 0.6 * self.options["timeout"],
        }
        (end,) = yield [Request(infer, payload, self.options["timeout"])]
        self.source = "inferred"
        found = end["value"]
        if end["kind"] == "done" and found["error"] is None:
            self.specs, self.expr = found["specs"], found["expr"]
            return None
        return sides.broken(found["error"]) if end["kind"] == "done" else sides.ended(end)

    def judge(self, tree: str, reference: dict[str, Any], strict: dict[str, Any], as_it_stands: bool) -> Plan:
        """The side of the graph against the reference; runs LAX when STRICT refuses, and the rewrite in PyNative unless
        it is known to be wrong by then."""
        broken = sides.reference_problem(reference)
        if broken is not None:
            return broken
        if sides.refused(strict):
            (lax,) = yield [self.request(tree, LAX)]
            judged = sides.refusal(reference, strict, lax, self.options)
            settled = judged["verdict"] == "falls-back"
        else:
            judged = sides.accepted(reference, strict, self.options)
            settled = not sides.may_be_right(judged, strict, self.options)
        if as_it_stands or settled:
            return judged
        (own,) = yield [self.request(tree, PYNATIVE)]
        return sides.with_own_play(judged, reference, strict, own, self.options)

    def request(self, tree: str, mode: str) -> Request:
        payload = {
            "tree": tree,
            "file": self.file,
            "expr": self.expr,
            "inputs": self.specs,
            "mode": mode,
            "calls": self.options["calls"],
            "gradients": self.options["gradients"] != "off",
            "weights": self.options["weights"],
            "train": self.options["train"],
        }
        return Request(play, payload, self.options["timeout"])

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
            "notes": [],
        }
