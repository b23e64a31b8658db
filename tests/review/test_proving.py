"""Which regions a proof asks for, with which text: a worker that only notes what it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from graphward.config import VerifySettings
from graphward.review import actions as act
from graphward.review import proving
from graphward.review.session import Review
from graphward.verify.jobs import Job
from graphward.verify.verdicts import Inputs, Verdict

from .conftest import Begin

PATH = Path("net.py")
TEXT = """from mindspore import Tensor, nn


class Inner(nn.Cell):
    def construct(self, x: Tensor, y=None):
        if (x is None) ^ (y is None):
            x = nn.ReLU()(x)
        return nn.LayerNorm((4,))(nn.LayerNorm((4,))(x))


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def construct(self, x: Tensor):
        return self.inner(x)
"""


@dataclass
class Asked:
    """A target, and the file as it was rewritten for the proof."""

    target: str
    text: str


class Worker:
    """Answers each job with the verdict that is said for its target, else `verified`."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.says: dict[str, str] = {}

    def __call__(self, **settings: Any) -> Worker:
        return self

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def verdicts(self, jobs: Sequence[Job], progress: Callable[..., None]) -> Iterator[Verdict]:
        for job in jobs:
            name = job.id.rpartition("::")[2]
            text = (Path(job.rewritten) / PATH).read_text(encoding="utf-8") if job.rewritten else ""
            self.asked.append(Asked(name, text))
            verdict = self.says.get(name, "verified")
            inputs = Inputs("declared", (), name)
            yield Verdict(job.id, job.id, verdict, f"it {verdict}", inputs, None, None)

    def taken(self) -> list[str]:
        """The targets that were asked for since the last call."""
        names = [asked.target for asked in self.asked]
        self.asked = []
        return names


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Worker:
    worker = Worker()
    monkeypatch.setattr(proving, "Session", worker)
    return worker


@pytest.fixture
def review(begin: Begin, project: Path) -> Review:
    PATH.write_text(TEXT, encoding="utf-8")
    review = begin()
    targets = {f"net.py::{name}": ["f32[2,4]"] for name in ("Outer", "Inner")}
    review.checker.config = replace(review.checker.config, verify=VerifySettings(targets=targets))
    return review


def prove(review: Review, **how: bool) -> act.Proven:
    assert review.state.selected is not None
    return proving.Prover(review).prove(review.state, [review.state.selected], lambda *step: None, **how)


def test_the_smallest_region_is_proven_though_more_are_declared(review: Review, worker: Worker):
    told = prove(review)
    assert worker.taken() == ["Inner"]
    assert told.message == "Inner: verified"


def test_where_the_smallest_says_nothing_the_others_are_asked(review: Review, worker: Worker):
    worker.says = {"Inner": "original-broken"}
    told = prove(review)
    assert worker.taken() == ["Inner", "Outer"]
    assert told.message == "Outer: verified"


def test_all_declared_ones_are_proven_when_asked_and_what_is_not_right_is_named(review: Review, worker: Worker):
    worker.says = {"Outer": "fails"}
    told = prove(review, widely=True)
    assert worker.taken() == ["Inner", "Outer"]
    assert told.message == "1 of 2 targets verified; Outer: fails: it fails"
    assert [proof.verdict.verdict for proof in told.verdicts.values()] == ["verified"]


def test_the_shown_fix_of_a_finding_on_the_new_text_is_proven_too(review: Review, worker: Worker):
    entries = [entry for entry in review.state.all_entries() if entry.item.finding.code == "GW201"]
    review.do(act.Select((PATH, entries[0].key)))
    review.do(act.Accept())
    review.settle()
    review.do(act.Select((PATH, entries[1].key)))
    entry = review.state.entry
    assert entry is not None and entry.item.source is not review.state.files[PATH].top.source
    review.do(prove(review))
    text = worker.asked[0].text
    assert "x = self.relu(x)" in text and "return self.layer_norm(nn.LayerNorm((4,))(x))" in text
    proof = review.state.proofs[PATH, entry.key]
    assert proof.fixes == review.state.fixes_of(entry)  # it is not said to be of other fixes
