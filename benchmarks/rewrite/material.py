"""Copies of the modules in `fixtures/agreement`, and which of their classes the compiler takes as they are."""

from __future__ import annotations

import csv
import shutil
from dataclasses import dataclass
from pathlib import Path

from ..agreement.stored import FIXTURES


@dataclass(frozen=True)
class Entry:
    """A class of a module; `verdict` is the compiler's on it as it stands."""

    module: str
    name: str
    verdict: str

    @property
    def target(self) -> str:
        return f"{self.module}::{self.name}"


def entries() -> list[Entry]:
    """Every class that has a verdict, in the order of the file. What a person wrote as the cure is left out."""
    with (FIXTURES / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        rows = [Entry(row["module"], row["class"], row["verdict"]) for row in csv.DictReader(file)]
    return [entry for entry in rows if entry.name != "Rewritten"]


def copy(modules: set[str], folder: Path) -> None:
    """Fresh copies of the modules, each where its name says."""
    for module in sorted(modules):
        target = folder / module
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(FIXTURES / module, target)


def declare_inputs(folder: Path) -> None:
    """Give the copies in `folder` the settings that declare inputs."""
    shutil.copyfile(FIXTURES / "inputs.toml", folder / "pyproject.toml")
