"""The cache: it answers when nothing has changed, and only then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphward.config import Config
from graphward.engine.run import run_check

NET = """\
from .base import Base


class Net(Base):
    def construct(self, x):
        return x.transpose(0, 1)
"""
BASE = "from mindspore import nn\n\n\nclass Base(nn.Cell):\n    pass\n"
NO_CELL = BASE.replace("mindspore", "torch").replace("Cell", "Module")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "pkg"
    folder.mkdir()
    for name, text in (("__init__", ""), ("base", BASE), ("net", NET)):
        (folder / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    return folder


def messages(*paths: Path | str, config: Config | None = None) -> dict[str, str]:
    """The first message on each file, by the path that the run calls it."""
    result = run_check([Path(p) for p in paths], config or Config(), jobs=1)
    return {str(path): entry.findings[0].message for path, entry in result.files.items()}


def tell_lies(root: Path) -> None:
    """Stored messages say something that no rule says: only the cache can have said it."""
    stored = list((root / "cache").rglob("*.json"))
    assert stored
    for path in stored:
        data = json.loads(path.read_text())
        for _, findings in data["files"]:
            for finding in findings:
                finding["message"] = "stored"
        path.write_text(json.dumps(data))


def test_a_second_run_is_answered_by_the_cache(package, tmp_path):
    first = messages("pkg")
    tell_lies(tmp_path)
    assert messages("pkg") == {"pkg/net.py": "stored"} != first


def test_a_changed_file_is_checked_again(package, tmp_path):
    first = messages("pkg")
    tell_lies(tmp_path)
    (package / "net.py").write_text(NET + "\n")
    assert messages("pkg") == first


@pytest.mark.parametrize("paths", ["pkg", "pkg/net.py"])
def test_a_changed_file_that_was_only_read_on_the_way_counts_too(package, tmp_path, paths):
    first = messages(paths)
    assert first
    tell_lies(tmp_path)
    (package / "base.py").write_text(BASE + "\n")
    assert messages(paths) == first
    (package / "base.py").write_text(NO_CELL)
    assert messages(paths) == {}


def test_a_file_that_was_looked_for_and_appears_counts_too(package):
    (package / "base.py").unlink()
    assert "pkg/net.py" in messages("pkg/net.py"), "an unknown base may be a Cell"
    (package / "base.py").write_text(NO_CELL)
    assert messages("pkg/net.py") == {}
    (package / "base.py").unlink()
    assert "pkg/net.py" in messages("pkg/net.py")


def test_other_settings_are_another_question(package, tmp_path):
    first = messages("pkg")
    tell_lies(tmp_path)
    assert messages("pkg", config=Config(op_style="mint")) == first
    assert messages("pkg", config=Config(ignore=("GW110",))) == {}


def test_files_are_called_what_this_run_calls_them(package, tmp_path, monkeypatch):
    config = Config(root=tmp_path)
    messages("pkg", config=config)
    tell_lies(tmp_path)
    assert messages(package, config=config) == {str(package / "net.py"): "stored"}
    elsewhere = tmp_path / "elsewhere/pkg"
    elsewhere.mkdir(parents=True)
    (elsewhere / "net.py").write_text("x = 1\n")
    monkeypatch.chdir(elsewhere.parent)
    assert messages("pkg", config=config) == {}
    assert messages("../pkg", config=config).keys() == {"../pkg/net.py"}


def test_files_that_do_not_parse_are_named_by_the_cache_too(package, tmp_path, monkeypatch):
    (package / "old.py").write_text("print 'two'\n")
    config = Config(root=tmp_path)

    def problems(path: Path) -> list[tuple[Path, int]]:
        return [(problem.path, problem.line) for problem in run_check([path], config, jobs=1).problems]

    assert problems(Path("pkg")) == problems(Path("pkg")) == [(Path("pkg/old.py"), 1)]
    assert problems(package) == [(package / "old.py", 1)]


def test_a_cache_that_cannot_be_written_is_no_error(package, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert messages("pkg") == messages("pkg") != {}
