"""NumPy arrays handed to graphs: followed through variables, functions and files; what stays silent."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from graphward.config import Config
from graphward.engine.check import check
from graphward.engine.workspace import Workspace
from graphward.rules.selection import selected_rules

NET = """\
from mindspore import jit, nn, ops


class Net(nn.Cell):
    def construct(self, x):
        return ops.relu(x)


@jit
def step(x):
    return ops.relu(x)
"""
PREPARE = """\
import numpy as np


def prepare(size):
    image = np.ones((1, size), np.float32)
    image = image.reshape(size, 1) / 255.0
    return image.astype(np.float32)


def sizes(size):
    return [size, size]
"""
HEAD = """\
import numpy as np
from mindspore import Tensor

from net import Net, step
from prepare import prepare, sizes

net = Net()
"""


def lines(folder: Path, body: str) -> list[int]:
    """The lines of `body` with a finding."""
    (folder / "net.py").write_text(NET)
    (folder / "prepare.py").write_text(PREPARE)
    main = folder / "main.py"
    main.write_text(HEAD + dedent(body))
    config = Config(root=folder, select=("GW109",))
    workspace = Workspace([main, folder / "net.py", folder / "prepare.py"])
    found = check(workspace, selected_rules(("GW109",), (), config.target_version), config).all_findings()
    source = main.read_bytes()
    return [source[: f.span.start].count(b"\n") + 1 - HEAD.count("\n") for _, f in found]


@pytest.mark.parametrize(
    "body",
    [
        "net(np.ones((2, 3)))",
        "step(x=np.stack([prepare(1)]))",
        "net(prepare(3))",
        "image = prepare(3); net(image)",
        "net(net(Tensor(prepare(3))).asnumpy())",
    ],
)
def test_arrays_are_found_over_files(tmp_path, body):
    assert lines(tmp_path, body) == [1]


@pytest.mark.parametrize(
    "body",
    [
        "net(Tensor(prepare(3)))",
        "net(Tensor(np.ones(3)) * np.random.uniform())",
        "print(prepare(3))",
        "step(sizes(3))",
        "image = prepare(3)\nimage = Tensor(image)\nnet(image)",
        "image = prepare(3)\nfor image in [Tensor(image)]:\n    net(image)",
    ],
)
def test_what_is_no_array_is_left_alone(tmp_path, body):
    assert lines(tmp_path, body) == []
