"""What a user gets wrong ends in one message, status 2, no result on stdout, and an untouched folder."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from .rights import without_the_rights_of_root

GRAPHWARD = Path(sys.executable).with_name("graphward")

NET = """\
from mindspore import nn


class Net(nn.Cell):
    def __init__(self, depth=0):
        super().__init__()
        if depth:
            raise ValueError(f"no depth {depth} here")
        self.dense = nn.Dense(4, 4)

    def construct(self, x):
        return self.dense(x)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project beside which the cache and other interpreters can lie."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "net.py").write_text(NET)
    return project


def contents(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def refused(folder: Path, *arguments: str | Path, before_start: Callable[[], None] | None = None) -> str:
    """The message of a call that must be refused."""
    before = contents(folder)
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder.parent / "cache")}
    result = subprocess.run(
        [GRAPHWARD, *arguments], cwd=folder, env=environment, capture_output=True, text=True, preexec_fn=before_start
    )
    assert (result.returncode, result.stdout) == (2, ""), result.stderr
    assert "Traceback" not in result.stderr
    assert contents(folder) == before
    return result.stderr


@pytest.mark.parametrize("command", ["check", "fix", "migrate"])
def test_a_path_that_is_not_there(folder, command):
    message = refused(folder, command, "nett.py")
    assert "nett.py: no such file or folder" in message and "typing error" in message


@pytest.mark.parametrize("command", ["check", "fix", "migrate"])
def test_a_folder_without_python(folder, command):
    (folder / "data").mkdir()
    (folder / "data/notes.txt").write_text("nothing\n")
    message = refused(folder, command, "data")
    assert "data: the folder holds no Python files" in message and "name a folder with .py files" in message


@pytest.mark.parametrize("command", ["check", "fix", "migrate"])
def test_a_file_that_is_not_python(folder, command):
    (folder / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    message = refused(folder, command, "x.png")
    assert "x.png: this is not a Python file" in message and ".py files" in message


@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
@pytest.mark.parametrize("named", ["locked.py", "."])
@pytest.mark.parametrize("command", ["check", "fix", "migrate"])
def test_a_file_that_may_not_be_read(folder, command, named):
    locked = folder / "locked.py"
    locked.write_text(NET)
    locked.chmod(0)
    message = refused(folder, command, named, before_start=without_the_rights_of_root)
    assert "locked.py: cannot be read: Permission denied" in message and "change its permissions" in message


def test_a_target_that_is_not_there(folder):
    message = refused(folder, "verify", "net.py::Gone")
    assert "net.py: there is no 'Gone' at the top level" in message and "it defines Net" in message
    assert "did you mean Net" in refused(folder, "verify", "net.py::Nett")


def test_a_target_that_cannot_be_made(folder, mindspore_python):
    message = refused(folder, "verify", "net.py::Net(depth=3)", "--python", mindspore_python)
    assert "net.py:8: " in message and "ValueError: no depth 3 here" in message
    assert "Net(depth=3)" in message and "arguments" in message


def test_a_declared_target_that_cannot_be_made(folder, mindspore_python):
    (folder / "pyproject.toml").write_text('[tool.graphward.verify.targets]\n"net.py::Net(depth=5)" = ["f32[2,4]"]\n')
    message = refused(folder, "verify", "net.py::Net", "--python", mindspore_python)
    assert "net.py:8: " in message and "ValueError: no depth 5 here" in message


def test_a_target_whose_file_cannot_be_imported(folder, mindspore_python):
    (folder / "net.py").write_text("import no_such_library\n" + NET)
    message = refused(folder, "verify", "net.py::Net", "--python", mindspore_python)
    assert "net.py:1: " in message and "No module named 'no_such_library'" in message


@pytest.mark.parametrize("arguments", [["verify", "net.py::Net"], ["migrate", "--target", "net.py::Net"]])
def test_an_input_that_does_not_parse(folder, mindspore_python, arguments):
    message = refused(folder, *arguments, "--input", "f33[2]", "--python", mindspore_python)
    assert "f33" in message and "f32" in message


@pytest.fixture
def empty_python(tmp_path: Path) -> Path:
    """An interpreter without any library."""
    venv.create(tmp_path / "empty", with_pip=False)
    return tmp_path / "empty/bin/python"


def test_an_interpreter_without_mindspore(folder, empty_python):
    message = refused(folder, "verify", "net.py::Net", "--python", empty_python)
    assert f"{empty_python} has no " in message and "pip install 'graphward[verify]'" in message
    assert "--python" in message


def test_a_mindspore_that_is_too_old(folder, empty_python):
    site = next(empty_python.parents[1].glob("lib/python*/site-packages"))
    for package, version in (("mindspore", "2.3.0"), ("numpy", "1.26.4")):
        (site / package).mkdir()
        (site / package / "__init__.py").write_text(f"__version__ = {version!r}\n")
    message = refused(folder, "verify", "net.py::Net", "--python", empty_python)
    assert f"{empty_python} has MindSpore 2.3.0" in message and "needs 2.7 or later" in message


def test_an_interpreter_that_is_not_there(folder):
    message = refused(folder, "verify", "net.py::Net", "--python", "/no/such/python")
    assert "/no/such/python" in message and "--python" in message


@pytest.mark.parametrize("command", ["check", "fix", "migrate"])
@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_a_rule_that_does_not_exist(folder, command, option):
    message = refused(folder, command, "net.py", option, "GW9999")
    assert "no rule matches 'GW9999'" in message and "`graphward rules`" in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[tool.graphward]\nselect = ["GW1"\nignore = 3\n', ["pyproject.toml:3: this is not valid TOML", "mend"]),
        ("[tool.graphward]\n\nselekt = []\n", ["pyproject.toml:3: unknown setting 'selekt'", "known settings: "]),
        ('[tool.graphward]\nselect = "GW1"\n', ["pyproject.toml:2: select must be a list of strings", "for example"]),
        ('[tool.graphward]\nmax-file-size = "1"\n', ["pyproject.toml:2: max-file-size must be a number", "2000000"]),
        ("[tool.graphward.verify]\ntimeout = 0\n", ["pyproject.toml:2: ", "cannot take timeout = 0", "seconds"]),
        ('[tool.graphward]\nop-style = "terse"\n', ["pyproject.toml:2: unknown op-style 'terse'", "functional"]),
        ('[tool]\ngraphward = "all"\n', ["pyproject.toml", "[tool.graphward] must be a table"]),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_used(folder, text, expected):
    (folder / "pyproject.toml").write_text(text)
    message = refused(folder, "check", "net.py")
    assert all(part in message for part in expected), message


def test_a_defect_is_no_finding(folder: Path):
    """Status 1 says that findings are left; a rule that fails must not look like that."""
    program = (
        "import sys; from graphward.cli import app, check; check.run_check = lambda *a, **k: 1 / 0;"
        "sys.argv = ['graphward', 'check', '.']; app.main()"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (2, "")
    assert "ZeroDivisionError" in run.stderr and "a defect of Graphward" in run.stderr
