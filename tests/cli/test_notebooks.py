"""Notebooks from disk: found, told by their cells, fixed without another byte touched, refused where nothing can run
them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

GRAPHWARD = Path(sys.executable).with_name("graphward")

SETUP = "%matplotlib inline\n!pip install mindspore\nfrom mindspore import nn\nimport numpy as np"
NET = """\
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)

    def construct(self, x):
        # 图层
        return self.dense(x).transpose(0, 1)
"""
FIXED = NET.replace("transpose", "swapaxes")
OUTPUT = {"name": "stdout", "output_type": "stream", "text": ["x.transpose(0, 1)\n"]}


def code(source: str, **more: Any) -> dict[str, Any]:
    cell = {"cell_type": "code", "execution_count": 7, "metadata": {}, "outputs": [OUTPUT]}
    return {**cell, "source": source.splitlines(keepends=True), **more}


def book(*sources: str, **more: Any) -> bytes:
    """As Jupyter writes it: a cell of text, then cells of code."""
    prose = {"cell_type": "markdown", "metadata": {}, "source": ["# Größe"]}
    cells = [prose, *(code(source) for source in sources)]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def run(folder: Path, *arguments: str, without_nbformat: bool = False) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder.parent / "cache")}
    command: list[str | Path] = [GRAPHWARD, *arguments]
    if without_nbformat:
        start = "import sys; sys.modules['nbformat'] = None; from graphward.cli.app import main; main()"
        command = [sys.executable, "-c", start, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")


def found(folder: Path, *arguments: str) -> list[tuple[str, int | None, int, str]]:
    result = run(folder, "check", *arguments, "--output-format", "json")
    assert result.returncode in (0, 1), result.stderr
    return [(f["path"], f.get("cell"), f["line"], f["code"]) for f in json.loads(result.stdout)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "book.ipynb").write_bytes(book(SETUP, NET))
    return project


def test_places_are_told_by_their_cells(folder):
    result = run(folder, "check", "book.ipynb")
    assert result.returncode == 1 and result.stdout.startswith("book.ipynb:cell 3:8:16 GW110 ")
    (finding,) = json.loads(run(folder, "check", "--output-format", "json").stdout)
    assert (finding["path"], finding["cell"], finding["line"], finding["column"]) == ("book.ipynb", 3, 8, 16)
    (edit,) = finding["fixes"][0]["edits"]
    assert (edit["cell"], edit["line"], edit["text"]) == (3, 8, "swapaxes")


def test_services_are_told_the_line_of_the_json_and_the_cell(folder):
    line = next(
        n for n, text in enumerate((folder / "book.ipynb").read_text(encoding="utf-8").splitlines(), 1)
        if "self.dense(x).transpose" in text
    )  # fmt: skip
    command = run(folder, "check", "--output-format", "github").stdout
    assert f"file=book.ipynb,line={line},endLine={line},title=" in command and "::cell 3, line 8: " in command
    (result,) = json.loads(run(folder, "check", "--output-format", "sarif").stdout)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": line, "endLine": line}
    assert result["message"]["text"].startswith("cell 3, line 8: ") and result["fixes"] == []


def test_lines_in_the_words_of_a_finding_are_those_of_cells(folder):
    body = NET.replace("return self.dense(x).transpose(0, 1)", "if x.sum() > 0:\n            y = x\n        return y")
    (folder / "book.ipynb").write_bytes(book(SETUP, body))
    result = run(folder, "check", "book.ipynb", "--select", "partly-bound")
    assert "(line 8 of cell 3)" in result.stdout, result.stdout


def test_a_folder_is_searched_and_modules_keep_their_names(folder):
    (folder / "pkg").mkdir()
    (folder / "pkg/__init__.py").touch()
    (folder / "pkg/base.py").write_text("from mindspore import nn\n\n\nclass Base(nn.Cell):\n    pass\n")
    # A notebook next to the module that it is named like.
    (folder / "pkg/base.ipynb").write_bytes(book("class Base:\n    pass"))
    heir = "from pkg.base import Base\n\nclass Heir(Base):\n    def construct(self, x):\n"
    (folder / "book.ipynb").write_bytes(book("# Setup", f"{heir}        return x.transpose(0, 1)"))
    (folder / "net.py").write_text(f"from mindspore import nn\n\n\n{NET}")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints/book-checkpoint.ipynb").write_bytes(book(SETUP, NET))
    for _ in range(2):  # the second time from the cache
        assert found(folder) == [("book.ipynb", 3, 5, "GW110"), ("net.py", None, 11, "GW110")]


def test_results_are_kept_until_the_notebook_changes(folder):
    first = run(folder, "check").stdout
    assert run(folder, "check").stdout == first
    (folder / "book.ipynb").write_bytes(book(SETUP, "x = 1", NET))
    assert found(folder) == [("book.ipynb", 4, 8, "GW110")]
    (folder / "book.ipynb").write_bytes(book(SETUP, FIXED))
    assert found(folder) == []


MANNERS = {
    "Jupyter": lambda data: data,
    "other indentation, no final newline": lambda data: json.dumps(json.loads(data), indent=2).encode(),
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "one line": lambda data: json.dumps(json.loads(data), ensure_ascii=False).encode(),
}


@pytest.mark.parametrize("manner", ["Jupyter", "CRLF", "one line"])
def test_the_diff_is_a_patch_that_names_the_cells(folder, manner):
    file = folder / "book.ipynb"
    file.write_bytes(MANNERS[manner](book(SETUP, NET)))
    result = subprocess.run([GRAPHWARD, "fix", "book.ipynb"], cwd=folder, capture_output=True)
    assert result.returncode == 1 and b"Would apply 1 fix in 1 file." in result.stderr
    assert file.read_bytes() == MANNERS[manner](book(SETUP, NET))
    assert b" @@ cell 3\n" in result.stdout
    git = ["git", "-c", "core.autocrlf=false", "-c", "core.safecrlf=false"]
    subprocess.run([*git, "init", "-q"], cwd=folder, check=True)
    applied = subprocess.run([*git, "apply", "-"], input=result.stdout, cwd=folder, capture_output=True)
    assert applied.returncode == 0, applied.stderr
    assert file.read_bytes() == MANNERS[manner](book(SETUP, FIXED))


@pytest.mark.parametrize("manner", ["Jupyter", "other indentation, no final newline"])
def test_writing_touches_nothing_else(folder, manner):
    file = folder / "book.ipynb"
    file.write_bytes(MANNERS[manner](book(SETUP, NET)))
    assert run(folder, "fix", "--write").returncode == 0
    assert file.read_bytes() == MANNERS[manner](book(SETUP, FIXED))
    again = run(folder, "fix", "--write")
    assert (again.returncode, again.stdout) == (0, "") and "Applied 0 fixes" in again.stderr


def test_an_import_goes_to_the_others(folder):
    net = NET.replace("self.dense(x).transpose(0, 1)", "np.exp(self.dense(x))")
    (folder / "book.ipynb").write_bytes(book(SETUP, net, "%timeit np.ones(3)"))
    result = run(folder, "fix", "book.ipynb", "--write", "--unsafe-fixes", "--select", "GW101")
    assert result.returncode == 0, result.stderr
    setup = SETUP.replace("import nn", "import nn, ops")
    fixed = net.replace("np.exp", "ops.exp")
    assert (folder / "book.ipynb").read_bytes() == book(setup, fixed, "%timeit np.ones(3)")
    assert "@@ cell 2\n" in result.stdout and "@@ cell 3\n" in result.stdout


def test_what_is_no_notebook_is_left_alone_and_not_written(folder):
    half = book(SETUP, NET)[:-60]
    (folder / "half.ipynb").write_bytes(half)
    (folder / "syntax.ipynb").write_bytes(book(SETUP, "x = 1\nclass Net(nn.Cell:\n    pass"))
    (folder / "r.ipynb").write_bytes(book("x <- 1", metadata={"kernelspec": {"language": "R", "name": "ir"}}))
    result = run(folder, "fix", "--write")
    assert result.returncode == 0 and "Applied 1 fix in 1 file." in result.stderr
    assert "half.ipynb:" in result.stderr and "it is not JSON" in result.stderr
    assert "left alone syntax.ipynb: line 2 of cell 3: does not parse" in result.stderr
    assert "the code of this notebook is R, not Python" in result.stderr
    assert (folder / "half.ipynb").read_bytes() == half
    assert (folder / "book.ipynb").read_bytes() == book(SETUP, FIXED)


def test_an_empty_notebook_holds_nothing(folder):
    (folder / "book.ipynb").write_bytes(book())
    result = run(folder, "check", "book.ipynb")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("command", ["check", "fix"])
def test_without_nbformat_a_named_notebook_is_refused_and_others_are_left_out(folder, command):
    result = run(folder, command, "book.ipynb", without_nbformat=True)
    assert (result.returncode, result.stdout) == (2, "")
    assert "book.ipynb: notebooks need nbformat" in result.stderr
    assert "pip install 'graphward[notebook]'" in result.stderr
    (folder / "net.py").write_text("x = 1\n")
    result = run(folder, command, without_nbformat=True)
    assert result.returncode == 0 and "ipynb" not in result.stdout + result.stderr


@pytest.mark.parametrize(
    "arguments", [["verify", "book.ipynb::Net"], ["migrate", "book.ipynb"], ["migrate", "--target", "book.ipynb::Net"],
                  ["bench", "book.ipynb::Net"]],
)  # fmt: skip
def test_what_would_run_a_notebook_names_the_way_out(folder, arguments):
    result = run(folder, *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert "a notebook cannot be proven from the command line" in result.stderr
    assert "Verify in the editor" in result.stderr and ".py file" in result.stderr


def test_a_review_writes_the_cells_and_tells_them(folder):
    report = folder.parent / "report.json"
    result = run(folder, "review", "--accept-safe", "--report", str(report))
    assert "accepted book.ipynb:cell 3:8:16 GW110 safe: " in result.stdout, result.stderr
    assert (folder / "book.ipynb").read_bytes() == book(SETUP, FIXED)
    (row,) = json.loads(report.read_text(encoding="utf-8"))
    assert (row["cell"], row["line"], row["state"]) == (3, 8, "accepted")
    assert run(folder, "undo").returncode == 0
    assert (folder / "book.ipynb").read_bytes() == book(SETUP, NET)


def test_a_review_silences_a_line_and_proves_nothing(folder):
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder.parent / "cache")}
    result = subprocess.run(
        [GRAPHWARD, "review", "--plain"], input="v\ns\n", cwd=folder, env=environment, capture_output=True, text=True,
        encoding="utf-8",
    )  # fmt: skip
    assert "@@ line 5 of cell 3 @@" in result.stdout, result.stderr
    assert "a notebook cannot be proven" in result.stdout + result.stderr
    lines = json.loads((folder / "book.ipynb").read_bytes())["cells"][2]["source"]
    assert lines[-1] == "        return self.dense(x).transpose(0, 1)  # graphward: ignore[GW110]\n"
