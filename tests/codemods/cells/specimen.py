"""Running the codemods of the cells family over small files."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from graphward.config import Config
from graphward.engine.check import check
from graphward.engine.fixpoint import Chooser, FixResult, fix, within
from graphward.engine.workspace import Workspace
from graphward.rules.finding import Finding
from graphward.rules.selection import selected_rules
from graphward.source.fixes import Applicability

CODES = ("GW201", "GW202", "GW203", "GW204", "GW205")
HEAD = "import mindspore as ms\nfrom mindspore import Parameter, Tensor, nn, ops\n\n\n"


def write(folder: Path, **files: str) -> list[Path]:
    """The files by module name, each with the usual imports on top."""
    paths = []
    for name, body in files.items():
        path = folder / f"{name}.py"
        path.write_text(HEAD + dedent(body).lstrip("\n"))
        paths.append(path)
    return paths


def findings(folder: Path, codes: tuple[str, ...] = CODES, **files: str) -> list[Finding]:
    workspace = Workspace(write(folder, **files))
    return [f for _, f in check(workspace, _rules(codes), _config(folder, codes)).all_findings()]


def fixed(
    folder: Path, codes: tuple[str, ...] = CODES, choose: Chooser | None = None, **files: str
) -> tuple[FixResult, dict[str, str]]:
    """What the fixes make of each file, the head left out."""
    paths = write(folder, **files)
    workspace = Workspace(paths)
    result = fix(workspace, _rules(codes), _config(folder, codes), choose or within(Applicability.UNSAFE))
    texts = {}
    for path in paths:
        change = result.changes.get(path)
        texts[path.stem] = (change.after.text if change else path.read_text()).removeprefix(HEAD)
    return result, texts


def _rules(codes: tuple[str, ...]):
    return selected_rules(codes, (), "2.10")


def _config(folder: Path, codes: tuple[str, ...]) -> Config:
    return Config(root=folder, select=codes)
