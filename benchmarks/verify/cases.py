"""The 50 small Cells: where they stand and what they are called with."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

CELLS = Path(__file__).parent / "cells"
SHAPES = {
    "activations.py": (4, 8),
    "attention.py": (2, 3, 8),
    "images.py": (2, 3, 6, 6),
    "layers.py": (4, 8),
    "norms.py": (4, 8),
}
"""The shape of the one float32 input, the same for all Cells of a file."""


@dataclass(frozen=True)
class Case:
    """A Cell by its file and name; `shape` is that of its input."""

    file: str
    name: str
    shape: tuple[int, ...]


def cases() -> list[Case]:
    """All of them, file by file."""
    found = []
    for file, shape in SHAPES.items():
        tree = ast.parse((CELLS / file).read_text(encoding="utf-8"))
        found += [Case(file, node.name, shape) for node in tree.body if isinstance(node, ast.ClassDef)]
    return found
