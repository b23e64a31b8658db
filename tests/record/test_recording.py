"""`graphward record`: what it keeps of a run, whatever the script does, and that it changes nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# Not a package: pytest imports tests by their files.
sys.path.insert(0, str(Path(__file__).parent))
from project import graphward, recorded, write

NET = """\
import enum
from dataclasses import dataclass

import mindspore as ms
from mindspore import jit, nn, ops


class Mode(enum.Enum):
    FAST = 1


@dataclass
class Config:
    width: int = 4
    mode: Mode = Mode.FAST
    act: object = ops.relu
    dtype: object = ms.float32


class Inner(nn.Cell):
    def __init__(self, config, norm):
        super().__init__()
        self.dense = nn.Dense(config.width, config.width)
        self.act = config.act
        self.norm = norm

    def construct(self, x, mask=None, *, scale=1.0):
        if mask is not None:
            x = x * mask
        return self.norm(self.act(self.dense(x))) * scale


class Outer(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, batch):
        # Neither a graph nor a trace can do this: the run was PyNative.
        assert batch["x"].asnumpy().sum() != 1e9
        return self.inner(batch["x"], batch["mask"][0], scale=2.0)


class OwnCall(nn.Cell):
    def __call__(self, x):
        return x + 1


@jit(fullgraph=True)
def loss(x, weight):
    return float(x.asnumpy().mean()) * weight
"""
TRAIN = """\
import os
import signal
import sys

import numpy as np
import mindspore as ms
from mindspore import Tensor, context, nn, set_context
from mindspore import jit as compiled
from net import Config, Inner, Outer, OwnCall, loss

set_context(mode=ms.GRAPH_MODE)
context.set_context(mode=context.GRAPH_MODE)
inner = Inner(Config(), nn.LayerNorm((4,)))
outer = Outer(inner)
fast = ms.jit(outer)


@compiled(capture_mode="trace")
def step(batch, number):
    out = fast(batch)
    assert out.asnumpy().shape == (2, 4)
    return loss(out, 0.5)


print("started")
for i in range(20):
    x = Tensor(np.full((2, 4), i, np.float32))
    step({"x": x, "mask": (Tensor(np.ones((2, 1), np.float32)), None)}, i)
    if i == 5:
        inner(x)
        inner(Tensor(np.zeros((300, 1000, 4), np.float32) - 3))
        OwnCall()(x)
        exec(sys.argv[1] if len(sys.argv) > 1 else "")
print("ended")
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory, mindspore_python) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = write(tmp_path_factory.mktemp("whole") / "project", {"net.py": NET, "train.py": TRAIN})
    return folder, graphward(folder, "record", "--", mindspore_python, "train.py")


def test_the_script_runs_as_it_is_and_its_output_is_its_own(run):
    folder, done = run
    assert done.returncode == 0, done.stderr
    assert done.stdout == "started\nended\n"
    assert "3 Cell classes and 2 jit functions" in done.stderr
    assert {path.name for path in folder.iterdir()} == {"net.py", "train.py", ".graphward"}
    assert (folder / ".graphward" / ".gitignore").read_text() == "*\n"


def test_only_data_is_written(run):
    folder, _ = run
    files = [path for path in (folder / ".graphward" / "recorded").rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".json", ".npy"}
    for path in files:
        if path.suffix == ".json":
            json.loads(path.read_text())
        else:
            # The header of the format names the dtype; an object array, which would need pickle, is `|O`.
            assert path.read_bytes()[:6] == b"\x93NUMPY" and b"|O" not in path.read_bytes()[:128]


def test_constructors_and_calls_are_kept_and_the_outermost_ones_told(run):
    found = recorded(run[0])
    outer, inner = found["Outer"], found["Inner"]
    assert (outer["count"], inner["count"]) == (20, 22)
    assert (outer["outline"], inner["outline"]) == ("batch", "x, mask=, scale=")
    ((call,), (constructor,)) = outer["calls"], outer["constructors"]
    assert call["count"] == 20 and call["outermost"] == 0, "they are called by the jit function `step`"
    (made,) = constructor["args"]
    assert made["kind"] == "cell" and made["class"]["name"] == "Inner" and made["class"]["file"] == "net.py"
    config, norm = made["args"]
    assert config["kind"] == "object" and config["class"]["name"] == "Config"
    assert config["state"]["width"]["value"] == 4 and config["state"]["mode"]["name"] == "FAST"
    assert config["state"]["act"]["to"]["name"] == "relu" and config["state"]["dtype"]["name"] == "float32"
    assert norm["class"]["name"] == "LayerNorm" and norm["args"][0]["items"][0]["value"] == 4
    batch = call["samples"][0]["args"][0]
    assert [key["value"] for key in batch["keys"]] == ["x", "mask"]
    assert batch["items"][0]["shape"] == [2, 4] and batch["items"][1]["kind"] == "tuple"
    assert len(call["samples"]) == 2, "the values of a second call, which differ, are kept too"


def test_distinct_calls_are_kept_apart(run):
    inner = recorded(run[0])["Inner"]
    kinds = [[len(c["samples"][0]["args"]), sorted(c["samples"][0]["kwargs"]), c["outermost"]] for c in inner["calls"]]
    assert kinds == [[2, ["scale"], 0], [1, [], 1], [1, [], 1]]
    (large,) = inner["calls"][2]["samples"][0]["args"]
    assert large["shape"] == [300, 1000, 4] and "file" not in large
    assert (large["low"], large["high"], large["values"]) == (-3, -3, [-3])


def test_functions_and_cells_with_a_call_of_their_own_are_seen(run):
    found = recorded(run[0])
    assert found["loss"]["kind"] == "function" and found["loss"]["count"] == 20
    assert found["loss"]["calls"][0]["samples"][0]["args"][1] == {"kind": "constant", "type": "float", "value": 0.5}
    assert found["step"]["calls"][0]["outermost"] == 20
    assert found["OwnCall"]["count"] == 1


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("raise ValueError('gone')", 1),
        ("os._exit(9)", 9),
        ("os.kill(os.getpid(), signal.SIGKILL)", 137),
        ("os.kill(os.getppid(), signal.SIGTERM); signal.pause()", 143),
    ],
)
def test_what_was_recorded_is_kept_however_the_script_ends(tmp_path, mindspore_python, end, status):
    folder = write(tmp_path / "project", {"net.py": NET, "train.py": TRAIN})
    done = graphward(folder, "record", "--", mindspore_python, "train.py", end)
    assert done.returncode == status, done.stderr
    assert done.stdout in ("started\n", ""), "what was buffered dies with the process"
    found = recorded(folder)
    assert set(found) == {"Inner", "Outer", "OwnCall", "loss", "step"}
    assert all(call["completed"] for data in found.values() for call in data["calls"])
    assert "recorded 3 Cell classes" in done.stderr


def test_a_module_a_test_runner_and_a_sitecustomize_of_the_users_own(tmp_path, mindspore_python):
    folder = write(
        tmp_path / "project",
        {
            "pkg/__init__.py": "",
            "pkg/net.py": NET,
            "pkg/train.py": "import mindspore as ms\nfrom .net import loss\n"
            "if __name__ == '__main__':\n    loss(ms.Tensor([1.0, 2.0]), 3)\n",
            "test_net.py": "import unittest\nimport mindspore as ms\nfrom pkg.net import OwnCall, loss\n\n\n"
            "class Test(unittest.TestCase):\n    def test(self):\n        OwnCall()(ms.Tensor([1.0]))\n"
            "        self.assertTrue(False)\n",
            # Graphward's own process has the same PYTHONPATH, and no business here.
            "site/sitecustomize.py": "import os\nif 'MS_JIT' in os.environ:\n    print('customized')\n",
        },
    )
    site = str(folder / "site")
    module = graphward(folder, "record", "--", mindspore_python, "-m", "pkg.train", PYTHONPATH=site)
    assert (module.returncode, module.stdout) == (0, "customized\n"), module.stderr
    assert set(recorded(folder)) == {"loss"} and recorded(folder)["loss"]["file"] == "pkg/net.py"

    tests = graphward(folder, "record", "--", mindspore_python, "-m", "unittest", "-q")
    assert tests.returncode == 1, "the status of the test runner"
    assert set(recorded(folder)) == {"loss", "OwnCall"}, "another command adds to what is there"

    graphward(folder, "record", "--", mindspore_python, "-m", "unittest", "-q")
    runs = list((folder / ".graphward" / "recorded").iterdir())
    assert len(runs) == 2, "the same command again takes the place of its older run"


def test_pytest_is_recorded(tmp_path, mindspore_python):
    if subprocess.run([mindspore_python, "-c", "import pytest"], capture_output=True).returncode:
        pytest.skip("the interpreter with MindSpore has no pytest")
    test = "import mindspore as ms\nfrom net import OwnCall\n\n\ndef test():\n    OwnCall()(ms.Tensor([1.0]))\n"
    folder = write(tmp_path / "project", {"net.py": NET, "test_net.py": test})
    done = graphward(folder, "record", "--", mindspore_python, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout
    assert set(recorded(folder)) == {"OwnCall"}


def test_a_program_that_starts_python_is_recorded(tmp_path, mindspore_python):
    """As `record -- pytest` does: an installed script, whose first line names the interpreter."""
    program = f"#!{mindspore_python}\nimport runpy, sys\nsys.argv = ['unittest', '-q']\n"
    test = "import unittest\nimport mindspore as ms\nfrom net import OwnCall\n\n\nclass Test(unittest.TestCase):\n"
    test += "    def test(self):\n        OwnCall()(ms.Tensor([1.0]))\n"
    program += "sys.path.insert(0, '')\nrunpy.run_module('unittest', run_name='__main__')\n"
    folder = write(tmp_path / "project", {"net.py": NET, "test_net.py": test})
    write(tmp_path / "bin", {"check": program})
    (tmp_path / "bin" / "check").chmod(0o755)
    done = graphward(folder, "record", "--", "check", PATH=f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    assert set(recorded(folder)) == {"OwnCall"}


def test_a_command_that_cannot_be_run_is_bad_input(tmp_path):
    write(tmp_path, {"train.py": ""})
    script = graphward(tmp_path, "record", "--", "train.py", "--epochs", "1")
    assert script.returncode == 2 and "graphward record -- python train.py --epochs 1" in script.stderr
    absent = graphward(tmp_path, "record", "--", "no-such-program")
    assert absent.returncode == 2 and "no-such-program" in absent.stderr
    assert not (tmp_path / ".graphward").exists()


def test_a_run_that_calls_nothing_says_so_and_keeps_what_was_there(tmp_path):
    quiet = graphward(tmp_path, "record", "--", sys.executable, "-c", "raise SystemExit(3)")
    assert quiet.returncode == 3 and "nothing recorded" in quiet.stderr and "no Cell" in quiet.stderr
    isolated = graphward(tmp_path, "record", "--", sys.executable, "-I", "-c", "pass")
    assert isolated.returncode == 0 and "no Python that could be watched" in isolated.stderr
    assert not list((tmp_path / ".graphward" / "recorded").iterdir())
