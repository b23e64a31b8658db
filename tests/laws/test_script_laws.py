"""Laws for cases that are scripts, judged by running them under the real MindSpore: what before.py fails with or warns
of is gone in after.py, and what both print is the same."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .cases import CASES, Case

SCRIPTS = [c for c in CASES if c.script]
# What comes to an end although something is wrong with it.
RUNS = {"deprecated", "slow", "recompiles", "diverges", "clean"}


@dataclass(frozen=True)
class Outcome:
    status: int
    output: str
    errors: str

    @property
    def everything(self) -> str:
        return self.output + self.errors


Run = Callable[[Path], Outcome]


@pytest.fixture(scope="module")
def run(mindspore_python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    program = Path(__file__).parent / "script_runner.py"
    process = subprocess.Popen([mindspore_python, str(program)], text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
    assert process.stdin is not None and process.stdout is not None

    def ask(path: Path) -> Outcome:
        folder = tmp_path_factory.mktemp("script")
        process.stdin.write(json.dumps([str(path), str(folder)]) + "\n")
        process.stdin.flush()
        return Outcome(**json.loads(process.stdout.readline()))

    yield ask
    process.stdin.close()
    process.wait(60)


@pytest.mark.parametrize("case", SCRIPTS, ids=[c.name for c in SCRIPTS])
def test_the_script_is_what_its_case_says(case: Case, run: Run):
    before = run(case.path)
    ends = case.before in RUNS and not case.raises
    assert (before.status == 0) is ends, before.errors
    if case.before == "clean":
        assert "deprecated" not in before.errors
        return
    assert case.says, "the case must say how MindSpore shows what is wrong"
    assert case.says in before.everything
    if not case.has_fix:
        return
    after = run(case.folder / "after.py")
    assert after.status == 0, after.errors
    assert case.says not in after.everything
    if ends and case.says not in before.output:
        assert after.output == before.output


def test_every_family_of_scripts_has_cases():
    assert {c.code[:3] for c in SCRIPTS} == {"GW1", "GW2", "GW6", "GW7", "GW8", "GW9"}
