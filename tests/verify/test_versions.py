"""The proof under another MindSpore than the one that all other tests use.

`GRAPHWARD_TEST_PYTHON_27` names an interpreter with MindSpore 2.7.0, the oldest that is supported; `make oldest`
installs one. The fixtures that the oldest version takes otherwise say so themselves (`other_versions`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphward.knowledge.behaviours import behaviours
from graphward.rules.selection import covers
from graphward.verify.jobs import Job
from graphward.verify.session import Session

from ..laws.cases import CASES, Case
from ..laws.proofs import proofs_of
from .catalogue import alone, line_of, pair

OLDEST = "2.7.0"
MEASURED = ("2.7.0", "2.7.2", "2.8.0", "2.9.0")
PYTHON = os.environ.get("GRAPHWARD_TEST_PYTHON_27", "")
needs_oldest = pytest.mark.skipif(not PYTHON, reason="GRAPHWARD_TEST_PYTHON_27 names no Python with MindSpore 2.7.0")


def differs(case: Case, version: str) -> bool:
    """Whether the case says that the version takes it otherwise than the newest."""
    return any(case.expected(side, version) != case.expected(side, "2.10") for side in ("before", "after"))


def chosen() -> list[Case]:
    """Those that the oldest version takes otherwise, and one rewrite of every ten codes (GW11x, ...)."""
    compiled = [case for case in CASES if not case.script]
    first = {case.code[:4]: case for case in reversed(compiled) if case.has_fix and not case.target_version}
    return [case for case in compiled if first.get(case.code[:4]) is case or differs(case, OLDEST)]


CHOSEN = chosen()
WORKER = [
    (alone("NumpyInside"), "falls-back"), (alone("Appends"), "diverges"), (alone("SetInside"), "fails"),
    (alone("CellPerCall"), "recompiles"), (alone("NoKernel"), "no-kernel"), (alone("Segfaults"), "crashes"),
    (alone("Endless", timeout=4.0), "times-out"), (alone("Tokens", None, "infer.py"), "verified"),
    (alone("doubled", file="compared.py", id="exported", export=True), "verified"),
    (pair("NumpyTensor", gradients="restored"), "verified"), (pair("WritesArgument"), "diverges"),
    (pair("MovedLayers"), "verified"),
]  # fmt: skip


@pytest.fixture(scope="module")
def oldest() -> Iterator[Session]:
    with Session(python=PYTHON, slots=2) as session:
        yield session


@needs_oldest
def test_it_is_the_oldest_version(oldest: Session) -> None:
    oldest.worker.start()
    assert oldest.worker.versions["mindspore"] == OLDEST


@needs_oldest
@pytest.mark.parametrize("case", CHOSEN, ids=[case.name for case in CHOSEN])
def test_the_oldest_compiler_agrees(case: Case, oldest: Session, tmp_path: Path) -> None:
    jobs = proofs_of(case, tmp_path)
    for side, verdict in zip(jobs, oldest.prove(list(jobs.values()))):
        assert verdict.verdict in case.expected(side, OLDEST), f"{side}: {verdict.message}"


@needs_oldest
@pytest.mark.parametrize(("job", "wanted"), WORKER, ids=[job.id for job, _ in WORKER])
def test_verdicts_are_those_of_the_newest_version(oldest: Session, job: Job, wanted: str) -> None:
    (verdict,) = oldest.prove([job])
    assert verdict.verdict == wanted, verdict.message
    if job.id == "NumpyInside":
        assert verdict.judged is not None
        line = line_of("alone/bad.py", "np.exp(y.asnumpy())")
        assert {(node.path, node.line) for node in verdict.judged.nodes} == {("bad.py", line)}


def test_what_differs_is_known_for_its_rule() -> None:
    """Each fixture that some version takes otherwise has an entry in the table, and each entry a fixture or a rule that
    keeps away from such versions."""
    told = {(b.code, version) for b in behaviours() for version in MEASURED if covers(b.versions, version)}
    shown = {(case.code, version) for case in CASES for version in MEASURED if differs(case, version)}
    assert shown == told


def test_clauses_of_a_fixture_do_not_overlap() -> None:
    for case in CASES:
        for version in MEASURED:
            assert sum(covers(clauses, version) for clauses in case.other_versions or {}) <= 1, case.name
