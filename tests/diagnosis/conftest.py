"""What the real compiler raises for every script in fixtures/errors, raised once for all tests."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "fixtures" / "errors"
# Seconds; it takes about fifty.
_PATIENCE = 270
SCRIPTS = sorted(ROOT.glob("ME*/*.py"))


@pytest.fixture(scope="session")
def raised(mindspore_python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[Path, str]:
    """The traceback of each script. Of several processes of one test run, the first has them raised for all."""
    shared = "PYTEST_XDIST_WORKER" in os.environ
    folder = tmp_path_factory.getbasetemp().parent if shared else tmp_path_factory.getbasetemp()
    note = folder / "raised.json"
    try:
        (folder / "raising").mkdir()
    except FileExistsError:
        until = time.monotonic() + _PATIENCE
        while not note.exists():
            assert time.monotonic() < until, "the other process raised nothing"
            time.sleep(0.5)
    else:
        command = [mindspore_python, str(Path(__file__).with_name("raise_all.py")), *map(str, SCRIPTS)]
        run = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=_PATIENCE)
        assert run.returncode == 0, run.stderr[-2000:]
        note.with_suffix(".part").write_text(run.stdout, encoding="utf-8")
        note.with_suffix(".part").rename(note)
    return {Path(path): text for path, text in json.loads(note.read_text(encoding="utf-8")).items()}
