"""What all tests share: an interpreter with MindSpore, and one worker under it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from graphward.verify.session import Session


def _has_mindspore(python: str) -> bool:
    probe = "import importlib.util, sys; sys.exit(importlib.util.find_spec('mindspore') is None)"
    return shutil.which(python) is not None and subprocess.run([python, "-c", probe]).returncode == 0


@pytest.fixture(scope="session")
def mindspore_python() -> str:
    """An interpreter with MindSpore; without one these tests fail, since nothing else can take the compiler's place."""
    python = os.environ.get("GRAPHWARD_TEST_PYTHON", sys.executable)
    if not _has_mindspore(python):
        pytest.fail(
            f"{python} has no MindSpore: pip install 'mindspore>=2.7' 'numpy<2' into an environment "
            "and set GRAPHWARD_TEST_PYTHON to its interpreter"
        )
    return python


@pytest.fixture(scope="session")
def session(mindspore_python: str) -> Iterator[Session]:
    with Session(python=mindspore_python, slots=2) as session:
        yield session
