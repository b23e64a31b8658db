"""The two versions of a target: as it stands, and split into compile units."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from ..config import Config
from ..engine.fixpoint import fix, within
from ..engine.workspace import Workspace
from ..errors import GraphwardError
from ..rules.selection import selected_rules
from ..source.fixes import Applicability
from ..verify.targets import Target

RULE = "GW601"


@dataclass(frozen=True)
class Versions:
    """Copies of the target's tree. `after` is None where nothing was split, and `said` what the rule said. `files` are
    the changed files, relative to the tree."""

    before: Path
    after: Path | None
    said: tuple[str, ...]
    files: tuple[str, ...]


def versions(target: Target, config: Config, folder: Path) -> Versions:
    """Write both versions below `folder`. Raises GraphwardError for a file that does not parse."""
    python = sorted(p for p in target.tree.rglob("*.py") if _looked_at(p, target))
    workspace = Workspace(python)
    if workspace.module(target.path) is None:
        problem = workspace.problems[target.path]
        raise GraphwardError(problem.message, path=problem.path, line=problem.line)
    rules = selected_rules((RULE,), (), config.target_version)
    result = fix(workspace, rules, config, within(Applicability.UNSAFE))
    said = tuple(f.message for _, f in result.first.all_findings())
    before = _copied(target.tree, folder / "before")
    if not result.changes:
        return Versions(before, None, said, ())
    after = _copied(target.tree, folder / "after")
    names = []
    for path, change in result.changes.items():
        name = path.resolve().relative_to(target.tree)
        (after / name).write_bytes(change.after.to_bytes())
        names.append(name.as_posix())
    return Versions(before, after, said, tuple(names))


def _looked_at(path: Path, target: Target) -> bool:
    """The files around the target: its own package, or its folder."""
    inside = path.relative_to(target.tree).parts
    return not any(part.startswith(".") for part in inside) and path.is_relative_to(_home(target))


def _home(target: Target) -> Path:
    folder = target.path.parent
    while (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder


def _copied(tree: Path, to: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__", ".git", ".venv", "*.ckpt", "*.mindir")
    shutil.copytree(tree, to, ignore=ignored, symlinks=True)
    return to
