"""The files of a run: read once, parsed once, and kept while nothing changes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..analysis.module import Module, module_name
from ..analysis.regions import MARKERS
from ..errors import GraphwardError
from ..recordings import Recordings
from ..rules.suspects import Suspect
from ..source.notebook_text import NotebookText
from ..source.parsing import UNPARSABLE, require_python
from ..source.text import NOTEBOOK, NotText, SourceText
from .heirs import heirs


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that was left alone, and why; `line` is 1-based, 0 for none."""

    path: Path
    line: int
    message: str


class Workspace:
    """The sources of `files`, and of the rest of their packages where an import asks for them.

    `overlays` are texts that an editor holds instead of the disk.
    """

    def __init__(self, files: Iterable[Path], overlays: Mapping[Path, SourceText] | None = None):
        self.files = list(files)
        self.problems: dict[Path, Problem] = {}
        self.recordings = Recordings()
        self.suspects: tuple[Suspect, ...] = ()
        self._sources: dict[Path, SourceText | None] = dict(overlays or {})
        self._modules: dict[Path, Module | None] = {}
        self._names: dict[Path, str] = {}
        self._paths: dict[str, Path] = {}
        self._roots: dict[Path, None] = {}
        self._missing: set[Path] = set()
        self._unparsed: dict[Path, SourceText] = {}
        self._packages: dict[Path, str] = {}
        self._absent: set[str] = set()
        for path in self.files:
            self._register(path)

    def source(self, path: Path) -> SourceText | None:
        """The text of a file; None, with a Problem, when it is none. Raises GraphwardError when it cannot be read."""
        if path not in self._sources:
            try:
                self._sources[path] = SourceText.from_bytes(path, path.read_bytes())
            except NotText as error:
                self._fail(path, error.line, str(error))
            except OSError as error:
                raise GraphwardError(
                    f"cannot be read: {error.strerror}", path=path, hint="change its permissions, or exclude it"
                ) from None
        return self._sources[path]

    def fork(self) -> Workspace:
        """A workspace that starts with all that this one has read and parsed, and changes on its own."""
        other = Workspace(())
        other.files = list(self.files)
        other.problems = dict(self.problems)
        other.recordings = self.recordings
        other.suspects = self.suspects
        other._sources, other._modules = dict(self._sources), dict(self._modules)
        other._names, other._paths = dict(self._names), dict(self._paths)
        other._roots, other._absent = dict(self._roots), set(self._absent)
        other._missing = set(self._missing)
        other._unparsed = dict(self._unparsed)
        return other

    def all_problems(self) -> list[Problem]:
        """Files that were left alone, recordings included, by path."""
        ignored = [Problem(path, 0, message) for path, message in self.recordings.problems.items()]
        return sorted([*self.problems.values(), *ignored], key=lambda p: str(p.path))

    def replace(self, path: Path, source: SourceText) -> None:
        """From now on the file reads as `source`."""
        self._sources[path] = source
        self._modules.pop(path, None)
        self._unparsed.pop(path, None)
        self.problems.pop(path, None)
        if path not in self._names:
            self._register(path)
            self.files.append(path)

    def module(self, path: Path) -> Module | None:
        """The parsed file; None, with a Problem, when it does not parse."""
        if path not in self._modules:
            source = self.source(path)
            self._modules[path] = None if source is None else self._parse(path, source)
        return self._modules[path]

    def load(self, name: str) -> Module | None:
        """The module of that dotted name, if it belongs to the packages of this run."""
        path = self._paths.get(name)
        if path is None:
            path = None if name in self._absent else self._find(name)
            if path is None:
                self._absent.add(name)
                return None
            self._names[path], self._paths[name] = name, path
        return self.module(path)

    def graph_modules(self) -> list[Module]:
        """The files that hold graph code, parsed: by their markers, or because a class in them inherits a `construct`.
        All others are only checked for being Python, by `check_syntax`."""
        marked: dict[Path, Module] = {}
        others: dict[Path, SourceText] = {}
        for path in self.files:
            source = self.source(path)
            if source is None:
                continue
            if any(marker in source.utf8 for marker in MARKERS):
                self._take(path, marked)
            else:
                others[path] = source
        for path in heirs(list(marked.values()), others):
            del others[path]
            self._take(path, marked)
        self._unparsed.update(others)
        return [marked[path] for path in self.files if path in marked]

    def check_syntax(self) -> None:
        """Files without graph code that do not parse become problems; those that imports led to in the meantime are
        parsed already."""
        for path, source in self._unparsed.items():
            if path not in self._modules:
                try:
                    require_python(source)
                except UNPARSABLE as error:
                    self._syntax_problem(path, source, error)
        self._unparsed.clear()

    def _take(self, path: Path, modules: dict[Path, Module]) -> None:
        module = self.module(path)
        if module is not None:
            modules[path] = module

    def read_beyond(self, files: Iterable[Path]) -> list[Path]:
        """The files that imports led to outside `files`, and those that they looked for and did not find."""
        return sorted((set(self._modules) | self._missing) - set(files))

    def _register(self, path: Path) -> None:
        name = module_name(path, self._packages)
        if path.suffix == NOTEBOOK:
            # Nothing can import it, and a module may have its name.
            name += "-notebook"
        self._names[path] = name
        self._paths.setdefault(name, path)
        self._roots.setdefault(import_root(path, name))

    def _find(self, name: str) -> Path | None:
        owner, _, _ = name.rpartition(".")
        if owner and (owner in self._absent or (owner not in self._paths and self._find(owner) is None)):
            self._absent.add(owner)
            return None
        parts = name.split(".")
        stems = [root.joinpath(*parts) for root in self._roots]
        candidates = [path for stem in stems for path in (stem.with_suffix(".py"), stem / "__init__.py")]
        for path in candidates:
            if path.is_file():
                return path
        self._missing.update(candidates)
        return None

    def _parse(self, path: Path, source: SourceText) -> Module | None:
        try:
            return Module.parse(source, self._names[path])
        except UNPARSABLE as error:
            self._syntax_problem(path, source, error)
            return None

    def _syntax_problem(self, path: Path, source: SourceText, error: Exception) -> None:
        line = (error.lineno or 0) if isinstance(error, SyntaxError) else 0
        reason = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
        message = f"does not parse: {reason}"
        if line and isinstance(source, NotebookText):
            line, message = 0, f"{source.line_named(line)}: {message}"
        self._fail(path, line, message)

    def _fail(self, path: Path, line: int, message: str) -> None:
        self._sources.setdefault(path, None)
        self.problems[path] = Problem(path, line, message)


def import_root(path: Path, name: str) -> Path:
    """The folder on `sys.path` from which `name` is imported."""
    depth = name.count(".") + (path.name == "__init__.py")
    return path.absolute().parents[depth]
