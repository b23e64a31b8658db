"""The engine behind the open documents. It runs in processes of its own, beside the one that talks to the client: one
answers for single documents at once, another for whole projects."""

from __future__ import annotations

import ast
import contextlib
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..analysis.module import FunctionInfo, Module, module_name
from ..analysis.regions import MARKERS, Reached, Region
from ..config import Config
from ..engine.cache import Cache
from ..engine.check import Analysis, CheckResult, analyse, check
from ..engine.fixpoint import Chooser, fix, within
from ..engine.run import rules_of
from ..engine.shards import Shard
from ..engine.workspace import Workspace, import_root
from ..errors import GraphwardError
from ..rules.finding import Finding, Span
from ..rules.registry import all_rules, rule
from ..rules.rule import Rule
from ..source.fixes import Applicability
from ..source.text import NotText, SourceText
from .documents import Document, Found, Listed, Page, Place, RegionPlace, Stopped
from .homes import Home, Root, home, unfit
from .incremental import Snapshot, findings_after_edit, large
from .settings import EditorSettings

logger = logging.getLogger(__name__)

# Bytes of other files that a document is checked with at once; what is further away waits for the whole project.
_SCOPE = 300_000
# Parts larger than this are read anew for each check of the whole, to give their memory back.
_KEPT = 8_000_000

Cancelled = Callable[[], bool]


class Checker:
    """Checks and fixes documents; not to be used from two threads at once. `documents`, `folders` and `settings` mirror
    the client's; `scopes` says which files a document was found to depend on."""

    def __init__(self) -> None:
        self.documents: dict[str, Document] = {}
        self.folders: tuple[Path, ...] = ()
        self.settings = EditorSettings()
        self.scopes: dict[Path, tuple[Path, ...]] = {}
        self._desks: dict[Path, _Desk] = {}
        self._roots: dict[Path, Root] = {}

    def warm_up(self) -> None:
        """Load the codemods, before the first question."""
        with contextlib.suppress(GraphwardError):
            _rules(Config())

    def forget(self) -> None:
        """Look at the disk again at the next check."""
        self._desks.clear()
        self._roots.clear()
        self.scopes.clear()

    def quick(self, uri: str) -> Found:
        """What is found in one document, with the files that it was last found to depend on and all that it imports."""
        document = self.documents[uri]

        try:
            where = home(document.path, self.folders, self.settings)
            problem = unfit(document, where)
            if problem is not None:
                return Found(uri, document.serial, problem=problem)
            return self._check([document], self.scopes.get(document.path, ()), where.config, quick=True)[0]
        except Exception as error:
            return self._failed(document, error)

    def full(self, uris: Iterable[str]) -> list[Found]:
        """What is found in documents with all files of their projects."""
        found = []
        groups: dict[tuple[Path, ...], tuple[Home, list[Document]]] = {}
        for document in [self.documents[uri] for uri in uris if uri in self.documents]:
            try:
                where = home(document.path, self.folders, self.settings)
                problem = unfit(document, where)
                if problem is not None:
                    found.append(Found(document.uri, document.serial, problem=problem))
                    continue
                files = self._files(document.path, where)
                groups.setdefault(files, (where, []))[1].append(document)
            except Exception as error:
                found.append(self._failed(document, error))
        for files, (where, documents) in groups.items():
            try:
                found += self._check(documents, files, where.config)
                self.scopes.update((d.path, f.scope) for d, f in zip(documents, found[-len(documents) :]))
                if sum(_size(f) for f in files) > _KEPT:
                    self._desks.clear()
            except Exception as error:
                found += [self._failed(d, error) for d in documents]
        return found

    def splits(self, uri: str) -> Found:
        """The ways to split the graph functions of a document into units that compile by themselves, whether the
        settings ask for them or not."""
        document = self.documents[uri]
        where = home(document.path, self.folders, self.settings)
        codes = tuple(r.code for r in all_rules() if r.code.startswith("GW60"))
        if not codes:
            return Found(uri, document.serial)
        config = replace(where.config, select=codes, ignore=())
        return self._check([document], self.scopes.get(document.path, ()), config)[0]

    def project(self, folder: Path, cancelled: Cancelled) -> Iterator[tuple[int, int, list[Listed]]]:
        """All files below a folder, part by part: how many bytes are done, of how many, and what was found in those
        that are not open. Raises Stopped, and GraphwardError for settings that cannot be used."""
        where = home(folder / "__init__.py", [folder], self.settings)
        root = Root(folder, where.config)
        overlays = self._overlays()
        total, done = sum(part.size for part in root.parts), 0
        cache = Cache(where.config)
        for part in root.parts:
            if cancelled():
                raise Stopped
            listed = self._listed(part, where.config, overlays, cache, cancelled)
            done += part.size
            yield done, total, listed

    def fixed(self, uri: str, code: str = "", unsafe: bool = False) -> tuple[SourceText | None, list[str]]:
        """A document after all its safe fixes, or those of one rule, and why some were left out; None when it cannot be
        checked. `unsafe`: the first fix of each finding, however far it can be trusted."""
        document = self.documents[uri]
        where = home(document.path, self.folders, self.settings)
        if unfit(document, where) is not None or document.source is None:
            return None, []
        scope = self.scopes.get(document.path, ())
        desk, overlays = self._desk(document.path, scope)
        desk.bring_up([document], scope, overlays)
        inner = within(Applicability.UNSAFE if unsafe else Applicability.SAFE)
        choose: Chooser = (lambda s, f: inner(s, f) if f.code == code else None) if code else inner
        fork = desk.workspace.fork()
        done = fix(fork, _rules(where.config), where.config, choose, only=[document.path])
        change = done.changes.get(document.path)
        return (document.source if change is None else change.after), done.refused

    def page(self, code: str) -> Page | None:
        """A rule's page; None when there is no such rule."""
        try:
            found = rule(code)
        except GraphwardError:
            return None
        return Page(found.code, found.name, found.page())

    def diagnose(self, text: str) -> list[dict[str, Any]]:
        """What the errors of a text mean, each as plain data with a `text` for people."""
        from ..diagnosis.explain import diagnose

        return [
            {
                "entry": d.entry, "message": d.message, "cause": d.cause, "cure": d.cure, "file": d.file,
                "line": d.line, "rules": list(d.rules), "command": d.command,
                "text": _told(d.title, d.cause, d.cure, d.file, d.line),
            }
            for d in diagnose(text)
        ]  # fmt: skip

    def config(self, path: Path) -> Config:
        """The settings that hold for a file. Raises GraphwardError."""
        return home(path, self.folders, self.settings).config

    def _check(
        self, documents: list[Document], scope: tuple[Path, ...], config: Config, *, quick: bool = False
    ) -> list[Found]:
        """What is found in documents of one project, with the files of `scope`. `quick`: what an edit inside a function
        cannot reach at once is not looked at."""
        try:
            desk, overlays = self._desk(documents[0].path, scope)
            return desk.check(documents, scope, overlays, config, quick=quick)
        except _Gone:
            self.forget()
            desk, overlays = self._desk(documents[0].path, scope)
            return desk.check(documents, scope, overlays, config)

    def _failed(self, document: Document, error: Exception) -> Found:
        self.forget()
        if isinstance(error, GraphwardError):
            return Found(document.uri, document.serial, problem=str(error))
        logger.error("the check of %s failed", document.uri, exc_info=error)
        problem = f"the check failed: {type(error).__name__}: {error}"
        return Found(document.uri, document.serial, problem=problem)

    def _overlays(self) -> dict[Path, Document]:
        return {d.path: d for d in self.documents.values()}

    def _files(self, path: Path, where: Home) -> tuple[Path, ...]:
        if where.root is None:
            return (path,)
        root = self._roots.get(where.root)
        if root is None or root.config != where.config:
            root = self._roots[where.root] = Root(where.root, where.config)
        return root.part_of(path)

    def _desk(self, path: Path, scope: Iterable[Path]) -> tuple[_Desk, dict[Path, Document]]:
        """The workspace for a document, one for each folder that modules are imported from, and the editor's texts that
        count in it: two folders may hold modules of one name."""
        key, beside = _imported_from(path), frozenset(scope)
        overlays = {p: d for p, d in self._overlays().items() if p in beside or _imported_from(p) == key}
        return self._desks.setdefault(key, _Desk()), overlays

    def _listed(
        self, part: Shard, config: Config, overlays: Mapping[Path, Document], cache: Cache, cancelled: Cancelled
    ) -> list[Listed]:
        """What is found in one part; kept between runs unless the editor holds other texts than the disk."""
        edited = {p: d.source for p in part.files if (d := overlays.get(p)) is not None and _differs(d)}
        stored = None if edited else cache.load(part)
        workspace = Workspace(part.files, {p: s for p, s in edited.items() if s is not None})
        if stored is not None:
            return list(_entries(part, stored, workspace, overlays))

        def stop_when_told(done: int, total: int) -> None:
            if cancelled():
                raise Stopped

        analysis = analyse(workspace)
        try:
            result = check(workspace, _rules(config), config, progress=stop_when_told, analysis=analysis)
            if not edited:
                cache.store(part, result, workspace.read_beyond(part.files))
            return list(_entries(part, result, workspace, overlays))
        finally:
            analysis.release()


def _entries(
    part: Shard, result: CheckResult, workspace: Workspace, overlays: Mapping[Path, Document]
) -> Iterator[Listed]:
    """The files of a part that no editor holds, with what was found in them."""
    problems = {p.path: p for p in result.problems}
    for path in part.files:
        if path in overlays:
            continue
        entry, problem = result.files.get(path), problems.get(path)
        if entry is not None:
            places = _places(entry.findings, workspace, {})
            yield _entry(path, entry.source, Found("", 0, tuple(entry.findings), places=places))
        elif problem is not None:
            yield _entry(path, None, Found("", 0, problem=problem.message, problem_line=problem.line))
        else:
            yield _entry(path, None, Found("", 0))


class _Desk:
    """A workspace that follows the editor's buffers and the disk."""

    def __init__(self) -> None:
        self.workspace = Workspace(())
        self._tokens: dict[Path, object] = {}
        self._parsed: dict[Path, Module] = {}
        self._snapshots: dict[Path, Snapshot] = {}

    def check(
        self, documents: list[Document], scope: Iterable[Path], overlays: Mapping[Path, Document], config: Config, *,
        quick: bool = False,
    ) -> list[Found]:  # fmt: skip
        """What is found in the documents, read together with the files of `scope`. `quick`: see `incremental.py`."""
        self.bring_up(documents, scope, overlays)
        analysis = analyse(self.workspace)
        try:
            if quick:
                files = {d.path: self._after_edit(d, analysis, config) for d in documents}
            else:
                paths = [d.path for d in documents]
                entries = check(self.workspace, _rules(config), config, only=paths, analysis=analysis).files
                files = {path: entry.findings for path, entry in entries.items()}
            for path in self.workspace.read_beyond(self._tokens):
                self._tokens[path] = _token(path, {})
            self._parsed.update((m.path, m) for m in analysis.project.modules.values())
            return [self._found(d, files.get(d.path, ()), analysis, overlays, config) for d in documents]
        finally:
            # What refers to itself in circles would stay until the collector finds it among millions of nodes.
            analysis.inference.release()
            vars(analysis.project).clear()
            vars(analysis).clear()

    def _after_edit(self, document: Document, analysis: Analysis, config: Config) -> list[Finding]:
        """What is found in a document, worked out from what was found before where that is enough."""
        path, workspace = document.path, self.workspace
        module = next((m for m in analysis.project.modules.values() if m.path == path), None)
        before = self._snapshots.pop(path, None)
        if module is None or not large(module.source):
            entry = check(workspace, _rules(config), config, only=[path], analysis=analysis).files.get(path)
            return entry.findings if entry else []
        findings, edits = None, 0
        if before is not None:
            findings = findings_after_edit(before, module, workspace, analysis, _rules(config), config, self._tokens)
            edits = before.edits + 1
        if findings is None:
            entry = check(workspace, _rules(config), config, only=[path], analysis=analysis).files.get(path)
            findings, edits = entry.findings if entry else [], 0
        # Files that were read on the way count from now on: what is missing of them is read before the next check.
        for beyond in workspace.read_beyond(self._tokens):
            self._tokens[beyond] = _token(beyond, {})
        self._snapshots[path] = Snapshot.of(module, findings, config, workspace.files, self._tokens, edits)
        return findings

    def bring_up(
        self, documents: Sequence[Document], scope: Iterable[Path], overlays: Mapping[Path, Document]
    ) -> None:
        """The workspace reads as the editor and the disk do, and its files are those of the scope and the documents."""
        files = [p for p in scope if p in overlays or p.is_file()]
        files = [*(d.path for d in documents if d.path not in files), *files]
        for path in dict.fromkeys([*self._tokens, *overlays, *files]):
            token = _token(path, overlays)
            if path in self._tokens and self._tokens[path] == token:
                continue
            came = path in self._tokens and self._tokens[path] is None
            source = _source(path, overlays)
            if came or (source is None and path in self._tokens):
                raise _Gone
            if source is not None:
                self._replace(path, source)
                self._tokens[path] = token
        self.workspace.files = files

    def _replace(self, path: Path, source: SourceText) -> None:
        before = self._parsed.pop(path, None)
        self.workspace.replace(path, source)
        if before is not None:
            for part in (*before.functions, *before.classes, before):
                vars(part).clear()

    def _found(
        self, document: Document, found: Iterable[Finding], analysis: Analysis, overlays: Mapping[Path, Document],
        config: Config,
    ) -> Found:  # fmt: skip
        problem = self.workspace.problems.get(document.path)
        if problem is not None:
            graph_code = document.source is not None and any(marker in document.source.utf8 for marker in MARKERS)
            if not graph_code:
                return Found(document.uri, document.serial)  # any other Python file that is being typed
            return Found(document.uri, document.serial, problem=problem.message, problem_line=problem.line)
        findings = tuple(found)
        uris = {path: d.uri for path, d in overlays.items()}
        return Found(
            document.uri, document.serial, findings, places=_places(findings, self.workspace, uris),
            regions=tuple(_regions(document, analysis.regions, config)), scope=_scope(document.path, analysis),
        )  # fmt: skip


def _entry(path: Path, source: SourceText | None, found: Found) -> Listed:
    text = source.utf8 if source is not None else b""
    digest = blake2b(repr((found.findings, found.problem, found.problem_line, found.places)).encode() + text)
    return Listed(path.absolute(), source, found, digest.hexdigest()[:16])


class _Gone(GraphwardError):
    """A file that was read is there no more: everything has to be read again."""

    def __init__(self) -> None:
        super().__init__("files of the project have changed; it is read again")


def _told(title: str, cause: str, cure: str, file: str | None, line: int | None) -> str:
    place = f"{file}:{line}" if file and line else file or ""
    return "\n".join(part for part in (title, place, cause, cure) if part)


def _rules(config: Config) -> tuple[Rule, ...]:
    return _selected(config.select, config.ignore, config.target_version)


@lru_cache(maxsize=8)
def _selected(select: tuple[str, ...], ignore: tuple[str, ...], target_version: str) -> tuple[Rule, ...]:
    return rules_of(Config(select=select, ignore=ignore, target_version=target_version))


def _imported_from(path: Path) -> Path:
    return import_root(path, module_name(path))


def _scope(path: Path, analysis: Analysis) -> tuple[Path, ...]:
    """The files from which graph code reaches the functions of a file, the nearest first up to `_SCOPE` bytes, in the
    order in which they were checked."""
    near = dict.fromkeys([path])
    stack: list[Reached] = [r for r in analysis.reached.values() if r.function.module.path == path]
    for region in analysis.regions:
        if region.cell is not None and region.root.module.path == path:
            near.setdefault(region.cell.module.path)
    seen: set[FunctionInfo] = set()
    queue = iter(stack)
    for reached in queue:
        near.setdefault(reached.function.module.path)
        for module in (reached.region.root.module, *(f.module for f in reached.path)):
            near.setdefault(module.path)
        if reached.region.cell is not None:
            near.setdefault(reached.region.cell.module.path)
        for caller, _ in reached.sites:
            if caller.function not in seen:
                seen.add(caller.function)
                stack.append(caller)
    chosen, size = set(), 0
    for other in near:
        size += _size(other) if other != path else 0
        if size > _SCOPE:
            break
        chosen.add(other)
    ordered = [m.path for m in analysis.modules if m.path in chosen]
    return tuple(dict.fromkeys([*ordered, *(p for p in near if p in chosen)]))


def _regions(document: Document, regions: Iterable[Region], config: Config) -> Iterator[RegionPlace]:
    """The regions whose text stands in a document, each once."""
    declared = _declared(document.path, config)
    seen = set()
    for region in sorted(regions, key=lambda r: r.cell is not r.root.owner):
        function = region.root
        if function.module.path != document.path or function in seen:
            continue
        seen.add(function)
        name = _name_span(function)
        expr = function.owner.qualname if region.kind == "construct" and function.owner else function.qualname
        reachable = "<locals>" not in expr and (region.kind == "construct" or function.owner is None)
        known = next(((e, i) for e, i in declared.items() if e.partition("(")[0] == expr), (expr, None))
        span = Span(function.module.source.line_starts[function.first_line - 1], function.module.end(function.node))
        yield RegionPlace(function.qualname, span, name, known[0] if reachable else "", known[1])


def _declared(path: Path, config: Config) -> dict[str, tuple[str, ...] | None]:
    """The expressions of the targets in `pyproject.toml` that stand in a file, with their inputs."""
    found = {}
    for text, inputs in config.verify.targets.items():
        place, _, expr = text.partition("::")
        if expr and (config.root / place).resolve() == path.resolve():
            found[expr] = inputs
    return found


def _name_span(function: FunctionInfo) -> Span:
    keyword = "async def " if isinstance(function.node, ast.AsyncFunctionDef) else "def "
    source = function.module.source
    start = source.utf8.find(function.name.encode(), function.module.start(function.node) + len(keyword))
    return Span(start, start + len(function.name.encode()))


def _places(findings: Iterable[Finding], workspace: Workspace, uris: Mapping[Path, str]) -> dict[str, Place]:
    steps = dict.fromkeys(step for f in findings for step in f.call_path)
    return {step: place for step in steps if (place := _place(step, workspace, uris)) is not None}


def _place(step: str, workspace: Workspace, uris: Mapping[Path, str]) -> Place | None:
    """Where the function `module:qualname` has its name."""
    name, _, qualname = step.partition(":")
    module = workspace.load(name)
    function = next((f for f in module.functions if f.qualname == qualname), None) if module else None
    if module is None or function is None:
        return None
    span, source = _name_span(function), module.source
    line = source.position(span.start)[0]
    head = source.utf8[source.line_starts[line - 1] : span.start].decode()
    bom = "\ufeff" if source.bom and line == 1 else ""
    uri = uris.get(module.path) or module.path.absolute().as_uri()
    return Place(uri, line - 1, bom + head, function.name)


def _source(path: Path, overlays: Mapping[Path, Document]) -> SourceText | None:
    overlay = overlays.get(path)
    if overlay is not None:
        return overlay.source
    try:
        return SourceText.from_bytes(path, path.read_bytes())
    except (NotText, OSError):
        return None


def _token(path: Path, overlays: Mapping[Path, Document]) -> object:
    """Changes when the text that counts for a file does."""
    overlay = overlays.get(path)
    if overlay is not None:
        return overlay.serial
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _differs(document: Document) -> bool:
    """Whether the editor holds another text than the disk."""
    try:
        return document.source is None or document.path.read_bytes() != document.source.to_bytes()
    except OSError:
        return True


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
