"""Real editors without a screen: each opens a file, shows diagnostics, applies a quick fix and saves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import COMMAND
from .test_server import cell

DATA = Path(__file__).parent / "data"


def run(tmp_path: Path, editor: str, *arguments: str) -> dict:
    """What the editor saw of a file; the file is as it saved it."""
    file, report = tmp_path / "project" / "net.py", tmp_path / "seen.json"
    file.parent.mkdir()
    (file.parent / "pyproject.toml").write_text("[tool.graphward]\n")
    file.write_text(cell("return '😀汉', x.transpose(0, 1)"), encoding="utf-8")
    environment = {
        **os.environ, "GRAPHWARD_FILE": str(file), "GRAPHWARD_REPORT": str(report), "HOME": str(tmp_path),
        "GRAPHWARD_COMMAND": json.dumps(COMMAND), "LC_ALL": "C.UTF-8", "XDG_STATE_HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path),
    }  # fmt: skip
    done = subprocess.run([editor, *arguments], env=environment, cwd=file.parent, capture_output=True, timeout=200)
    said = (done.stdout + done.stderr).decode(errors="replace")[-3000:]
    assert report.is_file(), said
    seen = json.loads(report.read_text(encoding="utf-8"))
    assert (done.returncode, seen.get("problem")) == (0, None), said
    assert file.read_text(encoding="utf-8") == cell("return '😀汉', x.swapaxes(0, 1)")
    return seen


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed (Debian: apt-get install neovim)")
def test_neovim(tmp_path: Path):
    seen = run(tmp_path, "nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {DATA / 'neovim.lua'}")
    assert seen["codes"] == ["GW110"]
    assert seen["source"] == "graphward"
    assert any(title.startswith("Use swapaxes [safe]") for title in seen["titles"])


def emacs_has_eglot() -> bool:
    if shutil.which("emacs") is None:
        return False
    program = "(progn (require 'package) (package-initialize) (kill-emacs (if (require 'eglot nil t) 0 1)))"
    return subprocess.run(["emacs", "--batch", "--eval", program], capture_output=True).returncode == 0


def test_emacs(tmp_path: Path):
    if not emacs_has_eglot():
        pytest.skip("Emacs with eglot is not installed (Debian: apt-get install emacs-nox elpa-eglot)")
    seen = run(tmp_path, "emacs", "--batch", "--load", str(DATA / "emacs.el"))
    assert len(seen["texts"]) == 1
    assert "GW110" in seen["texts"][0]
    assert "Use swapaxes [safe]" in seen["titles"]
