"""Which files a run reads: the tree under the given paths, as git sees it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pathspec

from ..errors import GraphwardError
from .text import NOTEBOOK

# Never walked into: nothing there is the user's source.
_SKIPPED = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", "__pycache__", "node_modules", ".mypy_cache", ".ruff_cache",
     ".ipynb_checkpoints", ".pytest_cache", ".tox", ".nox", ".eggs", "build", "dist", "site-packages"}
)  # fmt: skip
SUFFIXES = (".py", ".pyi")


@dataclass
class Discovery:
    """`files` in a stable order; `skipped` says of a file why it is left out."""

    files: list[Path] = field(default_factory=list)
    skipped: list[tuple[Path, str]] = field(default_factory=list)


def discover(
    paths: Sequence[Path], *, exclude: Sequence[str] = (), max_file_size: int = 2_000_000, notebooks: bool = False
) -> Discovery:
    """The Python files under `paths`, and with `notebooks` the notebooks, where nbformat is there to read them. A file
    that is named is taken whatever git ignores.

    Raises GraphwardError for a path that does not exist or cannot be read, for a file that is no Python file, for a
    notebook that cannot be taken, and when nothing is found at all.
    """
    suffixes = (*SUFFIXES, NOTEBOOK) if notebooks and find_spec("nbformat") is not None else SUFFIXES
    found = Discovery()
    seen: set[Path] = set()
    excluded = pathspec.GitIgnoreSpec.from_lines(exclude)
    for path in paths:
        if not path.exists():
            raise GraphwardError("no such file or folder", path=path, hint="check the path for a typing error")
        candidates: Iterable[tuple[Path, str]]
        if path.is_dir():
            candidates = list(_walk(path, excluded, suffixes))
            if not candidates:
                hint = "name a folder with .py files; files that git ignores are left out"
                raise GraphwardError("the folder holds no Python files", path=path, hint=hint)
        elif path.suffix in suffixes:
            candidates = [(path, "")]
        elif path.suffix == NOTEBOOK:
            raise _refusal(path, notebooks)
        else:
            raise GraphwardError("this is not a Python file", path=path, hint="Graphward reads .py files")
        for file, problem in candidates:
            if file in seen:
                continue
            seen.add(file)
            problem = problem or _too_large(file, max_file_size)
            if problem:
                found.skipped.append((file, problem))
            else:
                found.files.append(file)
    return found


def _refusal(path: Path, notebooks: bool) -> GraphwardError:
    if notebooks:
        return GraphwardError("notebooks need nbformat", path=path, hint="pip install 'graphward[notebook]'")
    return no_module(path)


def no_module(path: Path) -> GraphwardError:
    """The error for a notebook that is to be run outside Jupyter."""
    hint = "prove its cells with Verify in the editor, or move the Cells to a .py file; `graphward fix` works here"
    return GraphwardError("a notebook cannot be proven from the command line", path=path, hint=hint)


def _too_large(file: Path, limit: int) -> str:
    size = file.stat().st_size
    return f"larger than {limit} bytes ({size}); raise max-file-size to read it" if size > limit else ""


def _walk(root: Path, excluded: pathspec.PathSpec, suffixes: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Files below `root` with, for each, why it is refused (empty when it is not)."""
    real_root = root.resolve()
    stack: list[tuple[Path, list[tuple[Path, pathspec.PathSpec]]]] = [(root, _ignores_above(root))]
    while stack:
        folder, ignores = stack.pop()
        own = _ignore_file(folder)
        ignores = [*ignores, (folder, own)] if own else ignores
        try:
            entries = sorted(os.scandir(folder), key=lambda e: e.name)
        except OSError as error:
            raise GraphwardError(f"the folder cannot be read: {error.strerror}", path=folder) from None
        folders = []
        for entry in entries:
            path = Path(entry.path)
            relative = path.relative_to(root).as_posix()
            try:
                is_dir = entry.is_dir()
            except OSError:  # a link to itself is no folder
                is_dir = False
            name = relative + "/" if is_dir else relative
            if excluded.match_file(name) or _ignored(path, is_dir, ignores):
                continue
            if is_dir:
                if entry.name in _SKIPPED or entry.name.endswith(".egg-info"):
                    continue
                if not entry.is_symlink():  # a linked folder is either elsewhere in the tree or outside it
                    folders.append((path, ignores))
            elif path.suffix in suffixes:
                yield path, _escape(path, real_root) if entry.is_symlink() else ""
        stack.extend(reversed(folders))


def _escape(link: Path, root: Path) -> str:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):  # before Python 3.13 a link to itself is a RuntimeError
        return "a symbolic link that leads nowhere"
    return "" if target.is_relative_to(root) else f"a symbolic link out of the tree, to {target}"


def _ignores_above(root: Path) -> list[tuple[Path, pathspec.PathSpec]]:
    """The ignore files of the folders above `root`, up to the repository's top."""
    found: list[tuple[Path, pathspec.PathSpec]] = []
    folder = root.resolve()
    chain = []
    while not (folder / ".git").exists():
        if folder.parent == folder:
            return []
        folder = folder.parent
        chain.append(folder)
    for above in reversed(chain):
        spec = _ignore_file(above)
        if spec:
            found.append((above, spec))
    return found


def _ignore_file(folder: Path) -> pathspec.PathSpec | None:
    file = folder / ".gitignore"
    if not file.is_file():
        return None
    return pathspec.GitIgnoreSpec.from_lines(file.read_text(encoding="utf-8", errors="replace").splitlines())


def _ignored(path: Path, is_dir: bool, ignores: list[tuple[Path, pathspec.PathSpec]]) -> bool:
    """Git's rule: the nearest ignore file that says anything decides."""
    for folder, spec in reversed(ignores):
        base = path if folder in path.parents else path.resolve()
        relative = base.relative_to(folder).as_posix() + ("/" if is_dir else "")
        verdict = spec.check_file(relative).include
        if verdict is not None:
            return verdict
    return False
