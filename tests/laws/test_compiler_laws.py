"""Laws that the real compiler judges: before.py is what its case says, after.py is graph-safe and means the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from graphward.verify.jobs import Job, Options
from graphward.verify.targets import Target

from .cases import CASES, Case

AS_IT_STANDS = {"slow": "verified", "deprecated": "verified", "clean": "verified"}
COMPILED = [c for c in CASES if not c.script]


@pytest.mark.parametrize("case", COMPILED, ids=[c.name for c in COMPILED])
def test_the_compiler_agrees(case: Case, session, tmp_path: Path):
    original = tree(tmp_path / "original", case.path)
    rewritten = tree(tmp_path / "rewritten", case.folder / "after.py") if case.has_fix else None
    target = Target(original, "net.py", case.target)
    gradients = "restored" if case.restores_gradient else "same"
    ignored = tuple(case.ignore_state or ())
    options = Options(weights=case.weights or "derived", units=bool(case.compile_units))
    jobs = [Job.of(target, id="before", inputs=case.inputs, options=options)]
    if rewritten:
        pair = Options(gradients=gradients, as_it_stands=False, ignore_state=ignored,
                       units=bool(case.compile_units))  # fmt: skip
        jobs.append(Job.of(target, id="after", rewritten=rewritten, inputs=case.inputs, options=pair))
    before, *after = session.prove(jobs)
    assert before.verdict == AS_IT_STANDS.get(case.before, case.before), before.message
    for verdict in after:
        assert verdict.verdict == "verified", verdict.message


def tree(folder: Path, file: Path) -> Path:
    folder.mkdir()
    shutil.copy(file, folder / "net.py")
    return folder
