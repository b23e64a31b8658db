"""The engine behind the open documents: one workspace for each project part, kept between checks.

Everything here runs on one thread, beside the loop that talks to the client.
"""

from __future__ import annotations

import ast
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pathspec
from pygls.uris import from_fs_path

from ..analysis.regions import MARKERS
from ..config import Config, load_config
from ..engine.check import check
from ..engine.fixpoint import fix, within
from ..engine.run import find_files, rules_of
from ..engine.shards import shards
from ..engine.workspace import Workspace
from ..errors import GraphwardError
from ..rules.finding import Finding
from ..source.fixes import Applicability
from ..source.text import NotText, SourceText
from .session import Document, Place, Result
from .settings import EditorSettings

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """What a check is about: the open documents, the folders that the client has open, the editor's settings."""

    documents: tuple[Document, ...]
    folders: tuple[Path, ...] = ()
    settings: EditorSettings = field(default_factory=EditorSettings)


@dataclass(frozen=True)
class _Home:
    """Where a document belongs: the folder whose files it is checked with (None: nothing but what it imports)."""

    root: Path | None
    config: Config


@dataclass
class _Group:
    """Open documents that are checked together, with the files beside them."""

    files: tuple[Path, ...]
    config: Config
    documents: list[Document] = field(default_factory=list)


class Projects:
    """Checks and fixes documents; not to be used from two threads at once."""

    def __init__(self) -> None:
        self._parts: dict[Path, _Part] = {}
        self._roots: dict[Path, _Root] = {}

    def forget(self) -> None:
        """Look at the disk again at the next check."""
        self._parts.clear()
        self._roots.clear()

    def notice(self, path: Path, *, listed: bool) -> None:
        """A file was written; `listed` when it came or went. Files that are followed need no more than the next
        check; one that may belong to the graph code from now on does."""
        followed = any(part.follows(path) for part in self._parts.values())
        listed = listed or not (followed or any(root.has(path) for root in self._roots.values()))
        if listed or (not followed and _with_regions([path])):
            self.forget()

    def check(self, request: Request) -> list[Result]:
        """A result for each document; what goes wrong with one is that one's problem."""
        groups, results = self._grouped(request)
        for group in groups:
            try:
                results += self._check_group(group)
            except Exception as error:
                problem = self._explained(error, group.documents)
                results += [Result(d, problem=problem) for d in group.documents]
        return results

    def fixed(self, document: Document, request: Request) -> SourceText | None:
        """The document after all its safe fixes; None when it cannot be checked."""
        group = next((g for g in self._grouped(request)[0] if document in g.documents), None)
        if group is None or document.source is None:
            return None
        part = self._part(group)
        rules, safe = rules_of(group.config), within(Applicability.SAFE)
        try:
            done = fix(part.workspace, rules, group.config, safe, only=[document.path])
        finally:
            part.workspace.replace(document.path, document.source)
        for reason in done.refused:
            logger.warning("not applied: %s", reason)
        change = done.changes.get(document.path)
        return document.source if change is None else change.after

    def _grouped(self, request: Request) -> tuple[list[_Group], list[Result]]:
        """The documents that can be checked, in groups that are checked together, and why the others cannot."""
        groups: dict[tuple[Path, ...], _Group] = {}
        refused = []
        for document in request.documents:
            try:
                home = _home(document.path, request)
                problem = _unfit(document, home)
                if problem is None:
                    files = self._files(document.path, home)
                    groups.setdefault(files, _Group(files, home.config)).documents.append(document)
                else:
                    refused.append(Result(document, problem=problem))
            except Exception as error:
                refused.append(Result(document, problem=self._explained(error, [document])))
        return list(groups.values()), refused

    def _check_group(self, group: _Group) -> list[Result]:
        part = self._part(group)
        known = part.known(group)
        if known is not None:
            return known
        paths = [d.path for d in group.documents]
        found = check(part.workspace, rules_of(group.config), group.config, only=paths).files
        uris = {d.path: d.uri for d in group.documents}
        results = [
            _result(d, part.workspace, found[d.path].findings if d.path in found else (), uris) for d in group.documents
        ]
        part.remember(group, results)
        return results

    def _explained(self, error: Exception, documents: Sequence[Document]) -> str:
        """What the user is told of a failure. A third party's codemod may fail in any way; the server must not."""
        self.forget()
        if isinstance(error, GraphwardError):
            return str(error)
        logger.error("the check of %s failed", ", ".join(d.uri for d in documents), exc_info=error)
        return f"the check failed: {type(error).__name__}: {error}"

    def _files(self, path: Path, home: _Home) -> tuple[Path, ...]:
        """The files that must be checked together with `path`."""
        if home.root is None:
            return (path,)
        root = self._roots.get(home.root)
        if root is None or root.config != home.config:
            root = self._roots[home.root] = _Root(home.root, home.config)
        return root.part_of(path)

    def _part(self, group: _Group) -> _Part:
        key = group.files[0]
        overlays = {d.path: d for d in group.documents}
        part = self._parts.get(key)
        if part is None or part.files != group.files or not part.follow(overlays):
            part = self._parts[key] = _Part(group.files, overlays)
        return part


class _Root:
    """The files below a project's folder, in the parts that know nothing of each other."""

    def __init__(self, root: Path, config: Config):
        self.config = config
        try:
            files, _ = find_files([root], config)
        except GraphwardError as error:
            logger.info("no files of the project are read: %s", error)
            files = []
        self._part_of: dict[Path, tuple[Path, ...]] = {}
        for part in shards([f for f in files if _readable(f)]):
            # A part without graph code needs a name all the same: its first file.
            followed = tuple(_with_regions(part.files)) or tuple(part.files[:1])
            self._part_of.update(dict.fromkeys(part.files, followed))
        self._by_folder = {path.parent: part for path, part in self._part_of.items()}

    def has(self, path: Path) -> bool:
        return path in self._part_of

    def part_of(self, path: Path) -> tuple[Path, ...]:
        """The files that are checked with `path`; one that is new, or that git ignores, belongs to its neighbours."""
        return self._part_of.get(path) or self._by_folder.get(path.parent) or (path,)


class _Part:
    """A workspace that follows the editor's buffers and the disk, and what was last found in it."""

    def __init__(self, files: tuple[Path, ...], overlays: Mapping[Path, Document]):
        self.files = files
        together = list(dict.fromkeys([*files, *overlays]))
        self._tokens = {path: _token(path, overlays) for path in together}
        self._known: tuple[tuple[Document, ...], Config, list[Result]] | None = None
        texts = {path: d.source for path, d in overlays.items() if d.source is not None}
        self.workspace = Workspace([p for p in together if p in overlays or p.is_file()], texts)

    def follows(self, path: Path) -> bool:
        return path in self._tokens

    def follow(self, overlays: Mapping[Path, Document]) -> bool:
        """Bring the workspace up to date; False when it has to be built anew."""
        for path in dict.fromkeys([*self._tokens, *overlays]):
            token = _token(path, overlays)
            if path in self._tokens and self._tokens[path] == token:
                continue
            self._known = None
            overlay = overlays.get(path)
            try:
                source = overlay.source if overlay else SourceText.from_bytes(path, path.read_bytes())
            except (NotText, OSError):
                return False
            if source is None:
                return False
            self.workspace.replace(path, source)
            if path not in self.workspace.files and overlay is not None:
                self.workspace.files.append(path)  # known until now only as the target of an import
            self._tokens[path] = token
        return True

    def known(self, group: _Group) -> list[Result] | None:
        """The last results, if nothing that they depend on has changed since."""
        if self._known is None or self._known[:2] != (tuple(group.documents), group.config):
            return None
        return self._known[2]

    def remember(self, group: _Group, results: list[Result]) -> None:
        """Keep the results, and follow the files that imports have led to as well."""
        for path in self.workspace.read_beyond(self._tokens):
            self._tokens[path] = _token(path, {})
        self._known = tuple(group.documents), group.config, results


def _token(path: Path, overlays: Mapping[Path, Document]) -> object:
    """Changes when the text that counts for a file does."""
    overlay = overlays.get(path)
    if overlay is not None:
        return overlay
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _home(path: Path, request: Request) -> _Home:
    """The nearest folder with a `pyproject.toml`, else the client's folder around the file, else its package."""
    config = load_config(path.parent)
    folders = [f for f in request.folders if path.is_relative_to(f)]
    root: Path | None
    if (config.root / "pyproject.toml").is_file():
        # As the client spells it: the settings know the folder with its symbolic links resolved.
        root = next((p for p in path.parents if p.resolve() == config.root), config.root)
    elif folders:
        root = min(folders, key=lambda f: len(f.parts))
        config = replace(config, root=root.resolve())
    else:
        root = _package(path)
    return _Home(root, request.settings.over(config))


def _package(path: Path) -> Path | None:
    """The outermost package around a file."""
    found = None
    for folder in path.parents:
        if not (folder / "__init__.py").is_file():
            return found
        found = folder
    return found


def _unfit(document: Document, home: _Home) -> str | None:
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


def _result(document: Document, workspace: Workspace, findings: Iterable[Finding], uris: Mapping[Path, str]) -> Result:
    problem = workspace.problems.get(document.path)
    if problem is not None:
        graph_code = document.source is not None and any(marker in document.source.utf8 for marker in MARKERS)
        if not graph_code:
            return Result(document)  # any other Python file that is being typed
        return Result(document, problem=problem.message, problem_line=problem.line)
    findings = tuple(findings)
    steps = dict.fromkeys(step for finding in findings for step in finding.call_path)
    places = {step: place for step in steps if (place := _place(step, workspace, uris)) is not None}
    return Result(document, findings, places=places)


def _place(step: str, workspace: Workspace, uris: Mapping[Path, str]) -> Place | None:
    """Where the function `module:qualname` has its name."""
    name, _, qualname = step.partition(":")
    module = workspace.load(name)
    function = next((f for f in module.functions if f.qualname == qualname), None) if module else None
    if module is None or function is None:
        return None
    keyword = "async def " if isinstance(function.node, ast.AsyncFunctionDef) else "def "
    start = module.source.utf8.find(function.name.encode(), module.start(function.node) + len(keyword))
    uri = uris.get(module.path) or from_fs_path(str(module.path)) or ""
    return Place(uri, module.source, start, start + len(function.name.encode()))


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
