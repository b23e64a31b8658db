"""A review of real files, with the real engine and no terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graphward.config import Config
from graphward.review.checking import Checker
from graphward.review.session import Review, Ways
from graphward.review.store import Store

NET = '''import numpy as np
from mindspore import Tensor, nn


class Net(nn.Cell):
    def construct(self, x: Tensor, mask=None):
        x = x.transpose(0, 1)  # 转置
        if (x is None) ^ (mask is None):
            x = x + 1
        z = Tensor(np.tanh(np.abs(x.asnumpy())))
        return x.transpose(1, 2) + z
'''
Begin = Callable[..., Review]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, which keeps its decisions to itself."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def begin(project: Path) -> Begin:
    """Begins a review of what is in the folder: `net.py` as above unless a test writes others."""
    if not list(project.glob("*.py")):
        (project / "net.py").write_text(NET, encoding="utf-8")

    def begin(*, as_left: bool = False, keep: bool = True, ways: Ways | None = None) -> Review:
        config = Config(root=project)
        review = Review(Checker([Path()], config), Store(project) if keep else None, ways or Ways())
        found, problems = review.checker.first()
        assert not problems
        review.begin(found, as_left=as_left)
        return review

    return begin
