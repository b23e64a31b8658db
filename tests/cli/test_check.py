"""`graphward check`: exit status, machine formats, suppression, files that do not parse, cache and processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

GRAPHWARD = Path(sys.executable).with_name("graphward")

NET = """\
from mindspore import nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)

    def construct(self, x):
        note = "图层的转置"; return self.dense(x).transpose(0, 1)
"""
LINE = NET.splitlines()[9]
CALL = "self.dense(x).transpose(0, 1)"
CLEAN = NET.replace("transpose", "swapaxes")


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder.parent / "cache")}
    return subprocess.run(
        [GRAPHWARD, "check", *arguments], cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8"
    )


def findings(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    result = check(folder, *arguments, "--output-format", "json")
    found = json.loads(result.stdout)
    assert result.returncode == (1 if found else 0), result.stderr
    return found


def codes(folder: Path, *arguments: str) -> list[str]:
    return [finding["code"] for finding in findings(folder, *arguments)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "net.py").write_text(NET, encoding="utf-8")
    return project


def test_findings_give_status_1_and_none_give_0(folder):
    result = check(folder)
    assert result.returncode == 1
    assert f"net.py:10:{LINE.index(CALL) + 1}" in result.stdout and "GW110" in result.stdout
    (folder / "net.py").write_text(CLEAN, encoding="utf-8")
    assert check(folder).returncode == 0


def test_json_follows_the_contract(folder):
    (finding,) = findings(folder, "net.py")
    keys = {"code", "name", "message", "consequence", "path", "line", "column", "end_line", "end_column", "region"}
    assert finding.keys() >= keys | {"fixes"}
    assert (finding["code"], finding["name"], finding["consequence"]) == ("GW110", "torch-transpose", "error")
    assert (finding["path"], finding["region"]) == ("net.py", "Net.construct")
    assert (finding["line"], finding["end_line"], finding["end_column"]) == (10, 10, len(LINE) + 1)
    assert LINE[finding["column"] - 1 : finding["end_column"] - 1] == CALL
    (fix,) = finding["fixes"]
    assert fix.keys() >= {"title", "applicability", "reason", "edits"} and fix["applicability"] == "safe"
    (edit,) = fix["edits"]
    assert edit.keys() == {"line", "column", "end_line", "end_column", "text"}
    assert edit["line"] == edit["end_line"] == 10
    rewritten = LINE[: edit["column"] - 1] + edit["text"] + LINE[edit["end_column"] - 1 :]
    assert rewritten == CLEAN.splitlines()[9]


def test_json_of_nothing_is_an_empty_array(folder):
    (folder / "net.py").write_text(CLEAN, encoding="utf-8")
    assert findings(folder) == []


def test_sarif_names_the_same_place(folder):
    (finding,) = findings(folder)
    result = check(folder, "--output-format", "sarif")
    log = json.loads(result.stdout)
    assert result.returncode == 1 and log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert "GW110" in [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    (found,) = run["results"]
    assert found["ruleId"] == "GW110" and found["message"]["text"]
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "net.py"
    region = place["region"]
    assert (region["startLine"], region["endLine"]) == (finding["line"], finding["end_line"])
    assert (region["startColumn"], region["endColumn"]) == (finding["column"], finding["end_column"])
    assert run["columnKind"] == "unicodeCodePoints", "what the columns count"


def test_github_commands_name_the_same_place(folder):
    (finding,) = findings(folder)
    result = check(folder, "--output-format", "github")
    (line,) = result.stdout.splitlines()
    command = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.+)", line)
    assert result.returncode == 1 and command and command[1] == "error"
    properties = dict(item.split("=", 1) for item in command[2].split(","))
    assert (properties["file"], properties["line"]) == ("net.py", "10")
    assert (properties["col"], properties["endColumn"]) == (str(finding["column"]), str(finding["end_column"]))


def test_statistics_count_by_rule(folder):
    (folder / "other.py").write_text(NET, encoding="utf-8")
    result = check(folder, "--statistics")
    assert result.returncode == 1
    assert result.stdout.split() == ["2", "GW110", "torch-transpose", "(error)"]


def test_select_and_ignore(folder):
    assert codes(folder, "--select", "GW110") == codes(folder, "--select", "torch-transpose") == ["GW110"]
    assert codes(folder, "--ignore", "GW110") == codes(folder, "--ignore", "GW1") == []
    assert codes(folder, "--select", "GW110", "--ignore", "GW1") == ["GW110"], "the longer match wins"


def test_per_file_ignores(folder):
    (folder / "old").mkdir()
    (folder / "old/net.py").write_text(NET, encoding="utf-8")
    settings = '[tool.graphward.per-file-ignores]\n"old/*" = ["GW110"]\n'
    assert [f["path"] for f in findings(folder)] == ["net.py", "old/net.py"]
    (folder / "pyproject.toml").write_text(settings)
    assert [f["path"] for f in findings(folder)] == ["net.py"]


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# graphward: ignore[GW110]", []),
        ("# graphward: ignore", []),
        ("# graphward: ignore[torch-transpose]", []),
        ("# graphward: ignore[GW999, GW110] since it is a matrix", []),
        ("# graphward: ignore[GW999]", ["GW110"]),
        ("# graphward: ignore[]", ["GW110"]),
        ("# graphward: ignored", ["GW110"]),
    ],
)
def test_a_comment_silences_its_line(folder, comment, expected):
    second = NET.splitlines()[9] + "  " + comment
    text = NET.replace(LINE, second)
    (folder / "net.py").write_text(text, encoding="utf-8")
    (folder / "other.py").write_text(NET, encoding="utf-8")
    assert codes(folder, "net.py") == expected
    assert codes(folder, "other.py") == ["GW110"]


@pytest.mark.parametrize(
    ("comment", "expected"),
    [("ignore-file", []), ("ignore-file[GW110]", []), ("ignore-file[GW1]", []), ("ignore-file[GW999]", ["GW110"])],
)
def test_a_comment_silences_its_file(folder, comment, expected):
    (folder / "net.py").write_text(f"# graphward: {comment}\n{NET}", encoding="utf-8")
    assert codes(folder) == expected


def test_a_mark_inside_a_string_silences_nothing(folder):
    text = NET.replace("图层的转置", "# graphward: ignore-file")
    (folder / "net.py").write_text(text, encoding="utf-8")
    assert codes(folder) == ["GW110"]


def test_files_that_do_not_parse_are_named_and_the_others_checked(folder):
    (folder / "old.py").write_text("import os\nprint 'two'\n")
    (folder / "null.py").write_bytes(b"x = 1\ny = 2\x00\n")
    (folder / "prose.py").write_text("This file explains what the project is for.\n")
    (folder / "cell.py").write_text("from mindspore import nn\nclass Net(nn.Cell):\n    def construct(self, x) x\n")
    (folder / "bytes.py").write_bytes(b"x = '\xff\xfe'\n")
    for _ in range(2):  # the second time from the cache
        result = check(folder, "--output-format", "json")
        assert [f["path"] for f in json.loads(result.stdout)] == ["net.py"] and result.returncode == 1
        named = set(re.findall(r"left alone (\S+): ", result.stderr))
        assert named == {"old.py:2", "null.py:2", "prose.py:1", "cell.py:3", "bytes.py:1"}
        assert len(result.stderr.splitlines()) == 5


BASE = "from mindspore import nn\n\n\nclass Base(nn.Cell):\n    pass\n"
HEIR = """\
from .base import Base


class Net(Base):
    def construct(self, x):
        return x.transpose(0, 1)
"""


def test_the_cache_notices_a_change_in_another_file(folder):
    (folder / "net.py").unlink()
    package = folder / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "net.py").write_text(HEIR)
    base = package / "base.py"
    for paths in (["pkg/net.py"], ["."]):  # the base read beyond the run, and as a part of it
        base.write_text(BASE.replace("mindspore", "torch").replace("Cell", "Module"))
        assert codes(folder, *paths) == codes(folder, *paths) == [], "no Cell, so nothing is compiled"
        base.write_text(BASE)
        assert codes(folder, *paths) == codes(folder, *paths) == ["GW110"]
        base.unlink()
        assert codes(folder, *paths) == codes(folder, *paths, "--no-cache")
        base.write_text(BASE)
        assert codes(folder, *paths) == ["GW110"]


def test_the_cache_gives_what_was_found(folder):
    cache = folder.parent / "cache"
    uncached = check(folder, "--no-cache")
    assert not cache.exists()
    first, second = check(folder), check(folder)
    assert any(path.is_file() for path in cache.rglob("*"))
    assert first.stdout == second.stdout == uncached.stdout and "GW110" in first.stdout
    for path in cache.rglob("*.json"):
        path.write_text("{")
    assert check(folder).stdout == first.stdout, "a damaged cache is as good as none"


def test_the_cache_notices_other_settings(folder):
    assert codes(folder) == ["GW110"]
    assert codes(folder, "--ignore", "GW110") == []
    assert codes(folder) == ["GW110"]


def test_the_number_of_processes_changes_nothing(folder):
    filler = "".join(f"value_{i} = {i}\n" for i in range(20_000))
    for i in range(8):  # large enough, and apart enough, that a second process starts
        part = folder / f"part{i}"
        part.mkdir()
        (part / "__init__.py").write_text("")
        (part / "net.py").write_text(NET + filler, encoding="utf-8")
    (folder / "part3/old.py").write_text("print 'two'\n")
    one, two = (check(folder, "--no-cache", "-j", jobs, "--output-format", "json") for jobs in ("1", "2"))
    assert (one.stdout, one.stderr, one.returncode) == (two.stdout, two.stderr, two.returncode)
    assert len(json.loads(one.stdout)) == 9 and "part3/old.py:1" in one.stderr
