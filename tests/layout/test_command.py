"""`graphward layout`: what it prints, writes, and takes back."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from graphward.errors import GraphwardError
from graphward.source.writing import write_all

from .conftest import FIXTURES

GRAPHWARD = Path(sys.executable).with_name("graphward")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one model, and a state folder of its own beside it."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("[tool.graphward]\n")
    shutil.copy(FIXTURES / "owner" / "model.py", folder)
    return folder


def run(*arguments: str, cwd: Path, status: int = 0) -> str:
    settings = {**os.environ, "XDG_STATE_HOME": str(cwd.parent / "state"), "COLUMNS": "200"}
    done = subprocess.run([GRAPHWARD, *arguments], cwd=cwd, capture_output=True, text=True, env=settings)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def held(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_dry_run_says_what_goes_where_and_changes_nothing(project: Path):
    before = held(project)
    said = run("layout", "model.py", "--no-verify", cwd=project)
    assert held(project) == before
    assert "head.py\n    BoxHead  line 43: a Cell that is called a head" in said
    assert "--- a/model.py\n+++ /dev/null" in said and "--- /dev/null\n+++ b/model/head.py" in said
    assert "Would write model/ (5 files) in place of model.py." in said


def test_the_diff_is_a_patch(project: Path):
    said = run("layout", "model.py", "--no-verify", cwd=project)
    patch = said[said.index("--- /dev/null") : said.index("\nWould write")] + "\n"
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    subprocess.run(["git", "apply", "-"], cwd=project, input=patch, text=True, check=True)
    shutil.rmtree(project / ".git")
    files = held(project)
    assert "model.py" not in files
    for path in (FIXTURES / "owner" / "after").glob("*.py"):
        assert files[f"model/{path.name}"] == path.read_bytes()


def test_write_and_undo(project: Path):
    (project / "model.py").chmod(0o640)
    before = held(project)
    assert "Wrote model/" in run("layout", "model.py", "--no-verify", "--write", cwd=project)
    after = held(project)
    assert "model.py" not in after and len(after) == len(before) + 4
    assert {stat.S_IMODE(p.stat().st_mode) for p in (project / "model").iterdir()} == {0o640}
    assert "restored model.py" in run("undo", cwd=project)
    assert held(project) == before and not (project / "model").exists()
    assert stat.S_IMODE((project / "model.py").stat().st_mode) == 0o640


def test_undo_leaves_a_part_that_was_edited_alone(project: Path):
    run("layout", "model.py", "--no-verify", "--write", cwd=project)
    head = project / "model" / "head.py"
    head.write_text(head.read_text() + "# more\n")
    after = held(project)
    assert "changed since it was written: model/head.py" in run("undo", cwd=project, status=2)
    assert held(project) == after


def test_a_part_can_be_chosen(project: Path):
    said = run("layout", "model.py", "--no-verify", "--part", "Detector=detector.py", cwd=project)
    assert "detector.py\n    Detector  line 26: as asked for" in said


def test_a_second_time_there_is_nothing_to_do(project: Path):
    run("layout", "model.py", "--no-verify", "--write", cwd=project)
    assert "it is a package already" in run("layout", "model.py", cwd=project, status=2)
    assert "part of a package already" in run("layout", "model/__init__.py", cwd=project, status=2)
    assert "Nothing to split in model/head.py" in run("layout", "model/head.py", cwd=project)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gone.py"], "no such file"),
        (["."], "layout takes one file"),
        (["model.py", "--input", "f32[2]"], "--input goes with --target"),
        (["model.py", "--target", "Gone"], "no 'Gone'"),
        (["model.py", "--target", "Stem", "--input", "f99[2]"], "f99"),
        (["model.py", "--part", "Gone=head.py"], "defines no 'Gone'"),
    ],
)
def test_bad_input_is_told_and_nothing_is_written(project: Path, arguments: list[str], words: str):
    before = held(project)
    assert words in run("layout", *arguments, "--write", cwd=project, status=2)
    assert held(project) == before


def test_a_folder_of_that_name_is_not_overwritten(project: Path):
    (project / "model").mkdir()
    (project / "model" / "weights.txt").write_text("1")
    before = held(project)
    assert "there is a model beside it already" in run("layout", "model.py", "--write", cwd=project, status=2)
    assert held(project) == before


def test_it_is_proven_before_it_is_written(project: Path, mindspore_python: str):
    said = run("layout", "model.py", "--write", "--python", mindspore_python, "--target", "TwoStage", "--input",
               "f32[2,6]", cwd=project)  # fmt: skip
    assert "1 of 1 Cells and jit functions does what it did." in said
    assert (project / "model" / "head.py").exists()


def test_what_cannot_be_run_is_not_written(project: Path, mindspore_python: str):
    model = project / "model.py"
    model.write_text("import no_such_module\n" + model.read_text())
    before = held(project)
    said = run("layout", "model.py", "--write", "--python", mindspore_python, cwd=project, status=1)
    assert "nothing of it could be proven" in said and held(project) == before


def test_files_are_written_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    old = tmp_path / "model.py"
    old.write_bytes(b"old")
    replace = os.replace

    def fail(source: str, target: Path) -> None:
        if Path(target).name == "b.py":
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail)
    new = tmp_path / "model"
    with pytest.raises(GraphwardError, match="No space left"):
        write_all([(new / "a.py", b"a"), (new / "b.py", b"b"), (old, None)])
    assert held(tmp_path) == {"model.py": b"old"}
