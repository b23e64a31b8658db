"""Where GW601 cuts, over several files and by hand."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from graphward.config import Config
from graphward.engine.check import check
from graphward.engine.fixpoint import fix, within
from graphward.engine.workspace import Workspace
from graphward.rules.selection import selected_rules
from graphward.source.fixes import Applicability

PARTS = """\
from mindspore import nn, ops


class Encoder(nn.Cell):
    def __init__(self, size=8):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(size, size) for _ in range(4)])

    def construct(self, x):
        for layer in self.layers:
            x = ops.relu(layer(x))
        return x


class Head(nn.Cell):
    def __init__(self, size=8, classes=3):
        super().__init__()
        self.dense = nn.Dense(size, size)
        self.classifier = nn.Dense(size, classes)

    def construct(self, h):
        return self.classifier(ops.tanh(self.dense(h)))
"""
NET = """\
import mindspore as ms
from mindspore import nn

from parts import Encoder, Head


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.head = Head()

    {decorator}
    def construct(self, x):
        return self.head(self.encoder(x))
"""
TRAIN = """\
import mindspore as ms

from net import Net

net = Net()


def step(x):
    return net(x).sum()


{call}
"""


def split(folder: Path, config: Config | None = None, **files: str) -> dict[str, str]:
    """What GW601 makes of the files, by name."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    paths = [folder / f"{name}.py" for name in files]
    chosen = config or Config(root=folder)
    rules = selected_rules(("GW601",), (), chosen.target_version)
    result = fix(Workspace(paths), rules, chosen, within(Applicability.UNSAFE))
    return {path.stem: change.after.text for path, change in result.changes.items()}


def said(folder: Path, **files: str) -> list[str]:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    paths = [folder / f"{name}.py" for name in files]
    config = Config(root=folder)
    found = check(Workspace(paths), selected_rules(("GW601",), (), config.target_version), config)
    return [f"{f.message} {[(x.applicability.value, x.reason) for x in f.fixes]}" for _, f in found.all_findings()]


def test_parts_in_another_file_get_their_decorators_there(tmp_path):
    after = split(tmp_path, parts=PARTS, net=NET.format(decorator="@ms.jit"))
    assert "jit" not in after["net"].replace("import mindspore as ms", "")
    assert after["parts"].count("@ms.jit\n    def construct") == 2
    assert "import mindspore as ms" in after["parts"]


def test_a_call_of_jit_is_followed_through_three_files(tmp_path):
    files = {"parts": PARTS, "net": NET.format(decorator="# plain")}
    after = split(tmp_path, **files, train=TRAIN.format(call="step = ms.jit(step)"))
    assert "net" not in after  # it is plain Python as it stands
    assert after["train"].endswith("    return net(x).sum()\n")
    assert after["parts"].count("@ms.jit\n    def construct") == 2


def test_a_split_is_not_split_again(tmp_path):
    files = {"parts": PARTS, "net": NET.format(decorator="@ms.jit")}
    once = files | split(tmp_path, **files)
    assert split(tmp_path, **once) == {}


def test_what_jit_does_on_a_condition_is_told_and_left(tmp_path):
    call = "import sys\nif '--jit' in sys.argv:\n    step = ms.jit(step)"
    files = {"parts": PARTS, "net": NET.format(decorator="# plain"), "train": TRAIN.format(call=call)}
    assert split(tmp_path, **files) == {}
    (message,) = said(tmp_path, **files)
    assert "manual" in message and "MS_JIT=0" in message


@pytest.mark.parametrize("decorator", ["@ms.jit(capture_mode='bytecode')", "@ms.jit(jit_level=LEVEL)"])
def test_options_that_do_not_move_keep_the_graph(tmp_path, decorator):
    files = {"parts": PARTS, "net": NET.format(decorator=decorator)}
    assert "net" not in split(tmp_path, **files)


def test_units_can_be_chosen(tmp_path):
    config = replace(Config(root=tmp_path), units=("head",))
    after = split(tmp_path, config, parts=PARTS, net=NET.format(decorator="@ms.jit"))
    assert "@ms.jit\n    def construct(self, h)" in after["parts"]
    assert "@ms.jit\n    def construct(self, x)" not in after["parts"]


def test_a_tuple_of_tensors_is_handed_to_no_unit(tmp_path):
    parts = PARTS.replace("return x\n", "return x, x * 2\n").replace("self.dense(h)", "self.dense(h[0] + h[1])")
    after = split(tmp_path, parts=parts, net=NET.format(decorator="@ms.jit"))
    assert "@ms.jit\n    def construct(self, h)" not in after.get("parts", "")


MODE = """\
import os
import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

{parts}

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.head = Head()

    def construct(self, x):
        return self.head(self.encoder(x))


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
    net = Net()
    x = Tensor(np.ones((2, 8), np.float32))
    net(x)
    net.head = Head(classes=5)
    print("shape", net(x).shape)
    sys.stdout.flush()
    os._exit(0)
"""


def test_a_cell_that_graph_mode_compiles_whole_is_split_with_the_mode(mindspore_python: str, tmp_path: Path):
    """Before, Graph Mode goes on with the old head; after, the new one is compiled."""
    net = tmp_path / "net.py"
    net.write_text(MODE.format(parts=PARTS.partition("\n\n")[2]))
    run = [mindspore_python, "net.py"]
    before = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert "shape (2, 3)" in before.stdout, before.stderr[-500:]
    config = Config(root=tmp_path, select=("GW601",))
    rules = selected_rules(config.select, (), config.target_version)
    (found,) = [f for _, f in check(Workspace([net]), rules, config).all_findings()]
    assert [f.applicability.value for f in found.fixes] == ["manual"]  # Graph Mode is what was asked for
    told = fix(Workspace([net]), rules, replace(config, run_mode="jit"), within(Applicability.UNSAFE))
    net.write_bytes(told.changes[net].after.to_bytes())
    after = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert "shape (2, 5)" in after.stdout, after.stderr[-500:]


def test_migrate_proves_a_split_over_files_and_keeps_it(mindspore_python: str, tmp_path: Path):
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "net.py").write_text(NET.format(decorator="@ms.jit"))
    command = [str(Path(sys.executable).with_name("graphward")), "migrate", "net.py", "parts.py", "--target",
               "net.py::Net", "--input", "f32[2,8]", "--select", "GW601", "--python", mindspore_python, "--write",
               "--output-format", "json"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=180)
    assert done.returncode in (0, 1), done.stderr
    assert (tmp_path / "parts.py").read_text().count("@ms.jit") + (tmp_path / "parts.py").read_text().count("@jit") == 2
    assert "jit" not in (tmp_path / "net.py").read_text().replace("import mindspore as ms", "")
