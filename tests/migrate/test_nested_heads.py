"""A fix of the head of a nested function is proven by what runs the function around it."""

from __future__ import annotations

from pathlib import Path

from graphward.config import Config, VerifySettings
from graphward.engine.workspace import Workspace
from graphward.migrate.run import migrate
from graphward.rules.registry import rule

NET = """from mindspore import nn


class Net(nn.Cell):
    def construct(self, x):
        async def scale(v):
            return v * 2

        return x
"""


def test_a_coroutine_that_nothing_calls_is_rewritten_and_proven(tmp_path: Path, mindspore_python: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET)
    settings = VerifySettings(targets={f"{path}::Net": ("f32[2,3]",)})
    config = Config(root=tmp_path, python=mindspore_python, verify=settings)
    result = migrate(Workspace([path]), [rule("GW321")], config)
    assert [v.verdict for v in result.verdicts] == ["verified"]
    assert [c.finding.code for c in result.kept.values()] == ["GW321"]
    assert not result.turned_away and not result.unproven
