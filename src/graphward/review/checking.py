"""The engine behind a review: what is found at first, and what the accepted fixes make of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ..config import Config
from ..engine.apply import DoesNotParse, apply_fixes, drop_unused_imports
from ..engine.check import check
from ..engine.run import RunProgress, find_files, rules_of, run_check
from ..engine.shards import Shard, shards
from ..engine.workspace import Problem, Workspace
from ..rules.finding import Finding
from ..source.fixes import Fix
from ..source.text import SourceText
from . import actions as act
from .items import Item, followed, itemize
from .state import FileReview, Layer, Snapshot


class Unusable(Exception):
    """Decisions that cannot be applied: the fix for `key` cannot, not even `alone`, and `str()` says why."""

    def __init__(self, key: str, reason: str, *, alone: bool = True):
        super().__init__(reason)
        self.key = key
        self.alone = alone


class Checker:
    """Checks the files under `paths`. To be used by one thread at a time."""

    def __init__(self, paths: Sequence[Path], config: Config):
        self.config = config
        self.rules = rules_of(config)  # an unknown rule code must fail before anything is read
        self._paths = paths
        self._parts: list[Shard] = []
        self._numbers: dict[Path, int] = {}
        self._sources: dict[Path, SourceText] = {}
        self._workspaces: dict[int, Workspace] = {}
        self.seconds = 0.0  # that the last check took
        self.between: Callable[[], None] = lambda: None
        """Called between two files: a screen lets the keys go first there."""

    def first(
        self, progress: Callable[[RunProgress], None] | None = None
    ) -> tuple[dict[Path, tuple[SourceText, list[Finding]]], list[Problem]]:
        """What is found in the files as they are on disk, and the files that were left alone."""
        result = run_check(self._paths, self.config, progress=progress)
        self._parts = shards(find_files(self._paths, self.config, notebooks=True)[0])
        self._sources = {path: entry.source for path, entry in result.files.items()}
        return {path: (entry.source, entry.findings) for path, entry in result.files.items()}, result.problems

    def found_in(
        self, texts: Sequence[SourceText], files: Mapping[Path, FileReview]
    ) -> dict[Path, list[Finding]]:
        """The findings in files that read as `texts`, beside the others as their decisions leave them."""
        groups: dict[int, list[SourceText]] = {}
        for text in texts:
            groups.setdefault(id(self._workspace(text.path)), []).append(text)
        found: dict[Path, list[Finding]] = {}
        started = time.monotonic()
        for group in groups.values():
            workspace = self._workspace(group[0].path)
            asked = {text.path for text in group}
            known = set(workspace.files) - asked
            for file in files.values():
                if file.path in known:
                    _lay(workspace, _usable(file))
            for text in group:
                self.between()
                _lay(workspace, text)
                workspace.module(text.path)  # parsed one by one: what looks at them together cannot be interrupted
            result = check(workspace, self.rules, self.config, only=asked, progress=lambda *_: self.between())
            found.update((path, result.files[path].findings if path in result.files else []) for path in asked)
        self.seconds = time.monotonic() - started
        return found

    @property
    def files(self) -> list[Path]:
        """All that are checked, whether something is found in them or not."""
        return [path for part in self._parts for path in part.files]

    def problem(self, path: Path) -> Problem | None:
        """Why a file could not be checked."""
        return self._workspace(path).problems.get(path)

    def together(self, path: Path) -> list[Path]:
        """The files that are checked together with `path`."""
        return self._parts[self._number(path)].files

    def _number(self, path: Path) -> int:
        if path not in self._numbers:
            self._numbers = {f: n for n, part in enumerate(self._parts) for f in part.files}
        return self._numbers[path]

    def _workspace(self, path: Path) -> Workspace:
        number = self._number(path)
        if number not in self._workspaces:
            files = [f for f in self._parts[number].files if f in self._sources or f.is_file()]
            known = {f: self._sources[f] for f in files if f in self._sources}
            self._workspaces[number] = Workspace(files, known)
        return self._workspaces[number]

    def settle(
        self, waiting: Sequence[FileReview], files: Mapping[Path, FileReview]
    ) -> list[act.Checked | act.Refused]:
        """Apply the decisions on the `waiting` files and check the texts that they make, beside the other `files`."""
        done: list[act.Checked | act.Refused] = []
        texts: dict[Path, SourceText] = {}
        for file in waiting:
            self.between()
            try:
                texts[file.path] = applied(file)
            except Unusable as error:
                done.append(act.Refused(file, error.key, str(error), error.alone))
        found = self.found_in(list(texts.values()), files)
        for file in waiting:
            self.between()
            if file.path in texts:
                text = texts[file.path]
                fresh = Snapshot(text, refreshed(file, text, found[file.path]))
                fresh.prepare()
                done.append(act.Checked(file, fresh))
        return done


def _lay(workspace: Workspace, text: SourceText) -> None:
    if workspace.source(text.path) != text:
        workspace.replace(text.path, text)


def _usable(file: FileReview) -> SourceText:
    """The file as its decisions leave it, else as it was read."""
    try:
        return applied(file) if file.decisions else file.original
    except Unusable:
        return file.original


def refreshed(file: FileReview, text: SourceText, findings: Sequence[Finding]) -> tuple[Item, ...]:
    """What was found in the text that the decisions make, under the keys that the same findings had before."""
    known = {item.key: item for item in file.top.items if item.key not in file.decisions}
    first = {item.key for item in file.layers[0].items if not item.new}
    others = {item.key for layer in file.layers for item in layer.items} - known.keys()
    items = itemize(file.path, text, findings, known=known, taken=others, seen=frozenset(first))
    return followed(items, known.values())


def applied(file: FileReview) -> SourceText:
    """The text that the decisions make, on which the next layer would build. Raises Unusable."""
    return _of_layer(file.top)


def final(file: FileReview) -> SourceText:
    """The text to be written: imports that nothing uses any more are gone. Raises Unusable."""
    if not file.decisions:
        return file.original
    known: tuple[SourceText, SourceText] | None = file.top.__dict__.get("_final")
    if known is None or known[0] is not file.original:
        known = file.top.__dict__["_final"] = file.original, _final(file.original, file.top)
    return known[1]


def _final(original: SourceText, top: Layer) -> SourceText:
    text = _of_layer(top)
    try:
        result = drop_unused_imports(original, text)
        result.to_bytes()
        return result
    except DoesNotParse:
        return text
    except UnicodeEncodeError as error:
        raise Unusable(_last(top), _no_character(original, error)) from None


def _of_layer(layer: Layer) -> SourceText:
    known: SourceText | None = layer.__dict__.get("_text")
    if known is None:
        known = layer.__dict__["_text"] = _apply(layer)
    return known


def _apply(layer: Layer) -> SourceText:
    fixes = {key: decision.fix for key, decision in layer.decisions.items()}
    try:
        text = apply_fixes(layer.source, fixes.values())
        text.to_bytes()
        return text
    except DoesNotParse as error:
        for key, fix in fixes.items():
            reason = _flaw(layer.source, fix)
            if reason:
                raise Unusable(key, reason) from None
        raise Unusable(_last(layer), str(error), alone=False) from None
    except UnicodeEncodeError as error:
        raise Unusable(_last(layer), _no_character(layer.source, error)) from None


def _flaw(source: SourceText, fix: Fix) -> str:
    try:
        apply_fixes(source, [fix])
    except DoesNotParse as error:
        return str(error)
    return ""


def _last(layer: Layer) -> str:
    return list(layer.decisions)[-1]


def _no_character(source: SourceText, error: UnicodeEncodeError) -> str:
    return f"the file is written in {source.encoding}, which has no {error.object[error.start]!r}"
