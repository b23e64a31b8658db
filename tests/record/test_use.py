"""Recordings as inputs of proofs and as kinds for the analysis; stale and corrupt ones."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

# Not a package: pytest imports tests by their files.
sys.path.insert(0, str(Path(__file__).parent))
from project import graphward, recorded, verdicts, write

NET = """\
import numpy as np
import mindspore as ms
from mindspore import Tensor, jit, nn, ops


class Config:
    def __init__(self, width):
        self.width = width


class Odd:
    __slots__ = ("width",)

    def __init__(self, width):
        self.width = width


class Good(nn.Cell):
    def __init__(self, config, act):
        super().__init__()
        self.dense = nn.Dense(config.width, 3)
        self.act = act

    def construct(self, pair, scale):
        x, rest = pair
        return self.act(self.dense(x)) * scale + rest["bias"]


class Masked(nn.Cell):
    def construct(self, x, mask=None):
        if mask is not None:
            return Tensor(np.tanh(x.asnumpy())) * mask
        return x + 1


class Odder(nn.Cell):
    def __init__(self, odd):
        super().__init__()
        self.dense = nn.Dense(odd.width, odd.width)

    def construct(self, x):
        return Tensor(np.tanh(self.dense(x).asnumpy()))


class Fixed(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.dense = nn.Dense(5, width)

    def construct(self, x):
        return self.dense(x)


@jit
def scaled(x, indices, by: int):
    return ops.gather(x, indices, 0) * by
"""
TRAIN = """\
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops
from net import Config, Fixed, Good, Masked, Odd, Odder, scaled


def main():
    good = Good(Config(7), nn.SequentialCell(nn.ReLU(), nn.Dense(3, 3)))
    masked, odder, fixed = Masked(), Odder(Odd(6)), Fixed(2)
    for i in range(4):
        x = Tensor(np.random.rand(2, 7).astype(np.float32))
        good((x, {"bias": Tensor(np.ones((2, 3), np.float32))}), 2.5)
        masked(x)
        fixed(x[:, :5])
        odder(x[:, :6] - (2.0 if i > 1 else 0.0))
        scaled(x, Tensor([1, 0, 1], ms.int32), 3)
    masked(x, x)


if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory, mindspore_python) -> Path:
    folder = write(tmp_path_factory.mktemp("used") / "project", {"net.py": NET, "train.py": TRAIN})
    done = graphward(folder, "record", "--", mindspore_python, "train.py")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def copy(project, tmp_path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(project, tmp_path / "project"))


@pytest.fixture(scope="module")
def proven(project, mindspore_python) -> dict:
    return verdicts(project, mindspore_python, "net.py")


def test_recorded_inputs_come_before_inferred_ones(proven):
    good = proven["Good"]
    assert good["verdict"] == "verified", good["message"]
    assert good["inputs"] == {
        "source": "recorded", "specs": ["(f32[2,7], {'bias': f32[2,3]})", "2.5"],
        "target": "Good(Config(...), SequentialCell(ReLU(), Dense(3, 3)))",
    }  # fmt: skip
    assert any("train.py`: called so 4 times" in note for note in good["notes"])
    scaled = proven["scaled"]
    assert scaled["verdict"] == "verified" and scaled["inputs"]["specs"] == ["f32[2,7]", "i32[3]<2", "3"]


def test_each_kind_of_recorded_call_has_to_hold(proven):
    masked = proven["Masked"]
    assert masked["verdict"] == "falls-back", "the call without a mask alone compiles whole"
    assert masked["inputs"]["specs"] == ["f32[2,7]", "f32[2,7]"]


def test_inputs_that_were_typed_come_first(project, mindspore_python):
    done = graphward(project, "verify", "--python", mindspore_python, "--output-format", "json",
                     "net.py::Masked", "--input", "f32[3]")  # fmt: skip
    (verdict,) = json.loads(done.stdout)
    assert verdict["inputs"]["source"] == "declared" and verdict["verdict"] == "verified"


def test_the_script_runs_again_where_arguments_cannot_be_stored(project, proven, tmp_path, mindspore_python):
    odder = proven["Odder"]
    assert odder["verdict"] == "falls-back" and odder["inputs"]["source"] == "recorded"
    assert any("run again for the proof" in note and "Odd" in note for note in odder["notes"])

    line = "return Tensor(np.tanh(self.dense(x).asnumpy()))"
    for expression, verdict in (("ops.stop_gradient(ops.tanh(self.dense(x)))", "verified"),
                                ("ops.tanh(self.dense(x) + 1)", "diverges")):  # fmt: skip
        other = write(tmp_path / verdict, {"net.py": NET.replace(line, f"return {expression}"), "train.py": TRAIN})
        found = verdicts(project, mindspore_python, "net.py::Odder", "--against", other)["Odder"]
        assert found["verdict"] == verdict, found["message"]
        assert found["rewritten"]["compiles"] and len(found["rewritten"]["compilations"]) == 3
    assert {path.name for path in project.iterdir()} == {"net.py", "train.py", ".graphward"}


def test_a_later_call_of_the_script_that_differs_alone_is_found(project, tmp_path, mindspore_python):
    line = "return Tensor(np.tanh(self.dense(x).asnumpy()))"
    where_positive = "return ops.stop_gradient(ops.tanh(self.dense(ops.relu(x))))"
    other = write(tmp_path / "other", {"net.py": NET.replace(line, where_positive), "train.py": TRAIN})
    found = verdicts(project, mindspore_python, "net.py::Odder", "--against", other)["Odder"]
    assert found["verdict"] == "diverges", found["message"]
    assert (found["rewritten"]["difference"]["part"], found["rewritten"]["difference"]["call"]) == ("outputs", 3)


def test_migrate_keeps_what_recorded_inputs_prove(project, mindspore_python):
    done = graphward(project, "migrate", "--python", mindspore_python, "net.py", "--output-format", "json")
    found = {v["target"].partition("::")[2]: v for v in json.loads(done.stdout)}
    for name in ("Masked", "Odder"):
        assert found[name]["verdict"] == "verified", found[name]["message"]
        assert found[name]["inputs"]["source"] == "recorded"
        assert found[name]["original"]["verdict"] == "falls-back"


def test_recorded_dtypes_reach_the_analysis_and_its_cache(copy):
    with_recording = graphward(copy, "check", "net.py", "--select", "GW1").stdout
    recording = copy / ".graphward"
    recording.rename(copy / "away")
    without = graphward(copy, "check", "net.py", "--select", "GW1").stdout
    (copy / "away").rename(recording)
    again = graphward(copy, "check", "net.py", "--select", "GW1").stdout
    assert "the dtype is not known here" in without
    assert with_recording == again != without
    masked = re.compile(r"in Masked\.construct.*?(?=\nnet\.py|\Z)", re.DOTALL)
    assert "dtype is not known" in masked.search(without)[0]
    assert "dtype is not known" not in masked.search(with_recording)[0]


def test_other_parameters_make_a_recording_stale(copy, mindspore_python):
    text = NET.replace("def construct(self, x, mask=None):", "def construct(self, x, mask=None, extra=1):")
    before, after = "def __init__(self, width):\n        super", "def __init__(self, width, bias=0):\n        super"
    write(copy, {"net.py": text.replace(before, after)})
    check = graphward(copy, "check", "net.py")
    assert "Traceback" not in check.stderr
    assert "is stale: Masked took (x, mask=) and takes (x, mask=, extra=) now" in check.stderr
    assert "graphward record -- " in check.stderr
    found = verdicts(copy, mindspore_python, "net.py::Masked", "net.py::Fixed")
    for name in ("Masked", "Fixed"):
        assert found[name]["inputs"]["source"] == "inferred"
        (note,) = [note for note in found[name]["notes"] if "Stale" in note]
        assert "record again: graphward record -- " in note and "train.py" in note


def test_shapes_that_are_not_accepted_any_more_are_told(copy, mindspore_python):
    write(copy, {"net.py": NET.replace("nn.Dense(5, width)", "nn.Dense(9, width)")})
    fixed = verdicts(copy, mindspore_python, "net.py::Fixed")["Fixed"]
    assert fixed["inputs"]["source"] != "recorded"
    assert any("not accepted any more" in note and "record again" in note for note in fixed["notes"])


@pytest.mark.parametrize(
    "content",
    ["{", "[1]", '{"format": 99}', "\0\1", "[" * 100_000, '{"format": 1, "file": "net.py", "qualname": 3}'],
)
def test_a_corrupt_file_is_named_and_ignored(copy, content):
    (path,) = (copy / ".graphward" / "recorded").glob("*/*/*Masked*.json")
    path.write_text(content)
    done = graphward(copy, "check", "net.py")
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr
    assert path.name in done.stderr and "no recording" in done.stderr


def test_broken_nodes_and_arrays_end_in_inferred_inputs(copy, mindspore_python):
    (path,) = (copy / ".graphward" / "recorded").glob("*/*/*Good*.json")
    data = json.loads(path.read_text())
    data["calls"][0]["samples"][0]["args"][0]["items"][0]["shape"] = "wide"
    path.write_text(json.dumps(data))
    for array in (copy / ".graphward" / "recorded").glob("*/*/*.npy"):
        array.write_bytes(b"not an array")
    for run in (copy / ".graphward" / "recorded").glob("*/run.json"):
        run.write_text("nothing")
    done = graphward(copy, "verify", "--python", mindspore_python, "--output-format", "json", "net.py::Fixed")
    assert "Traceback" not in done.stderr
    assert path.name in done.stderr and "run.json" in done.stderr
    (verdict,) = json.loads(done.stdout)
    assert verdict["verdict"] == "verified" and verdict["inputs"]["source"] == "inferred"
    assert any("cannot be read" in note for note in verdict["notes"])


def test_a_recording_cannot_make_a_proof_run_what_is_no_cell(copy, mindspore_python):
    (path,) = (copy / ".graphward" / "recorded").glob("*/*/*Good*.json")
    trap = copy / "sprung"
    for kind in (
        {"kind": "cell", "class": {"module": "os", "file": None, "name": "mkdir"},
         "args": [{"kind": "constant", "type": "str", "value": str(trap)}], "kwargs": {}},
        {"kind": "reference", "to": {"module": "os", "file": None, "name": "mkdir"}},
        {"kind": "object", "class": {"module": "tempfile", "file": None, "name": "TemporaryDirectory"}, "state": {}},
    ):  # fmt: skip
        data = json.loads(path.read_text())
        data["constructors"][0]["args"][1] = kind
        path.write_text(json.dumps(data))
        good = verdicts(copy, mindspore_python, "net.py::Good")["Good"]
        assert any("Unavailable" in note for note in good["notes"]), good
        assert not trap.exists()


def test_recordings_hold_no_place_outside_of_the_project(project):
    assert {data["file"] for data in recorded(project).values()} == {"net.py"}
