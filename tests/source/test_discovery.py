"""Which files a run reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphward.errors import GraphwardError
from graphward.source.discovery import discover


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")


def names(root: Path, **options) -> list[str]:
    return [p.relative_to(root).as_posix() for p in discover([root], **options).files]


def test_what_git_ignores_is_left_out(tmp_path):
    (tmp_path / ".git").mkdir()
    make(tmp_path, "a.py", "out/b.py", "pkg/c.py", "pkg/gen_d.py", "pkg/keep/gen_e.py")
    make(tmp_path, "node_modules/f.py", ".venv/g.py")
    (tmp_path / ".gitignore").write_text("out/\ngen_*.py\n")
    (tmp_path / "pkg/keep/.gitignore").write_text("!gen_e.py\n")
    assert names(tmp_path) == ["a.py", "pkg/c.py", "pkg/keep/gen_e.py"]
    assert names(tmp_path / "pkg") == ["c.py", "keep/gen_e.py"], "ignore files above the path count too"
    assert names(tmp_path, exclude=["pkg/*"]) == ["a.py"]


def test_a_named_file_is_taken_whatever_git_ignores(tmp_path):
    (tmp_path / ".git").mkdir()
    make(tmp_path, "out/b.py")
    (tmp_path / ".gitignore").write_text("out/\n")
    assert discover([tmp_path / "out/b.py"]).files == [tmp_path / "out/b.py"]


def test_a_link_out_of_the_tree_is_refused(tmp_path):
    make(tmp_path, "tree/a.py", "outside/secret.py", "outside/more/b.py")
    (tmp_path / "tree/link.py").symlink_to(tmp_path / "outside/secret.py")
    (tmp_path / "tree/folder").symlink_to(tmp_path / "outside/more")
    (tmp_path / "tree/broken.py").symlink_to(tmp_path / "nowhere.py")
    found = discover([tmp_path / "tree"])
    assert [p.name for p in found.files] == ["a.py"]
    reasons = {p.name: reason for p, reason in found.skipped}
    assert "out of the tree" in reasons["link.py"] and "nowhere" in reasons["broken.py"]


def test_a_large_file_is_named_and_left_out(tmp_path):
    make(tmp_path, "a.py")
    (tmp_path / "big.py").write_text("x = 1\n" * 100)
    found = discover([tmp_path], max_file_size=50)
    assert [p.name for p in found.files] == ["a.py"]
    assert "max-file-size" in found.skipped[0][1]


@pytest.mark.parametrize(
    ("name", "message"), [("gone", "no such file"), ("empty", "no Python files"), ("picture.png", "not a Python file")]
)
def test_a_path_that_cannot_be_used_says_so(tmp_path, name, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    with pytest.raises(GraphwardError, match=message):
        discover([tmp_path / name])
