"""Who else holds a value that a statement writes into."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from graphward.analysis.ownership import ownership
from graphward.engine.check import analyse
from graphward.engine.workspace import Workspace

NET = """
from mindspore import nn, ops


class Net(nn.Cell):
    def same(self, t):
        return t

    def fresh(self, t):
        return t * 2

    def construct(self, x):
        {body}
"""


def holders(tmp_path: Path, body: str, *, views: bool) -> list[str]:
    """Names of the holders of what the one augmented assignment, or write of an item, changes."""
    path = tmp_path / "net.py"
    path.write_text(NET.replace("{body}", body.replace("\n", "\n        ")), encoding="utf-8")
    analysis = analyse(Workspace([path]))
    function = next(f for f in analysis.reached if f.name == "construct")
    own = ownership(analysis.inference, function)
    statement = next(
        n for n in function.nodes
        if isinstance(n, ast.AugAssign) or (isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Subscript))
    )  # fmt: skip
    target = statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0].value
    return [h.name for h in own.holders(statement, own.value(target), target.id, views=views)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x += 1\nreturn x", ["x"]),
        ("y = x * 2\ny += 1\nreturn y", []),
        ("y = x * 2\nz = y\ny += 1\nreturn z", ["z"]),
        ("y = x * 2\nz = y\nz = z + 1\ny += 1\nreturn z", []),
        ("y = x * 2\nz = y\ny += 1\nreturn y", []),
        ("y = x * 2\nz = y\ny += 1\nif z.ndim:\n    y = z\nreturn y", ["z"]),
        ("y = x * 2\nz = (x, y)\ny += 1\nreturn z", ["z"]),
        ("y = x if x.ndim else x * 2\ny += 1\nreturn y", ["x"]),
        ("y = self.same(x)\ny += 1\nreturn y", ["x"]),
        ("y = self.fresh(x)\ny += 1\nreturn y", []),
        ("y = self.bias\ny += 1\nreturn y", ["self.bias"]),
        ("y = x * 2\nz = y[0]\ny += 1\nreturn z", []),
        ("y = x\nfor i in range(2):\n    y = y * 2\n    y += i\nreturn y", []),
        ("y = x * 2\nz = ()\nfor i in range(2):\n    y += i\n    z = z + (y,)\nreturn z", ["z"]),
    ],
)
def test_objects(tmp_path: Path, body: str, expected: list[str]):
    assert holders(tmp_path, body, views=False) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = x * 2\nz = y[0]\nz[0] = 1\nreturn y", ["y"]),
        ("y = x * 2\nz = y.reshape((6,))\ny[0] = 1\nreturn z", ["z"]),
        ("y = x * 2\nz = ops.split(y, 1)[0]\nz[0] = 1\nreturn y", ["y"]),
        ("y = x * 2\nz = y.copy()\nz[0] = 1\nreturn y", []),
        ("y = x.reshape((6,))\ny[0] = 1\nreturn y", ["x"]),
        ("y = x * 2\nz = y[0] + 1\nz[0] = 1\nreturn y", []),
    ],
)
def test_memory(tmp_path: Path, body: str, expected: list[str]):
    assert holders(tmp_path, body, views=True) == expected
