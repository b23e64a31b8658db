"""Files are written whole or not at all, with the permissions that they had."""

from __future__ import annotations

import os
import stat

import pytest

from graphward.errors import GraphwardError
from graphward.source.writing import write_atomic


def test_permissions_and_links_stay(tmp_path):
    target = tmp_path / "net.py"
    target.write_bytes(b"old")
    target.chmod(0o750)
    link = tmp_path / "link.py"
    link.symlink_to(target)
    write_atomic(link, b"new")
    assert target.read_bytes() == b"new" and link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o750
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.py", "net.py"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    target = tmp_path / "net.py"
    target.write_bytes(b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(GraphwardError, match="No space left"):
        write_atomic(target, b"new")
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["net.py"]


def test_a_missing_folder_is_an_error_that_names_the_file(tmp_path):
    with pytest.raises(GraphwardError, match=r"gone/net\.py"):
        write_atomic(tmp_path / "gone/net.py", b"")
