"""The files that are measured: seven published MindSpore packages, pinned."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGES = (
    ("mindone", "0.5.0"),
    ("mindcv", "0.3.0"),
    ("mindformers", "2.1.0"),
    ("mindnlp", "0.2.4"),
    ("mindocr", "0.5.0"),
    ("mindyolo", "0.5.0"),
    ("mindaudio", "0.3.0"),
)


def download(folder: Path) -> list[Path]:
    """The wheels of `PACKAGES` in `folder`; those that are absent are fetched.

    Raises subprocess.CalledProcessError when pip cannot fetch one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wheels = []
    for name, version in PACKAGES:
        found = next(folder.glob(f"{name}-{version}-*.whl"), None)
        if found is None:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
            subprocess.run([*command, "--dest", str(folder), f"{name}=={version}"], check=True)
            found = next(folder.glob(f"{name}-{version}-*.whl"))
        wheels.append(found)
    return wheels


def unpack(wheels: list[Path], folder: Path) -> list[Path]:
    """Unpacks each wheel into `folder`; the Python files in it, sorted."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / wheel.name.split("-")[0])
    return sorted(folder.rglob("*.py"))
