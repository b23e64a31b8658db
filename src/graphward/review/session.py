"""A review that runs: the state, what it is saved to, what checks and writes it. Both fronts drive this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ..engine.workspace import Problem
from ..source.fixes import Fix
from ..source.paths import display
from ..source.text import NotText, SourceText
from ..source.writing import write_atomic
from . import actions as act
from .again import SavedFix, refound, saved_fix
from .checking import Checker, Unusable, final
from .items import itemize, numbered
from .journal import Entry, Journal
from .outcome import Written, patch, read, report, write_files
from .state import FileReview, Layer, Snapshot, State, first_place
from .status import Status
from .store import Memory, Saved, Store, digest, saved_of
from .update import update


@dataclass(frozen=True)
class Ways:
    """How the result leaves: `patch` is the file that is written instead of the sources, `report` one more."""

    patch: Path | None = None
    report: Path | None = None


@dataclass(frozen=True)
class Reread:
    """A file that was read again: its bytes, the review of it (None when it is gone, or no Python any more: `problem`
    says so), and how many decisions fit it no more. `before` is the review of it until then, None for a file that was
    away; `stamp` is not newer than the look."""

    before: FileReview | None
    stamp: tuple[int, int]
    data: bytes | None
    file: FileReview | None
    lost: int
    problem: Problem | None = None


class Review:
    """One run of `graphward review`. `store` None keeps nothing."""

    def __init__(self, checker: Checker, store: Store | None, ways: Ways):
        self.checker = checker
        self.store = store
        self.ways = ways
        self.state = State({})
        self.on_disk: dict[Path, bytes] = {}
        self.problems: list[Problem] = []
        self._stamps: dict[Path, tuple[int, int]] = {}
        # Files that are gone, or no Python any more, with what was decided on them: they may come back.
        self._away: dict[Path, Saved] = {}
        # Of files that were written: with which decisions, and the same as they are kept. After a killed terminal only
        # the second is known.
        self._held: dict[Path, FileReview] = {}
        self._inside: dict[Path, tuple[SavedFix, ...]] = {}
        self._patched: Mapping[Path, FileReview] | None = None  # as they are in the patch
        self._journal = Journal(checker.config.root)

    # Beginning

    def begin(self, found: Mapping[Path, tuple[SourceText, Sequence]], *, as_left: bool = False) -> None:
        """Take the findings on, with what an earlier review decided. The list begins with what is still open; `as_left`
        brings back the filter and the place instead."""
        memory = self.store.load() if self.store else None
        files: dict[Path, FileReview] = {}
        lost = 0
        beside = self._without_findings(found, memory) if memory else {}
        for path, (source, findings) in {**found, **beside}.items():
            saved = memory.files.get(str(path.absolute())) if memory else None
            data = source.to_bytes()
            before = self._before_write(path, data, saved) if saved else None
            if saved is not None and before is not None:
                source, findings = before
                self._inside[path] = saved.inside
            elif path in beside:
                continue
            file, missing = self._restored(path, source, findings, saved)
            files[path] = file
            lost += missing
            self.on_disk[path] = data
        if beside:
            files = {path: files[path] for path in sorted(files)}
        self.state = State(files)
        for file in files.values():
            file.top.snapshot.prepare()
        if self.store is not None:
            self.store.prepare(files.values())
        known = sum(len(f.decisions) + len(f.rejected & f.entries.keys()) for f in files.values())
        told = ""
        if known:
            told = f"{known} earlier {'decision holds' if known == 1 else 'decisions hold'}"
            told += f", {lost} fit nothing any more" if lost else ""
            new = sum(entry.item.new for entry in self.state.all_entries())
            told += f"; {new} new." if new else "."
        if self._inside:
            held = f"{len(self._inside)} written {'file holds' if len(self._inside) == 1 else 'files hold'}"
            told = f"{told} {held} fixes that were undone since: w takes them out.".lstrip()
        if self.store is not None and self.store.notice:
            told = f"{told} {self.store.notice.capitalize()}.".lstrip()
        if as_left and memory is not None:
            self.state = update(self.state, act.SetFilter(memory.filter))
            place = (Path(memory.at[0]), memory.at[1]) if memory.at else None
            here = next((p for p in self.state.rows if place and (p[0].absolute(), p[1]) == place), None)
            self.state = replace(self.state, selected=here)
        elif known:
            self.state = update(self.state, act.SetFilter("state:open"))
        if self.state.selected is None:
            self.state = replace(self.state, selected=first_place(self.state))
        self.state = replace(self.state, message=told)

    def _without_findings(
        self, found: Mapping[Path, tuple[SourceText, Sequence]], memory: Memory
    ) -> dict[Path, tuple[SourceText, Sequence]]:
        """Files in which nothing is found, since what was written of them holds fixes that were undone afterwards."""
        files: dict[Path, tuple[SourceText, Sequence]] = {}
        for path in self.checker.files:
            saved = memory.files.get(str(path.absolute())) if path not in found else None
            if saved is not None and saved.undone:
                with suppress(OSError, NotText):
                    files[path] = SourceText.from_bytes(path, path.read_bytes()), ()
        return files

    def _before_write(self, path: Path, data: bytes, saved: Saved) -> tuple[SourceText, Sequence] | None:
        """What was reviewed, with what is found in it, of a file whose written text `data` holds fixes that were undone
        afterwards: the decisions are on that text."""
        if not saved.written or digest(data) != saved.written or not saved.undone:
            return None
        before = self._journal.earlier(path, saved.base)
        if before is None:
            return None
        source = SourceText.from_bytes(path, before)
        return source, self.checker.found_in([source], self.state.files)[path]

    def _restored(
        self, path: Path, source: SourceText, findings: Sequence, saved: Saved | None
    ) -> tuple[FileReview, int]:
        """A file with the decisions of an earlier review, and how many of these fit nothing any more."""
        if saved is None:
            return FileReview(path, (Layer(Snapshot(source, itemize(path, source, findings))),)), 0
        # What was written is in the file, unless that has been taken back since.
        written = saved.inside if saved.written and digest(source.to_bytes()) != saved.base else ()
        inside = {fix.key for fix in written}
        known = sorted(saved.seen - inside, key=numbered)
        items = itemize(path, source, findings, known=known, seen=saved.seen)
        file = FileReview(path, (Layer(Snapshot(source, items)),), saved.rejected)
        left = ([fix for fix in layer if fix.key not in inside] for layer in saved.layers)
        lost = 0
        for number, fixes in enumerate(filter(None, left)):
            if number:
                if len(file.layers) < number or not file.decisions:
                    lost += len(fixes)
                    continue
                settled = self.checker.settle([file], self.state.files)[0]
                if not isinstance(settled, act.Checked):
                    lost += len(fixes)
                    continue
                base = Layer(settled.fresh)
            else:
                base = file.top
            decisions = refound(base, fixes)
            lost += len(fixes) - len(decisions)
            if decisions:
                kept = file.layers if number else ()
                file = replace(file, layers=(*kept, replace(base, decisions=decisions)))
        return file, lost

    # Going on

    def do(self, action: act.Action) -> State:
        """Take an action, and keep what it changed: when this returns, a killed program loses nothing of it."""
        before = self.state
        self.state = update(before, action)
        if self.store is not None and self.state.files is not before.files:
            changed = []
            for path, file in self.state.files.items():
                old = before.files.get(path)
                if old is not file and (old is None or old.layers is not file.layers or old.rejected != file.rejected):
                    changed.append((file, *self._written(path)))
            if changed:
                self.store.save(changed)
        return self.state

    def _written(self, path: Path) -> tuple[str, tuple[SavedFix, ...]]:
        """The digest of what was written of a file, and the decisions that are in it; nothing for an unwritten one."""
        inside = self._inside.get(path)
        return ("", ()) if inside is None else (digest(self.on_disk[path]), inside)

    def unsettled(self) -> list[FileReview]:
        """Files of which nobody knows what the accepted fixes have changed; the selected one first."""
        files = [f for f in self.state.files.values() if f.fresh is None and f.decisions]
        here = self.state.selected[0] if self.state.selected else None
        return sorted(files, key=lambda f: f.path != here)

    def settle(self) -> None:
        """Check all that is unsettled, now."""
        while waiting := self.unsettled():
            for action in self.checker.settle(waiting, self.state.files):
                self.do(action)

    # Files on disk

    def changed_on_disk(self) -> list[Path]:
        """Files that no longer hold what the review knows of, and those that were left alone and look different now."""
        changed = [path for path in self._away if _stamp(path) != self._stamps[path]]
        for path, data in self.on_disk.items():
            stamp = _stamp(path)
            if path in self.state.files and stamp != self._stamps.get(path):
                if read(path) != data:
                    changed.append(path)
                else:
                    self._stamps[path] = stamp
        return changed

    def look_again(self, path: Path) -> Reread:
        """A file as it now is on disk, with the decisions that still fit. Changes nothing: `take` does."""
        before, stamp, data = self.state.files.get(path), _stamp(path), read(path)
        try:
            if data is None:
                raise NotText("it cannot be read", 0)
            source = SourceText.from_bytes(path, data)
        except NotText as error:
            return Reread(before, stamp, data, None, 0, Problem(path, error.line, str(error)))
        findings = self.checker.found_in([source], self.state.files)[path]
        problem = self.checker.problem(path)
        if problem is not None:
            return Reread(before, stamp, data, None, 0, problem)
        saved = self._away[path] if before is None else saved_of(before, *self._written(path))
        file, lost = self._restored(path, source, findings, saved)
        return Reread(before, stamp, data, file, lost)

    def take(self, path: Path, seen: Reread) -> None:
        """Go on with what `look_again` saw. Nothing is done when the user has decided something on the file meanwhile:
        it is still one of those that have changed."""
        name, before = display(path), self.state.files.get(path)
        if before is not None and (seen.before is None or not _same_decisions(before, seen.before)):
            return
        if seen.file is None or seen.data is None:
            if before is not None:
                self._away[path] = saved_of(before, *self._written(path))
            self._stamps[path] = seen.stamp
            if seen.problem is not None:
                self.problems.append(seen.problem)
                self.do(act.Reloaded((path, ""), None, f"{name} is left alone: {seen.problem.message}."))
            self.on_disk.pop(path, None)
            return
        told = f"{name} has changed on disk and was read again"
        kept = len(seen.file.decisions)
        if kept or seen.lost:
            told += f": {kept} accepted {'fix still fits' if kept == 1 else 'fixes still fit'}"
            told += f", {seen.lost} no longer {'does' if seen.lost == 1 else 'do'}" if seen.lost else ""
        self.on_disk[path] = seen.data
        for known in (self._held, self._inside, self._away):
            known.pop(path, None)
        self.do(act.Reloaded((path, ""), seen.file, f"{told}."))

    # The end

    def begin_write(self) -> Entry:
        """What the next write is noted in."""
        return self._journal.begin()

    def unwritten(self) -> list[FileReview]:
        """Files whose decisions make something else of them than is on disk, or in the patch once that is written."""
        if self._patched is not None:
            held_in = self._patched
            return [f for p, f in self.state.files.items() if p not in held_in or _fixes(held_in[p]) != _fixes(f)]
        found = []
        for path, file in self.state.files.items():
            held = self._held.get(path)
            # To apply all decisions only to know would take too long for a key press.
            if held is None:
                changed = bool(file.decisions) or path in self._inside
            else:
                changed = held.layers is not file.layers and _fixes(held) != _fixes(file)
            if changed:
                found.append(file)
        return found

    def to_write(self, files: Sequence[FileReview]) -> tuple[int, int]:
        """How many decisions on files are not in what is on disk, and how many are there that hold no more."""
        accepted = undone = 0
        for file in files:
            inside = set(self._inside.get(file.path, ()))
            wanted = {saved_fix(decision) for _, decision in file.decisions.values()}
            accepted += len(wanted - inside)
            undone += len(inside - wanted)
        return accepted, undone

    def write(self, files: Sequence[FileReview], entry: Entry) -> Written:
        """Write files, or the patch of all that is accepted. Raises GraphwardError for the patch and the journal."""
        done = self.write_out(files, entry)
        self.wrote(files, done)
        return done

    def write_out(self, files: Sequence[FileReview], entry: Entry) -> Written:
        """The part of `write` that takes long, and may be left to another thread: `wrote` has to follow."""
        if self.ways.patch is not None:
            files_now = self.state.files
            text = patch(files_now.values(), self.on_disk, self.checker.config.root, self.checker.between)
            write_atomic(self.ways.patch, text.encode(errors="surrogateescape"))
            self._patched = files_now
            return Written()
        return write_files(files, dict(self.on_disk), entry, self.checker.between)

    def wrote(self, files: Sequence[FileReview], done: Written) -> None:
        """Go on with what `write_out` has written of `files`."""
        self.on_disk.update(done.files)
        kept = []
        for file in files:
            path = file.path
            if path in done.changed or not _makes(file, self.on_disk[path]):
                continue
            if not file.decisions:
                self._held.pop(path, None)
                self._inside.pop(path, None)
            else:
                self._held[path] = file
                self._inside[path] = tuple(saved_fix(decision) for _, decision in file.decisions.values())
            if path in self.state.files:
                kept.append((self.state.files[path], *self._written(path)))
        if self.store is not None and kept:
            self.store.save(kept)

    def end(self) -> None:
        """Keep the place, and write the report that was asked for. Raises GraphwardError when it cannot be."""
        if self.store is not None:
            self.store.save_place(self.state.selected, str(self.state.filter))
        if self.ways.report is not None:
            as_json = self.ways.report.suffix == ".json"
            write_atomic(self.ways.report, report(self.state, as_json).encode(errors="surrogateescape"))

    def left(self) -> int:
        """How many findings would still be found."""
        gone = (Status.ACCEPTED, Status.SUPPRESSED, Status.UNNECESSARY)
        return sum(count for status, count in self.state.counts.items() if status not in gone)


def _stamp(path: Path) -> tuple[int, int]:
    """What changes when somebody writes a file."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _fixes(file: FileReview) -> dict[str, Fix]:
    return {key: decision.fix for key, (_, decision) in file.decisions.items()}


def _same_decisions(file: FileReview, other: FileReview) -> bool:
    return file.layers is other.layers and file.rejected == other.rejected


def _makes(file: FileReview, data: bytes) -> bool:
    """Whether the decisions make `data` of a file."""
    try:
        return final(file).to_bytes() == data
    except Unusable:
        return False
