"""Which files a run reads and may write: ignored ones, links, and what lies behind closed doors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .rights import without_the_rights_of_root

GRAPHWARD = Path(sys.executable).with_name("graphward")
NET = """\
from mindspore import Tensor, nn


class Net(nn.Cell):
    def construct(self, x: Tensor):
        return x.transpose(0, 1)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "net.py").write_text(NET)
    return project


linux = pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")


def graphward(folder: Path, *arguments: str, rights: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder.parent / "cache")}
    return subprocess.run(
        [GRAPHWARD, *arguments], cwd=folder, env=environment, capture_output=True, encoding="utf-8",
        preexec_fn=None if rights else without_the_rights_of_root,
    )  # fmt: skip


def checked(folder: Path, *paths: str) -> list[str]:
    result = graphward(folder, "check", *paths, "--output-format", "json")
    return [finding["path"] for finding in json.loads(result.stdout)]


def test_what_git_ignores_is_left_out_unless_it_is_named(folder):
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    (folder / ".gitignore").write_text("made/\n*_pb.py\n!kept_pb.py\n")
    (folder / "made").mkdir()
    for name in ("made/a.py", "b_pb.py", "kept_pb.py"):
        (folder / name).write_text(NET)
    assert checked(folder) == ["kept_pb.py", "net.py"]
    assert checked(folder, "made/a.py") == ["made/a.py"]


def test_settings_exclude_files(folder):
    (folder / "old").mkdir()
    (folder / "old/net.py").write_text(NET)
    (folder / "pyproject.toml").write_text('[tool.graphward]\nexclude = ["old/"]\n')
    assert checked(folder) == ["net.py"]


def test_a_file_named_twice_is_checked_once(folder):
    assert checked(folder, "net.py", "net.py", ".") == ["net.py"]


def test_a_link_out_of_the_tree_is_refused_and_named(folder):
    outside = folder.parent / "outside.py"
    outside.write_text(NET)
    (folder / "link.py").symlink_to(outside)
    result = graphward(folder, "fix", "--write")
    assert result.returncode == 0 and "left alone link.py: a symbolic link out of the tree" in result.stderr
    assert outside.read_text() == NET and "swapaxes" in (folder / "net.py").read_text()


def test_links_that_lead_nowhere_are_named_or_passed_over(folder):
    (folder / "gone.py").symlink_to("no_such.py")
    (folder / "self.py").symlink_to("self.py")
    (folder / "around").symlink_to(".")
    (folder / "ring").symlink_to("ring")
    result = graphward(folder, "check")
    assert result.returncode == 1 and result.stdout.count("GW110") == 1
    named = {line.split(":")[0].removeprefix("left alone ") for line in result.stderr.splitlines()}
    assert named == {"gone.py", "self.py"}


def test_a_file_that_is_too_large_is_named(folder):
    (folder / "pyproject.toml").write_text(f"[tool.graphward]\nmax-file-size = {len(NET) - 1}\n")
    result = graphward(folder, "check")
    assert result.returncode == 0 and "left alone net.py: larger than" in result.stderr
    assert "max-file-size" in result.stderr


@linux
@pytest.mark.parametrize("command", ["check", "fix", "migrate"])
@pytest.mark.parametrize("path", ["closed/inside/net.py", "closed", "."])
def test_a_folder_that_may_not_be_read(folder, command, path):
    inside = folder / "closed/inside"
    inside.mkdir(parents=True)
    (inside / "net.py").write_text(NET)
    (folder / "closed").chmod(0)
    try:
        result = graphward(folder, command, path, rights=False)
    finally:
        (folder / "closed").chmod(0o755)
    assert (result.returncode, result.stdout) == (2, "")
    assert "closed" in result.stderr and "Permission denied" in result.stderr and "permissions" in result.stderr
    assert "Traceback" not in result.stderr


@linux
@pytest.mark.parametrize("name", [".gitignore", "pyproject.toml"])
def test_settings_that_may_not_be_read(folder, name):
    (folder / name).touch()
    (folder / name).chmod(0)
    result = graphward(folder, "check", rights=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert name in result.stderr and "Permission denied" in result.stderr and "Traceback" not in result.stderr


@linux
@pytest.mark.parametrize("arguments", [["fix", "--write"], ["migrate", "--no-verify", "--write"]], ids=" ".join)
def test_nothing_is_written_when_one_file_may_not_be(folder, arguments):
    (folder / "alpha.py").write_text(NET)
    (folder / "net.py").chmod(0o444)
    result = graphward(folder, *arguments, rights=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert "net.py: cannot be written: Permission denied" in result.stderr and "permissions" in result.stderr
    assert (folder / "alpha.py").read_text() == (folder / "net.py").read_text() == NET


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ('[tool.graphward]\nselect = [\n    "GW1",\n    "GX2",\n]\n', 4),
        ('[tool.graphward]\nignore = ["GX2"]\n', 2),
        ('[tool.graphward.per-file-ignores]\n"net.py" = ["GX2"]\n', 2),
    ],
)
def test_an_unknown_rule_in_the_settings_is_shown_there(folder, settings, line):
    (folder / "pyproject.toml").write_text(settings)
    result = graphward(folder, "check")
    assert (result.returncode, result.stdout) == (2, "")
    assert f"pyproject.toml:{line}: no rule matches 'GX2'" in result.stderr and "`graphward rules`" in result.stderr


def test_an_empty_selection_is_an_error(folder):
    result = graphward(folder, "check", "--select", " , ")
    assert (result.returncode, result.stdout) == (2, "") and "an empty list of rules" in result.stderr
