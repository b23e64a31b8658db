"""Paths as people see them."""

from __future__ import annotations

import os
from pathlib import Path


def display(path: Path) -> str:
    """The path relative to the working folder where it lies below it."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative
