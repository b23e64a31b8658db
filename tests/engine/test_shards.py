"""Which imports join packages that could be checked apart from each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphward.engine.shards import shards


def write(root: Path, **texts: str) -> list[Path]:
    """Files given as `package__module="text"`, in packages."""
    files = []
    for name, text in texts.items():
        path = root / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        for folder in path.relative_to(root).parents[:-1]:
            (root / folder / "__init__.py").touch()
        path.write_text(text)
        files.append(path)
    return files


def groups(files: list[Path]) -> set[frozenset[str]]:
    parts = shards(files)
    listed = [path for part in parts for path in part.files]
    assert sorted(listed) == sorted(files), "every file is in one shard"
    assert all(part.size == sum(path.stat().st_size for path in part.files) for part in parts)
    return {frozenset(path.stem for path in part.files) for part in parts}


@pytest.mark.parametrize(
    "text",
    ["import one\n", "from one import a\n", "x = 1\nimport one.a as b\n", "def f():\n    from one.a import x\n",
     "try:\n\timport one\nexcept ImportError:\n\tone = None\n", "import one\r\nx = 1\r\n", "import os, one.a as b\n"],
)  # fmt: skip
def test_an_import_joins_packages(tmp_path, text):
    assert groups(write(tmp_path, one__a="x = 1\n", two__c=text)) == {frozenset("ac")}


def test_imports_join_over_several_packages(tmp_path):
    files = write(tmp_path, one__a="import two\n", two__b="import three\n", three__c="x = 1\n", four__d="x = 1\n")
    assert groups(files) == {frozenset("abc"), frozenset("d")}


def test_scripts_of_one_folder_are_together(tmp_path):
    files = write(tmp_path, a="x = 1\n", b="import a\n")
    assert groups(files) == {frozenset("ab")}
