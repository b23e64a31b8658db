"""Proofs spread by `dask.distributed`: a real scheduler and two workers, each with a MindSpore of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphward.errors import GraphwardError
from graphward.verify.jobs import Job, Options
from graphward.verify.spread import Spread
from graphward.verify.targets import parse_target

from .catalogue import DATA, X, alone, pair

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


def test_verdicts_come_from_both_workers(scheduler: str, mindspore_python: str) -> None:
    jobs = [
        *(alone(name, file="good.py") for name in ("Dense", "Branches", "Counter", "plain")),
        alone("SetInside"), alone("Segfaults"), pair("MovedLayers"),
    ]  # fmt: skip
    steps: list[tuple[int, int]] = []
    with Spread(scheduler, python=mindspore_python) as spread:
        found = {
            verdict.id: verdict.verdict
            for verdict in spread.verdicts(jobs, lambda done, total, target: steps.append((done, total)))
        }
        with distributed.Client(scheduler, set_as_default=False) as client:
            tasks = client.run(lambda dask_worker: dask_worker.state.tasks.__len__())
            busy = client.run(worker_children)
    assert found == {
        "Dense": "verified", "Branches": "verified", "Counter": "verified", "plain": "verified",
        "SetInside": "fails", "Segfaults": "crashes", "MovedLayers": "verified",
    }  # fmt: skip
    assert steps == [(done, len(jobs)) for done in range(1, len(jobs) + 1)]
    assert len(tasks) == 2 and all(busy.values()), "each kept a warm session"
    with distributed.Client(scheduler, set_as_default=False) as client:
        assert not any(client.run(worker_children).values()), "which ended with the run"


def worker_children() -> list[str]:
    """The commands of the processes that a dask worker started for proofs."""
    listings = Path("/proc/self/task").glob("*/children")
    pids = [pid for listing in listings for pid in listing.read_text().split()]
    commands = [Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace") for pid in pids]
    return [command for command in commands if "graphward_worker" in command]


def test_the_program_takes_the_address(scheduler: str, mindspore_python: str) -> None:
    script = Path(sys.executable).with_name("graphward")
    done = subprocess.run(
        [script, "verify", f"{DATA / 'alone' / 'good.py'}::Dense", "--input", *X, "--python", mindspore_python,
         "--scheduler", scheduler, "--output-format", "json"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [entry["verdict"] for entry in json.loads(done.stdout)] == ["verified"]


def test_migration_is_spread_too(scheduler: str, mindspore_python: str, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import numpy as np\nfrom mindspore import Tensor, nn\n\n\nclass Net(nn.Cell):\n"
        "    def construct(self, x: Tensor):\n        return Tensor(np.exp(x.asnumpy())) + 1\n"
    )
    script = Path(sys.executable).with_name("graphward")
    done = subprocess.run(
        [script, "migrate", "--target", "net.py::Net", "--input", "f32[2,3]", "--python", mindspore_python,
         "--scheduler", scheduler, "--write"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "falls-back -> verified" in done.stdout
    assert "asnumpy" not in (tmp_path / "net.py").read_text()


def test_a_machine_without_mindspore_is_an_error_with_the_way_out(scheduler: str) -> None:
    with pytest.raises(GraphwardError) as raised, Spread(scheduler, python="/nowhere/python") as spread:
        list(spread.verdicts([alone("Dense", file="good.py")]))
    assert "/nowhere/python" in raised.value.message
    assert "--python" in raised.value.hint


def test_a_folder_that_the_machine_does_not_see_is_named(scheduler: str, mindspore_python: str, tmp_path: Path) -> None:
    target = parse_target("good.py::Dense", DATA / "alone")
    job = Job.of(target, rewritten=tmp_path / "elsewhere", inputs=X, options=Options())
    with pytest.raises(GraphwardError) as raised, Spread(scheduler, python=mindspore_python) as spread:
        list(spread.verdicts([job]))
    assert raised.value.path == tmp_path / "elsewhere"
    assert "share" in raised.value.hint


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "ftp://127.0.0.1:9"])
def test_a_scheduler_that_does_not_answer_is_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphward.verify.spread._PATIENCE", 2.0)
    with pytest.raises(GraphwardError) as raised, Spread(address):
        pass
    assert f"no scheduler answers at {address}" in raised.value.message
    assert "dask scheduler" in raised.value.hint


def test_a_scheduler_without_workers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphward.verify.spread._PATIENCE", 2.0)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        pytest.raises(GraphwardError) as raised,
        Spread(cluster.scheduler_address),
    ):
        pass
    assert "has no workers" in raised.value.message
    assert cluster.scheduler_address in raised.value.hint


def test_without_the_extra_the_program_says_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError('not here')\n")
    (tmp_path / "net.py").write_text("from mindspore import nn\n\n\nclass Net(nn.Cell):\n    pass\n")
    script = Path(sys.executable).with_name("graphward")
    done = subprocess.run(
        [script, "verify", "net.py::Net", "--scheduler", "tcp://127.0.0.1:9"], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2 and done.stdout == ""
    assert "pip install 'graphward[distributed]'" in done.stderr


def test_a_local_session_imports_nothing_of_it() -> None:
    program = (
        "import sys\nfrom graphward.config import VerifySettings\nfrom graphward.verify.session import proofs\n"
        "import graphward.cli.app\nproofs(VerifySettings(), None)\nprint('distributed' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "False\n", run.stderr
