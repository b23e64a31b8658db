"""What user code can do to a process ends its own job with a verdict, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphward.verify.jobs import Job, Options
from graphward.verify.session import Session
from graphward.verify.targets import parse_target
from graphward.verify.verdicts import Verdict

MODULE = """
import os, sys, time
import numpy as np
from mindspore import nn, ops

AT_IMPORT


@ops.constexpr(check=False)
def endless(n):
    while os.environ.get("MS_JIT") != "0":  # PyNative is the reference and has to end
        time.sleep(0.01)
    return n


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        AT_CONSTRUCTION

    def construct(self, x):
        IN_CONSTRUCT
        return x * 2
"""

BLOW_UP = "blocks = [np.ones(1 << 24) for _ in range(64)]"  # 128 MB each
CASES = {
    "aborts": ("AT_CONSTRUCTION", "os.abort()", "crashes", "SIGABRT"),
    "kills itself": ("AT_CONSTRUCTION", "os.kill(os.getpid(), 9)", "crashes", "SIGKILL"),
    "exits at import": ("AT_IMPORT", "sys.exit(0)", "original-broken", "SystemExit"),
    "exits in the constructor": ("AT_CONSTRUCTION", "sys.exit('enough')", "original-broken", "enough"),
    "leaves without a word": ("AT_CONSTRUCTION", "os._exit(0)", "crashes", "without a result"),
    "needs too much memory": ("AT_CONSTRUCTION", BLOW_UP, "crashes", "memory"),
    "recurses without end": ("AT_CONSTRUCTION", "self.__init__()", "original-broken", "recursion"),
    "is slow to import": ("AT_IMPORT", "time.sleep(600)", "times-out", "6 s"),
    "compiles without end": ("IN_CONSTRUCT", "x = x + endless(1)", "times-out", "6 s"),
    "does not compile": ("IN_CONSTRUCT", "x = x + len({1, 2})", "fails", "Set"),
    "writes files": ("AT_CONSTRUCTION", "open('left.txt', 'w').write('x'); os.mkdir('folder')", "verified", ""),
    "removes its folder": ("AT_CONSTRUCTION", "__import__('shutil').rmtree(os.getcwd())", None, ""),
    "is well": ("IN_CONSTRUCT", "pass", "verified", ""),
}


def job(name: str, folder: Path) -> Job:
    place, code, _, _ = CASES[name]
    text = MODULE
    for marker in ("AT_IMPORT", "AT_CONSTRUCTION", "IN_CONSTRUCT"):
        text = text.replace(marker, code if marker == place else "pass")
    tree = folder / name.replace(" ", "_")
    tree.mkdir(parents=True)
    (tree / "net.py").write_text(text)
    options = Options(timeout=6.0 if CASES[name][2] == "times-out" else 60.0, memory=3000)
    return Job.of(parse_target("net.py::Net", tree), id=name, inputs=["f32[2,3]"], options=options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("unruly")


@pytest.fixture(scope="module")
def verdicts(mindspore_python: str, folder: Path) -> dict[str, Verdict]:
    """All in one session, so that each follows upon the others."""
    jobs = [job(name, folder / "trees") for name in CASES]
    (folder / "current").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder / "current")
        with Session(python=mindspore_python, slots=2) as session:
            return {verdict.id: verdict for verdict in session.prove(jobs)}


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[2] is not None])
def test_each_ends_its_own_job_with_a_verdict(verdicts: dict[str, Verdict], name: str) -> None:
    _, _, verdict, words = CASES[name]
    assert verdicts[name].verdict == verdict, verdicts[name].message
    assert words in verdicts[name].message


def test_a_stage_whose_folder_is_gone_still_gets_a_verdict(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["removes its folder"].verdict in ("crashes", "verified", "original-broken")


def test_nothing_is_left_in_the_trees_or_the_current_directory(verdicts: dict[str, Verdict], folder: Path) -> None:
    trees = folder / "trees"
    assert {path.name for path in trees.rglob("*") if path.parent != trees} == {"net.py"}
    assert list((folder / "current").iterdir()) == []
