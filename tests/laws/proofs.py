"""The proofs that a fixture asks for."""

from __future__ import annotations

import shutil
from pathlib import Path

from graphward.verify.jobs import Job, Options
from graphward.verify.targets import Target

from .cases import Case


def proofs_of(case: Case, folder: Path) -> dict[str, Job]:
    """The jobs "before" and, where there is a fix, "after", over trees that are made in the folder."""
    original = _tree(folder / "original", case.path)
    target = Target(original, "net.py", case.target)
    units = bool(case.compile_units)
    alone = Options(weights=case.weights or "derived", units=units)
    jobs = {"before": Job.of(target, id=f"{case.name} before", inputs=case.inputs, options=alone)}
    if case.has_fix:
        pair = Options(
            gradients="restored" if case.restores_gradient else "same", as_it_stands=False,
            ignore_state=tuple(case.ignore_state or ()), units=units,
        )  # fmt: skip
        rewritten = _tree(folder / "rewritten", case.folder / "after.py")
        jobs["after"] = Job.of(
            target, id=f"{case.name} after", rewritten=rewritten, inputs=case.inputs, options=pair
        )
    return jobs


def _tree(folder: Path, file: Path) -> Path:
    folder.mkdir(parents=True)
    shutil.copy(file, folder / "net.py")
    return folder
