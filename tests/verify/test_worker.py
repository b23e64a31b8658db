"""The worker as a process: bad interpreters, death, interruption, and nothing left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphward.errors import GraphwardError
from graphward.verify.jobs import Job
from graphward.verify.session import Session, prove
from graphward.verify.targets import parse_target

from .catalogue import DATA, X, alone


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A private place for temporary files, to see what stays there."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield tmp_path


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def runs(pid: int) -> bool:
    """Whether a process is alive and no zombie that waits for whoever adopted it."""
    status = Path(f"/proc/{pid}/stat")
    return alive(pid) and not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


def children_of(pid: int) -> list[int]:
    """Child process ids on Linux; empty elsewhere."""
    listing = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in listing.read_text().split()] if listing.exists() else []


def test_a_package_is_loaded_from_the_tree_and_shadows_an_installed_copy(
    mindspore_python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(DATA / "installed"))
    package = tmp_path / "package"
    shutil.copytree(DATA / "package", package, ignore=shutil.ignore_patterns("__pycache__"))
    by_file = Job.of(parse_target("shop/net.py::Net", package), id="file", inputs=X)
    by_name = Job.of(parse_target("shop.net::Net", package), id="name", inputs=X)
    outside = Job.of(parse_target(f"{package / 'shop/net.py'}::Net", DATA / "alone"), id="outside", inputs=X)
    verdicts = prove([by_file, by_name, outside], python=mindspore_python, jobs_n=2)
    assert [(v.id, v.verdict) for v in verdicts] == [
        ("file", "verified"),
        ("name", "verified"),
        ("outside", "verified"),
    ]
    assert not list(package.rglob("__pycache__"))


def test_a_worker_that_dies_costs_only_the_job_that_kills_it(mindspore_python: str, temporary: Path) -> None:
    jobs = [alone("plain", file="good.py"), alone("Killer", file="killer.py"), alone("Branches", file="good.py")]
    seen: list[str] = []
    verdicts = prove(
        jobs, python=mindspore_python, jobs_n=2, on_progress=lambda done, total, target: seen.append(target)
    )
    assert [v.verdict for v in verdicts] == ["verified", "crashes", "verified"]
    assert "the worker died" in verdicts[1].message
    assert "killer.py::Killer" in seen
    assert list(temporary.iterdir()) == []


def test_an_interruption_leaves_no_process_and_no_file(mindspore_python: str, temporary: Path) -> None:
    session = Session(python=mindspore_python)
    pids: list[int] = []

    def interrupt(done: int, total: int, target: str) -> None:
        assert session.worker.pid is not None
        end = time.monotonic() + 20
        while not children_of(session.worker.pid) and time.monotonic() < end and sys.platform == "linux":
            time.sleep(0.05)
        pids.extend([session.worker.pid, *children_of(session.worker.pid)])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), session:
        session.prove([alone("Endless", timeout=60.0)], interrupt)
    end = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    assert pids
    assert not any(map(alive, pids))
    assert list(temporary.iterdir()) == []


CLIENT = """
import sys, tempfile
from pathlib import Path
from graphward.verify.jobs import Job, Options
from graphward.verify.session import Session

tempfile.tempdir = sys.argv[2]
session = Session(python=sys.argv[1])
job = Job("endless", Path(sys.argv[3]), "bad.py", "Endless", inputs=("f32[2,3]",), options=Options(timeout=60.0))
session.prove([job], lambda done, total, target: print(session.worker.pid, flush=True))
"""


def test_a_worker_does_not_outlive_a_client_that_was_killed(mindspore_python: str, temporary: Path) -> None:
    command = [sys.executable, "-c", CLIENT, mindspore_python, str(temporary), str(DATA / "alone")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        worker = int(client.stdout.readline())
        assert alive(worker)
        client.kill()
    end = time.monotonic() + 20
    while (alive(worker) or list(temporary.iterdir())) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(worker)
    assert list(temporary.iterdir()) == []


def test_a_closed_session_leaves_nothing(mindspore_python: str, temporary: Path) -> None:
    with Session(python=mindspore_python) as session:
        verdicts = session.prove([alone("SetInside"), alone("Segfaults")])
        pid = session.worker.pid
        assert len(list(temporary.iterdir())) == 1
    assert [v.verdict for v in verdicts] == ["fails", "crashes"]
    assert pid is not None
    assert not alive(pid)
    assert list(temporary.iterdir()) == []
    assert not list(DATA.rglob("*.ir"))


UNRULY = """
import os, subprocess, sys, threading, time
from pathlib import Path
from mindspore import nn

HERE = Path(__file__).parent
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        {code}

    def construct(self, x, options):
        return x * 2 + options["shift"]
"""


@pytest.mark.parametrize(
    "code",
    [
        "for _ in range(300): print('x' * 100_000)",
        "for _ in range(300): os.write(2, b'x' * 100_000)",
        "self.lines = sys.stdin.readlines()",
        "[threading.Thread(target=time.sleep, args=(600,)).start() for _ in range(4)]",
        "os.chdir(HERE)",
        "sys.stdout.close()",
        "os.dup2(os.open(os.devnull, os.O_WRONLY), 2)",
    ],
    ids=["prints", "writes to stderr", "reads stdin", "starts threads", "changes directory", "closes", "redirects"],
)
def test_unruly_code_neither_hangs_nor_spoils_a_proof(session: Session, tmp_path: Path, code: str) -> None:
    (tmp_path / "net.py").write_text(UNRULY.replace("{code}", code))
    inputs = ["f32[2,3]", "{'shift': f32[3]}"]  # a dict, so that the gradient is written as source
    [verdict] = session.prove([Job.of(parse_target("net.py::Net", tmp_path), inputs=inputs)])
    assert verdict.verdict == "verified", verdict.message
    assert verdict.judged is not None
    assert verdict.judged.gradients == "equal"
    assert [path.name for path in tmp_path.iterdir()] == ["net.py"]


@pytest.mark.parametrize("own_session", [False, True])
def test_processes_that_user_code_leaves_behind_do_not_hang_the_session(
    mindspore_python: str, tmp_path: Path, own_session: bool
) -> None:
    code = f"(HERE / str(subprocess.Popen(SLEEP, start_new_session={own_session}).pid)).touch()"
    (tmp_path / "net.py").write_text(UNRULY.replace("{code}", code))
    job = Job.of(parse_target("net.py::Net", tmp_path), inputs=["f32[2,3]", "{'shift': f32[3]}"])
    started = time.monotonic()
    [verdict] = prove([job], python=mindspore_python)
    assert time.monotonic() - started < 60
    assert verdict.verdict == "verified", verdict.message
    left = [int(path.name) for path in tmp_path.iterdir() if path.name.isdigit()]
    assert left
    if own_session:  # a daemon on purpose: not the worker's to kill
        for pid in left:
            os.kill(pid, signal.SIGKILL)
    else:
        assert not any(map(runs, left))


def test_the_worker_starts_while_the_caller_goes_on(mindspore_python: str, temporary: Path) -> None:
    started = time.monotonic()
    with Session(python=mindspore_python) as session:
        entered = time.monotonic() - started
        pid = session.worker.pid
        assert pid is not None
        session.worker.start()
        waited = time.monotonic() - started - entered
        [verdict] = session.prove([alone("Dense", file="good.py")])
        assert session.worker.pid == pid
    assert verdict.verdict == "verified"
    assert entered < waited / 2  # importing MindSpore is what takes the time


def test_a_session_that_proves_nothing_does_not_wait_for_mindspore(mindspore_python: str, temporary: Path) -> None:
    with Session(python=mindspore_python) as session:
        pid = session.worker.pid
        started = time.monotonic()
    assert time.monotonic() - started < 1
    assert pid is not None
    assert not alive(pid)
    assert list(temporary.iterdir()) == []


def test_jobs_need_different_ids(session: Session) -> None:
    with pytest.raises(GraphwardError, match="same id"):
        session.prove([alone("Dense", file="good.py"), alone("Dense", file="good.py")])


def test_an_interpreter_without_mindspore_is_told_how_to_get_it(tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    python = tmp_path / "bare" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    with pytest.raises(GraphwardError) as raised:
        prove([alone("Dense", file="good.py")], python=python)
    assert str(python) in raised.value.message
    assert "pip install 'graphward[verify]'" in raised.value.hint
    assert "--python PATH" in raised.value.hint


def fake_modules(folder: Path, version: str, body: str = "") -> None:
    (folder / "numpy.py").write_text("__version__ = '2.1.0'\n")
    (folder / "mindspore.py").write_text(f"__version__ = {version!r}\n{body}")


@pytest.mark.parametrize(
    ("version", "body", "words"),
    [
        ("2.2.14", "", "needs 2.7 or later"),
        (
            "2.7.0",
            "float32 = None\ndef Tensor(*args):\n    raise SystemError('result with an exception set')\n",
            "numpy<2",
        ),
        ("2.7.0", "raise ImportError('libopen.so is missing')\n", "libopen.so is missing"),
    ],
)
def test_a_mindspore_that_cannot_run_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, body: str, words: str
) -> None:
    fake_modules(tmp_path, version, body)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(GraphwardError) as raised:
        prove([alone("Dense", file="good.py")], python=sys.executable)
    assert words in raised.value.message
    assert "--python PATH" in raised.value.hint


def test_what_is_no_interpreter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphwardError, match="there is no interpreter"):
        prove([alone("Dense", file="good.py")], python=tmp_path / "nowhere")
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\necho not Python; exit 3\n")
    script.chmod(0o755)
    with pytest.raises(GraphwardError, match="does not run the worker"):
        prove([alone("Dense", file="good.py")], python=script)
