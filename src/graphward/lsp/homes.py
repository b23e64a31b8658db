"""Where a document belongs: its project's folder and settings, and the files that it must be checked with."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pathspec

from ..analysis.regions import MARKERS
from ..config import Config, load_config
from ..engine.run import find_files
from ..engine.shards import Shard, shards
from ..errors import GraphwardError
from .documents import Document
from .settings import EditorSettings

logger = logging.getLogger(__name__)

# Up to this many bytes all files of a part are read, since a class without a construct may inherit one; beyond it only
# those with graph code of their own are, and what they import.
_WHOLE = 1_000_000


@dataclass(frozen=True)
class Home:
    """The folder whose files a document is checked with (None: nothing but what it imports), and the settings there."""

    root: Path | None
    config: Config


def home(path: Path, folders: Iterable[Path], settings: EditorSettings) -> Home:
    """The nearest folder with a `pyproject.toml`, else the client's folder around the file, else its package."""
    config = load_config(path.parent)
    around = [f for f in folders if path.is_relative_to(f)]
    root: Path | None
    if (config.root / "pyproject.toml").is_file():
        # As the client spells it: the settings know the folder with its symbolic links resolved.
        root = next((p for p in path.parents if p.resolve() == config.root), config.root)
    elif around:
        root = min(around, key=lambda f: len(f.parts))
        config = replace(config, root=root.resolve())
    else:
        root = _package(path)
    return Home(root, settings.over(config))


def unfit(document: Document, home: Home) -> str | None:
    """Why a document is not checked; empty when it is excluded, so that there is nothing to say."""
    if document.source is None:
        return "the text is not valid Unicode"
    limit = home.config.max_file_size
    if len(document.source.utf8) > limit:
        return f"larger than {limit} bytes; raise max-file-size in pyproject.toml to read it"
    if home.config.exclude and home.root is not None and document.path.is_relative_to(home.root):
        relative = document.path.relative_to(home.root).as_posix()
        if pathspec.GitIgnoreSpec.from_lines(home.config.exclude).match_file(relative):
            return ""
    return None


class Root:
    """The files below a project's folder, in the parts that know nothing of each other."""

    def __init__(self, root: Path, config: Config):
        self.config = config
        try:
            files, _ = find_files([root], config)
        except GraphwardError as error:
            logger.info("no files of the project are read: %s", error)
            files = []
        self.parts: Sequence[Shard] = shards([f for f in files if _readable(f)])
        self._part_of: dict[Path, tuple[Path, ...]] = {}
        for part in self.parts:
            followed = part.files if part.size <= _WHOLE else _with_regions(part.files) or part.files[:1]
            self._part_of.update(dict.fromkeys(part.files, tuple(followed)))
        self._by_folder = {path.parent: part for path, part in self._part_of.items()}

    def has(self, path: Path) -> bool:
        return path in self._part_of

    def part_of(self, path: Path) -> tuple[Path, ...]:
        """The files that are checked with `path`; one that is new, or that git ignores, belongs to its neighbours."""
        return self._part_of.get(path) or self._by_folder.get(path.parent) or (path,)


def _package(path: Path) -> Path | None:
    """The outermost package around a file."""
    found = None
    for folder in path.parents:
        if not (folder / "__init__.py").is_file():
            return found
        found = folder
    return found


def _readable(path: Path) -> bool:
    try:
        with path.open("rb"):
            return True
    except OSError:
        return False


def _with_regions(files: Iterable[Path]) -> list[Path]:
    """The files that hold graph code of their own; the others are read where an import asks for them."""
    found = []
    for path in files:
        try:
            data = path.read_bytes()
        except OSError:
            continue
        if any(marker in data for marker in MARKERS):
            found.append(path)
    return found
