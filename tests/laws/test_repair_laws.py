"""Laws of `fixtures/repair`: findings alone do not heal the case, the compiler's own error does."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from graphward.config import Config
from graphward.engine.fixpoint import fix, within
from graphward.engine.run import rules_of
from graphward.engine.workspace import Workspace
from graphward.knowledge.errors import entry_for
from graphward.migrate.run import migrate
from graphward.source.fixes import Applicability

from .cases import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CASES = sorted(path.parent for path in (ROOT / "repair").glob("*/case.toml"))


@pytest.mark.parametrize("folder", CASES, ids=[f.name for f in CASES])
def test_the_compilers_error_heals_what_findings_alone_do_not(folder: Path, mindspore_python: str, tmp_path: Path):
    case = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    file = tmp_path / "net.py"
    shutil.copy(folder / "before.py", file)
    config = Config()
    rules = rules_of(config)
    alone = fix(Workspace([file]), rules, config, within(Applicability.UNSAFE))
    assert not alone.changes, "findings alone change it: it belongs to the fixtures of their rule"

    targets = {f"{file}::{case['target']}": tuple(case["inputs"])}
    verify = replace(config.verify, targets=targets, declared_only=True)
    done = migrate(Workspace([file]), rules, replace(config, verify=verify, python=mindspore_python))

    (verdict,) = done.verdicts
    assert verdict.original is not None
    assert verdict.original.verdict == case["before"], verdict.original.message
    assert verdict.verified, verdict.message
    assert done.fixed.changes[file].after.text == (folder / "after.py").read_text(encoding="utf-8")
    applied = [a.fix for a in done.fixed.changes[file].applied]
    assert all(f.applicability is Applicability.UNSAFE and f.reason for f in applied)


def test_there_are_enough_cases_and_they_differ():
    assert len(CASES) >= 12
    assert len({(f / "before.py").read_bytes() for f in CASES}) == len(CASES)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Unsupported statement 'Try'.", "unsupported-try"),
        ("For 'make_range', the 0th input should be a int scalar but got AbstractTensor(shape: ())", "range-of-tensor"),
        ("When handling script 'sorted(x) in graph mode', the inputs should be constant, but found variable 'x' to be "
         "nonconstant.", "host-function-on-traced"),
        ("the size of the tensor is wrong", None),
    ],
)  # fmt: skip
def test_the_registry_knows_messages_by_their_pattern(text: str, wanted: str | None):
    entry = entry_for(text)
    assert (entry.name if entry else None) == wanted
