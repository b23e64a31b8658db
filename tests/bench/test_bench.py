"""`graphward bench TARGET`: what it counts; seconds are printed, and not judged here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

NET = """\
from mindspore import jit, nn, ops


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(4, 4) for _ in range(4)])

    def construct(self, x):
        for layer in self.layers:
            x = ops.relu(layer(x))
        return x


class Head(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)
        self.classifier = nn.Dense(4, 3)

    def construct(self, h):
        return self.classifier(ops.tanh(self.dense(h)))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.head = Head()

    @jit
    def construct(self, x):
        return self.head(self.encoder(x))
"""


def bench(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("graphward")), "bench", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_it_counts_graphs_and_sees_a_stale_head(tmp_path, mindspore_python):
    (tmp_path / "net.py").write_text(NET)
    done = bench(tmp_path, "net.py::Net", "--input", "f32[5,4]", "--runs", "1", "--no-cache", "--output-format", "json",
                 "--python", mindspore_python)  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for mode in ("forward", "gradient"):
        before, after = found[mode]["before"], found[mode]["after"]
        assert before["error"] == after["error"] == ""
        assert (before["compiled"]["first"], after["compiled"]["first"]) == (1, 2)
        assert before["stale"] and not after["stale"]
        assert after["compiled"]["head"] == 1
        # A shape that only the head sees: the one graph is compiled whole for it, of the units the head alone.
        assert (before["compiled"]["head_batch"], after["compiled"]["head_batch"]) == (1, 1)
        assert {"first", "head", "batch", "head_batch", "step", "memory"} <= before["medians"].keys()
        assert {"first", "head", "batch", "head_batch", "step", "memory"} <= after["medians"].keys()


def test_nothing_to_split_is_measured_all_the_same(tmp_path, mindspore_python):
    (tmp_path / "net.py").write_text(NET.replace("    @jit\n", ""))
    done = bench(tmp_path, "net.py::Net", "--input", "f32[5,4]", "--runs", "1", "--no-cache", "--python",
                 mindspore_python)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Nothing was split" in done.stdout
    assert "first call" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "wanted"), [(("net.py",), "names no class or function"), (("gone.py::Net",), "no such file")]
)
def test_bad_targets_are_said(tmp_path, arguments, wanted):
    (tmp_path / "net.py").write_text(NET)
    done = bench(tmp_path, *arguments)
    assert done.returncode == 2
    assert wanted in done.stderr
