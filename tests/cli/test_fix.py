"""`graphward fix`: a patch that git takes, files rewritten in their own manner, nothing touched without need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

GRAPHWARD = Path(sys.executable).with_name("graphward")

NET = """\
from mindspore import nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)

    def construct(self, x):
        # Größe
        return self.dense(x).transpose(0, 1)
"""
FIXED = NET.replace("transpose", "swapaxes")
assert FIXED != NET
LAYOUTS = {
    "plain": lambda text: text.encode(),
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "no final newline": lambda text: text.rstrip("\n").encode(),
    "crlf, no final newline": lambda text: text.rstrip("\n").replace("\n", "\r\n").encode(),
    "mixed line ends": lambda text: text.replace("\n", "\r\n", 6).encode(),
    "bom": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "bom beside the fix": lambda text: b"\xef\xbb\xbf" + _short(text).encode(),
    "tabs": lambda text: text.replace("    ", "\t").encode(),
    "form feed": lambda text: text.replace("\n\n\n", "\n\x0c\n\n").encode(),
    "latin-1": lambda text: f"# -*- coding: latin-1 -*-\n{text}".encode("latin-1"),
    "gbk": lambda text: f"# coding: gbk\n{text}".replace("Größe", "图层").encode("gbk"),
}


def _short(text: str) -> str:
    """The same call so near the top that the first line is in the patch."""
    method = "transpose" if "transpose" in text else "swapaxes"
    head = "from mindspore import nn\n"
    return head + f"class N(nn.Cell):\n    def construct(self, x): return nn.ReLU()(x).{method}(0, 1)\n"


def fix(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / ".cache")}
    return subprocess.run(
        [GRAPHWARD, "fix", "--select", "GW110", *arguments], cwd=folder, env=environment, capture_output=True
    )


def state(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Contents, permissions and time of change of every file."""
    files = [path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns)
        for path in files
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_dry_run_writes_nothing_and_prints_a_patch(tmp_path, layout):
    file = tmp_path / "pkg/net.py"
    file.parent.mkdir()
    file.write_bytes(LAYOUTS[layout](NET))
    before = state(tmp_path)
    result = fix(tmp_path, "pkg")
    assert result.returncode == 1 and b"Would apply 1 fix in 1 file." in result.stderr, result.stderr
    assert state(tmp_path) == before
    git = ["git", "-c", "core.autocrlf=false", "-c", "core.safecrlf=false"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    applied = subprocess.run([*git, "apply", "-"], input=result.stdout, cwd=tmp_path, capture_output=True)
    assert applied.returncode == 0, (applied.stderr, result.stdout)
    assert file.read_bytes() == LAYOUTS[layout](FIXED)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_writing_keeps_the_manner_of_the_file(tmp_path, layout):
    file = tmp_path / "net.py"
    file.write_bytes(LAYOUTS[layout](NET))
    file.chmod(0o751)
    result = fix(tmp_path, "net.py", "--write")
    assert result.returncode == 0 and b"Applied 1 fix in 1 file." in result.stderr, result.stderr
    assert file.read_bytes() == LAYOUTS[layout](FIXED)
    assert file.stat().st_mode & 0o7777 == 0o751
    assert list(tmp_path.iterdir()) == [file], "no temporary file is left"


def test_a_file_without_edits_is_not_written(tmp_path):
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "clean.py").write_text(FIXED)
    (tmp_path / "old.py").write_text("print 'not Python 3'\n")
    before = state(tmp_path)
    result = fix(tmp_path, "--write")
    assert b"old.py:1: does not parse" in result.stderr
    after = state(tmp_path)
    assert after["net.py"] != before["net.py"]
    assert {name: after[name] for name in ("clean.py", "old.py")} == {
        name: before[name] for name in ("clean.py", "old.py")
    }


def test_the_second_run_changes_nothing(tmp_path):
    (tmp_path / "net.py").write_text(NET)
    assert fix(tmp_path, "net.py", "--write").returncode == 0
    before = state(tmp_path)
    again = fix(tmp_path, "net.py", "--write")
    assert (again.returncode, again.stdout) == (0, b"") and b"Applied 0 fixes" in again.stderr
    assert state(tmp_path) == before
    assert fix(tmp_path, "net.py").returncode == 0


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.py").write_text(NET)
    (tmp_path / "net.py").symlink_to("real.py")
    assert fix(tmp_path, "net.py", "--write").returncode == 0
    assert (tmp_path / "net.py").is_symlink() and (tmp_path / "real.py").read_text() == FIXED


def test_a_silenced_finding_is_not_fixed(tmp_path):
    text = NET.replace("(0, 1)", "(0, 1)  # graphward: ignore[GW110]")
    (tmp_path / "net.py").write_text(text)
    result = fix(tmp_path, "net.py", "--write")
    assert (result.returncode, result.stdout) == (0, b"")
    assert (tmp_path / "net.py").read_text() == text
