"""A project in memory: files by name, analysed as a run would."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from graphward.engine.check import Analysis, analyse
from graphward.engine.workspace import Workspace


def project_of(root: Path, **files: str) -> Analysis:
    """The analysis of files given as `pkg__module="text"` (two underscores for a slash)."""
    paths = []
    for name, text in files.items():
        path = root / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
        paths.append(path)
        for folder in path.relative_to(root).parents:
            if str(folder) != "." and not (root / folder / "__init__.py").exists():
                (root / folder / "__init__.py").touch()
    return analyse(Workspace(paths))


def reached(analysis: Analysis) -> dict[str, tuple[str, ...]]:
    """Qualified name of each function that a region compiles, and the qualified names on the way to it."""
    return {f.qualname: tuple(step.qualname for step in r.path) for f, r in analysis.reached.items()}
