"""A small project on disk, and the command line run in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

GRAPHWARD = Path(sys.executable).with_name("graphward")


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """The folder with these files in it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def graphward(folder: Path, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Graphward run in the folder, with its cache beside it."""
    environment = {
        **os.environ, "XDG_CACHE_HOME": str(folder.parent / "cache"), "GLOG_v": "3", "PYTHONDONTWRITEBYTECODE": "1",
        **variables,
    }  # fmt: skip
    return subprocess.run(
        [GRAPHWARD, *map(str, arguments)], cwd=folder, env=environment, capture_output=True, text=True
    )


def recorded(folder: Path) -> dict[str, dict[str, Any]]:
    """The content of the recordings by qualified name."""
    files = (folder / ".graphward" / "recorded").glob("*/*/*.json")
    found = [json.loads(path.read_text()) for path in files if path.name != "process.json"]
    return {data["qualname"]: data for data in found}


def verdicts(folder: Path, python: str, *arguments: object) -> dict[str, dict[str, Any]]:
    """The verdicts of `graphward verify` by the name of the target."""
    done = graphward(folder, "verify", "--python", python, "--output-format", "json", *arguments)
    assert done.stdout, done.stderr
    return {verdict["target"].partition("::")[2]: verdict for verdict in json.loads(done.stdout)}
