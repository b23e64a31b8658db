"""What the compiler takes as it stands stays as it is under plain `fix`."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from pathlib import Path

MATERIAL = Path(__file__).resolve().parents[2] / "fixtures" / "agreement"
MANY = 250


def accepted() -> list[str]:
    """The constructs that the compiler took, by the module that holds nothing else."""
    with (MATERIAL / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    refused = {row["module"] for row in rows if row["verdict"] != "accepts"}
    return sorted({row["module"] for row in rows if row["module"].startswith("constructs/")} - refused)


def test_plain_fix_leaves_accepted_constructs_alone(tmp_path: Path) -> None:
    modules = accepted()
    assert len(modules) > MANY
    for module in modules:
        target = tmp_path / module
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(MATERIAL / module, target)
    command = [str(Path(sys.executable).with_name("graphward")), "fix", "--write", "--no-cache", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    changed = [m for m in modules if (tmp_path / m).read_bytes() != (MATERIAL / m).read_bytes()]
    assert changed == []


def test_plain_fix_changes_what_is_refused(tmp_path: Path) -> None:
    """The command above would change these: it is no test of a command that does nothing."""
    shutil.copyfile(MATERIAL / "constructs" / "del_var.py", tmp_path / "del_var.py")
    command = [str(Path(sys.executable).with_name("graphward")), "fix", "--write", "--no-cache", "."]
    subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "del " not in (tmp_path / "del_var.py").read_text()
