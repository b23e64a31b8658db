"""Files without a `construct` that hold graph code all the same: their classes inherit one."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphward.config import Config
from graphward.engine.check import check
from graphward.engine.run import rules_of
from graphward.engine.workspace import Workspace

ROOT = (
    "from mindspore import nn\n\n\nclass Settings:\n    pass\n\n\n"
    "class Base(nn.Cell):\n    def construct(self, x):\n        return self.body(x)\n"
)
MIDDLE = "from .root import Base as Renamed\n\n\nclass Middle(Renamed):\n    pass\n"
BODY = (
    "import numpy as np\nfrom . import middle\n\n\n"
    "class Net({}):\n    def body(self, x):\n        return np.exp(x)\n"
)
SETTINGS = "from .root import Settings\n\n\nclass Mine(Settings):\n    pass\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "pkg"
    folder.mkdir()
    texts = {"__init__": "", "root": ROOT, "middle": MIDDLE, "net": BODY.format("middle.Middle"), "settings": SETTINGS}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def graph_files(package: Path) -> list[str]:
    return [module.path.stem for module in Workspace(sorted(package.glob("*.py"))).graph_modules()]


def test_an_inherited_construct_leads_over_other_files_and_names(package):
    files = sorted(package.glob("*.py"))
    config = Config(root=package)
    found = check(Workspace(files), rules_of(config), config).all_findings()
    assert [(path.stem, finding.code) for path, finding in found] == [("net", "GW101")]
    assert graph_files(package) == ["middle", "net", "root"]


@pytest.mark.parametrize(
    "bases", ["middle.Middle[int]", "\n    Mixin,\n    middle.Middle,\n", "middle.Middle, metaclass=M"]
)
def test_bases_are_read_however_they_are_written(package, bases):
    (package / "net.py").write_text(BODY.format(bases))
    assert "net" in graph_files(package)


def test_who_inherits_no_construct_is_not_parsed(package):
    (package / "net.py").write_text(BODY.format("Settings"))
    assert "net" not in graph_files(package)
