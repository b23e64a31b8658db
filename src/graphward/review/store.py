"""Decisions on disk: each is appended to a log as it is taken, so that a killed terminal loses none.

A line holds all that is decided on one file; the last line on a file counts. What one key press decides, on however
many files, is appended in one write, which has come back before the key is answered. The log of a project stands in the
user's state folder. When it is read it is written anew without what later lines replace; half a line at its end, which
a machine that stopped or a full disk has left, is left out, and `notice` says so. As long as another review of the
project is open, which `notice` says too, both append to it, and it is not written anew.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from platformdirs import user_state_path

from ..errors import GraphwardError
from ..source.text import SourceText
from ..source.writing import write_atomic
from .again import SavedFix, saved_fix
from .state import BY_HAND, Decision, FileReview, Place, Snapshot

_FORMAT = 1
_ANOTHER = "another review of this project is open: of a file that both decide on, the last decision counts"
_encode = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True)
class Saved:
    """What is known of one file: the digests of what was reviewed and of what was written, the keys of all findings
    that were met, those that were rejected, and the accepted ones, layer by layer. `inside` are those that are in what
    was written: others than are accepted when some were undone since."""

    base: str
    written: str
    seen: frozenset[str]
    rejected: frozenset[str]
    layers: tuple[tuple[SavedFix, ...], ...]
    inside: tuple[SavedFix, ...] = ()

    @property
    def undone(self) -> bool:
        """Whether what was written holds a fix that is accepted no more."""
        return not set(self.inside) <= {fix for layer in self.layers for fix in layer}


def folder_of(root: Path) -> Path:
    """Where the reviews of a project are kept."""
    name = blake2b(os.fsencode(root.resolve()), digest_size=8).hexdigest()
    return user_state_path("graphward", appauthor=False) / "review" / f"{root.resolve().name or 'root'}-{name}"


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


@dataclass
class Memory:
    """What an earlier review left: files by absolute path, and where it stood."""

    files: dict[str, Saved] = field(default_factory=dict)
    at: tuple[str, str] | None = None
    filter: str = ""


class Store:
    """The log of one project. A full disk is no reason to stop: `problem` then says what went wrong. `notice` says what
    could not be read."""

    def __init__(self, root: Path):
        self._path = folder_of(root) / "decisions.jsonl"
        self.problem = ""
        self.notice = ""
        self._torn = False
        self._claim: IO[bytes] | None = None
        self._heads: dict[Path, tuple[SourceText, str]] = {}

    @property
    def exists(self) -> bool:
        return self._path.is_file()

    def load(self) -> Memory:
        """What was kept, as far as it can be read."""
        memory = Memory()
        alone = self._claimed()
        self.notice = "" if alone else _ANOTHER
        kept: dict[str, dict[str, Any]] = {}
        try:
            *lines, rest = self._path.read_bytes().split(b"\n")
        except OSError:
            return memory
        unread = bool(rest)  # it would be the beginning of what is appended next
        for line in lines:
            try:
                data = json.loads(line.decode(errors="surrogateescape"))
                if data["format"] != _FORMAT:
                    raise ValueError
                if "file" in data:
                    memory.files[data["file"]] = _saved(data)
                    kept[data["file"]] = data
                else:
                    memory.at = tuple(data["at"]) if data["at"] else None
                    memory.filter = str(data["filter"])
                    kept[""] = data
            except (ValueError, KeyError, TypeError, AttributeError, IndexError):
                unread = unread or bool(line)
        if unread:
            said = "a line of the kept decisions was cut short and is left out; all others are there"
            self.notice = f"{self.notice}; {said}" if self.notice else said
        if alone:  # what another one appends meanwhile would be lost
            self._rewrite(kept.values())
        return memory

    def _claimed(self) -> bool:
        """Whether no other program has begun a review of this project that is still open."""
        if sys.platform == "win32":
            return True
        import fcntl

        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._claim = open(self._path.with_suffix(".lock"), "ab")  # noqa: SIM115 - as long as the program runs
        except OSError:
            return True  # nothing can be kept at all, and that is said when something is to be
        try:
            fcntl.lockf(self._claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return error.errno not in (errno.EACCES, errno.EAGAIN)  # a file system without locks is no other review
        return True

    def forget(self) -> None:
        """Begin anew."""
        self._path.unlink(missing_ok=True)

    def prepare(self, files: Iterable[FileReview]) -> None:
        """Put together what the lines on these files will hold: the first key need not wait for it."""
        for file in files:
            self._known(file)
            for decision in file.top.snapshot.preferred.values():
                _row(decision)

    def save(self, files: Iterable[tuple[FileReview, str, tuple[SavedFix, ...]]]) -> None:
        """Keep all that is decided on files, each with the digest of what was written of it, empty for nothing, and the
        decisions that are in it."""
        self._append([self._line(*each) for each in files])

    def save_place(self, at: Place | None, chosen: str) -> None:
        """Keep where the review stands."""
        place = [str(at[0].absolute()), at[1]] if at else None
        self._append([_encode({"format": _FORMAT, "at": place, "filter": chosen})])

    def _line(self, file: FileReview, written: str, inside: tuple[SavedFix, ...]) -> str:
        """One line, put together from parts that stay as they are: thousands of decisions are kept for one key."""
        head, met = self._known(file)
        rejected = _encode(sorted(file.rejected)) if file.rejected else "[]"
        layers = ", ".join(f"[{', '.join(map(_row, layer.decisions.values()))}]" for layer in file.layers)
        there = f'"written": "{written}", "inside": {_encode(list(map(_cells, inside)))}'
        return f'{{"format": {_FORMAT}, {head}, {there}, "seen": {met}, "rejected": {rejected}, "layers": [{layers}]}}'

    def _known(self, file: FileReview) -> tuple[str, str]:
        """The file and its digest, and the keys that were met, as they stand in the log."""
        head = self._heads.get(file.path)
        if head is None or head[0] is not file.original:
            named = _encode({"file": str(file.path.absolute()), "base": digest(file.original.to_bytes())})
            head = self._heads[file.path] = file.original, named[1:-1]
        return head[1], _met_text(_snapshots(file))

    def _append(self, lines: Sequence[str]) -> None:
        """All lines in one write: when it has come back they outlive the program."""
        data = ("\n" * self._torn + "".join(f"{line}\n" for line in lines)).encode(errors="surrogateescape")
        try:
            if not self._path.parent.is_dir():
                self._path.parent.mkdir(parents=True, exist_ok=True)
            with open(self._path, "ab", buffering=0) as log:
                left = memoryview(data)
                while left:
                    self._torn = True
                    left = left[log.write(left) or 0 :]
                self._torn = False
        except OSError as error:
            self.problem = f"decisions cannot be kept in {self._path}: {error.strerror}"

    def _rewrite(self, lines: Iterable[dict[str, Any]]) -> None:
        text = "".join(f"{_encode(data)}\n" for data in lines)
        try:
            write_atomic(self._path, text.encode(errors="surrogateescape"))
        except GraphwardError as error:
            self.problem = str(error)


def _snapshots(file: FileReview) -> tuple[Snapshot, ...]:
    snapshots = tuple(layer.snapshot for layer in file.layers)
    return snapshots if file.fresh is None else (*snapshots, file.fresh)


def _met(snapshots: Iterable[Snapshot]) -> set[str]:
    return {item.key for snapshot in snapshots for item in snapshot.items}


def _met_text(snapshots: tuple[Snapshot, ...]) -> str:
    """The keys that were met, as they stand in the log; the last snapshot remembers them."""
    *before, last = snapshots
    known: tuple[list[int], str] | None = last.__dict__.get("_met")
    if known is None or known[0] != list(map(id, before)):
        known = last.__dict__["_met"] = list(map(id, before)), _encode(sorted(_met(snapshots)))
    return known[1]


def saved_of(file: FileReview, written: str, inside: tuple[SavedFix, ...]) -> Saved:
    """What is kept of a file."""
    layers = tuple(tuple(saved_fix(decision) for decision in layer.decisions.values()) for layer in file.layers)
    met = frozenset(_met(_snapshots(file)))
    return Saved(digest(file.original.to_bytes()), written, met, file.rejected, layers, inside)


def _row(decision: Decision) -> str:
    """A decision as it stands in the log: the fields of SavedFix, those of a text by hand only for one; remembered."""
    known: str | None = decision.__dict__.get("_row")
    if known is None:
        known = decision.__dict__["_row"] = _encode(_cells(saved_fix(decision)))
    return known


def _cells(saved: SavedFix) -> list[Any]:
    return list(vars(saved).values()) if saved.choice == BY_HAND else [saved.key, saved.choice, saved.title]


def _saved(data: dict[str, Any]) -> Saved:
    layers = tuple(tuple(_saved_fix(row) for row in layer) for layer in data["layers"])
    inside = tuple(map(_saved_fix, data["inside"]))
    seen, rejected = frozenset(data["seen"]), frozenset(data["rejected"])
    return Saved(data["base"], data["written"], seen, rejected, layers, inside)


def _saved_fix(row: Any) -> SavedFix:
    saved = SavedFix(*row)
    return replace(saved, imports=tuple((module, name, alias) for module, name, alias in saved.imports))
