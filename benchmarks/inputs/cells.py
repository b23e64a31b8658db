"""Every Cell class of the packages that can be named from outside."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from graphward.analysis.project import is_cell_name
from graphward.engine.check import analyse
from graphward.engine.workspace import Workspace

from .needs import Needs, needs


@dataclass(frozen=True)
class CellClass:
    """A class of a package: `file` is relative to the package's folder."""

    package: str
    file: str
    name: str
    needs: Needs

    @property
    def id(self) -> str:
        return f"{self.package}/{self.file}::{self.name}"


def cell_classes(tree: Path) -> list[CellClass]:
    """The Cells of one unpacked wheel by file and name; those made inside a function are left out."""
    workspace = Workspace(sorted(tree.rglob("*.py")))
    analysis = analyse(workspace)
    found: dict[str, CellClass] = {}
    for region in analysis.regions:
        cell = region.cell
        if region.kind != "construct" or cell is None or "<locals>" in cell.qualname or is_cell_name(cell.qualname):
            continue
        if analysis.project.is_cell(cell) is False:
            continue
        file = cell.module.path.relative_to(tree).as_posix()
        made = CellClass(tree.name, file, cell.qualname, needs(analysis.project, cell))
        found.setdefault(made.id, made)
    return [found[key] for key in sorted(found)]


def stratified(cells: list[CellClass], count: int, seed: int) -> list[CellClass]:
    """`count` of the Cells, from each package and kind of need in proportion, in their old order."""
    strata: dict[tuple[str, str], list[CellClass]] = {}
    for cell in cells:
        strata.setdefault((cell.package, cell.needs.kind), []).append(cell)
    chosen: set[str] = set()
    for key in sorted(strata):
        share = max(1, round(count * len(strata[key]) / len(cells)))
        chosen |= {c.id for c in random.Random(f"{seed}{key}").sample(strata[key], min(share, len(strata[key])))}
    return [cell for cell in cells if cell.id in chosen]
