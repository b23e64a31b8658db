"""Pipes that close, locales that know no Chinese, names that look like markup: output stays what it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

GRAPHWARD = Path(sys.executable).with_name("graphward")
NET = """\
from mindspore import Tensor, nn


class 网络(nn.Cell):
    def construct(self, x: Tensor):
{}        return x
"""
LINE = "        x = x.transpose(0, 1)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "中[bold].py").write_text(NET.format(LINE), encoding="utf-8")
    return project


def run(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder.parent / "cache"), **variables}
    return subprocess.run([GRAPHWARD, *arguments], cwd=folder, env=environment, capture_output=True)


@pytest.mark.parametrize("arguments", [
    ["check"], ["check", "--output-format", "json"], ["check", "--output-format", "sarif"],
    ["check", "--output-format", "github"], ["fix"],
], ids=" ".join)  # fmt: skip
def test_a_reader_that_leaves_is_no_error(folder, arguments):
    (folder / "long.py").write_text(NET.format(LINE * 2000), encoding="utf-8")  # more than a pipe holds
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder.parent / "cache")}
    process = subprocess.Popen(
        [GRAPHWARD, *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline()
    process.stdout.close()
    complaint = process.stderr.read().decode()
    process.stderr.close()
    process.wait()
    assert complaint in ("", "Would apply 2001 fixes in 2 files.\n")


PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}


def test_a_locale_without_the_characters_is_no_error(folder):
    result = run(folder, "check", PYTHONIOENCODING="ascii")
    assert (result.returncode, result.stderr) == (1, b"")
    assert rb"\u4e2d[bold].py:6:13 GW110" in result.stdout and rb"in \u7f51\u7edc.construct" in result.stdout


@pytest.mark.parametrize("variables", [{}, PLAIN], ids=["UTF-8", "C"])
def test_json_and_patches_are_utf_8_in_every_locale(folder, variables):
    result = run(folder, "check", "--output-format", "json", **{**variables, "PYTHONIOENCODING": "ascii"})
    assert (result.returncode, result.stderr) == (1, b"")
    (finding,) = json.loads(result.stdout)
    assert finding["region"] == "网络.construct"
    patch = run(folder, "fix", **variables).stdout
    assert " class 网络(nn.Cell):".encode() in patch


def test_a_file_name_that_is_no_text_is_no_error(folder):
    name = os.fsdecode(b"\xff.py")
    (folder / name).write_text(NET.format(LINE), encoding="utf-8")
    for _ in range(2):  # the second time from the cache
        result = run(folder, "check", "--output-format", "json")
        assert (result.returncode, result.stderr) == (1, b"")
        assert {finding["path"] for finding in json.loads(result.stdout)} == {name, "中[bold].py"}


def test_names_and_messages_are_no_markup(folder):
    (folder / "a[red].py").write_text("x = [1\nprint 'b[red]'\n")
    result = run(folder, "check")
    assert "中[bold].py:6:13 GW110" in result.stdout.decode()
    assert "left alone a[red].py:" in result.stderr.decode() and "'[' was never closed" in result.stderr.decode()


def test_no_color_and_no_progress_where_nobody_looks(folder):
    for arguments in (["check"], ["fix"], ["check", "--statistics"]):
        result = run(folder, *arguments)
        assert b"\x1b" not in result.stdout + result.stderr and b"\r" not in result.stderr
