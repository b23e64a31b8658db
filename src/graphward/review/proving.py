"""Proofs on request: the regions that run through findings, as the decisions, and what is shown, would leave them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..engine.check import analyse
from ..engine.workspace import Workspace
from ..errors import GraphwardError
from ..migrate.coverage import Coverage, ProofTarget, place_at
from ..migrate.run import UNDECIDED
from ..migrate.trees import Trees
from ..source.discovery import no_module
from ..source.text import NOTEBOOK, SourceText
from ..verify.jobs import Job, Options
from ..verify.recordings import recorded_inputs
from ..verify.session import Session
from ..verify.verdicts import Verdict
from ..verify.worker import WorkerDied
from . import actions as act
from .checking import Unusable, applied
from .session import Review
from .state import FileReview, Place, Proof, State
from .status import Status
from .update import decide

Progress = Callable[[int, int, str], None]
"""Called with how many proofs are done, how many there are, and the target."""

# How many regions around a function are tried when its own cannot be run.
_PARENTS = 4


class Stopped(Exception):
    """The proof was stopped."""


class Prover:
    """Keeps the worker alive between proofs: it imports MindSpore once. One thread proves, any may stop it."""

    def __init__(self, review: Review):
        self._checker = review.checker
        self._on_disk = review.on_disk
        self._session: Session | None = None
        self._stopped = False

    def close(self) -> None:
        """End the worker."""
        if self._session is not None:
            self._session.__exit__(None, None, None)
            self._session = None

    def stop(self) -> None:
        """Stop a proof that is under way."""
        self._stopped = True
        if self._session is not None:
            self._session.stop()

    def prove(self, state: State, places: Sequence[Place], progress: Progress, *, widely: bool = False) -> act.Proven:
        """Prove the smallest region that runs through each finding, `widely` also all others that inputs are declared
        for. A finding that is open counts as if its shown fix were accepted.

        Raises GraphwardError when nothing can be proven at all, Stopped.
        """
        self._stopped = False
        provable = [place for place in places if place[0].suffix != NOTEBOOK]
        if places and not provable:
            raise no_module(places[0][0])
        places = provable
        if self._session is None:
            config = self._checker.config
            self._session = Session(python=config.python or None, slots=config.verify.jobs)
            self._session.__enter__()
        try:
            return self._prove(self._session, state, places, progress, widely)
        except WorkerDied:
            self._session = None
            if self._stopped:
                raise Stopped from None
            raise GraphwardError("the proof's worker process died", hint="try again; it is started anew") from None
        except GraphwardError:
            self.close()
            raise
        except Stopped:
            self._session = None
            raise

    def _prove(
        self, session: Session, state: State, places: Sequence[Place], progress: Progress, widely: bool
    ) -> act.Proven:
        files = {path: _with_shown(state, file, places) for path, file in state.files.items()}
        found: dict[Place, Verdict] = {}
        wanted: dict[int, tuple[list[Path], list[Place]]] = {}
        for place in places:
            together = self._checker.together(place[0])
            wanted.setdefault(id(together), (together, []))[1].append(place)
        verdicts: list[Verdict] = []
        for together, asked in wanted.values():
            verdicts += self._prove_together(session, together, files, asked, progress, found, widely)
        proofs = {}
        for (path, key), verdict in found.items():
            fixes = frozenset((k, decision.fix) for k, (_, decision) in files[path].decisions.items())
            proofs[path, key] = Proof(verdict, fixes)
        return act.Proven(proofs, _summary(verdicts if widely else list(found.values())))

    def _prove_together(
        self, session: Session, together: Sequence[Path], files: Mapping[Path, FileReview], asked: Sequence[Place],
        progress: Progress, found: dict[Place, Verdict], widely: bool,
    ) -> list[Verdict]:  # fmt: skip
        """Prove what stands in files that are checked together; adds to `found`."""
        together = [path for path in together if path.suffix != NOTEBOOK]
        originals = Workspace(together, {path: file.original for path, file in files.items()})
        coverage = Coverage(originals, analyse(originals), self._checker.config)
        texts = {f.path.resolve(): applied(f) for f in files.values() if f.decisions and _usable(f)}
        where = {p: _function_of(files[p[0]], p[1]) for p in asked}
        verdicts: dict[str, Verdict] = {}
        targets: dict[str, ProofTarget] = {}
        with Trees() as trees:
            for limit in (1, _PARENTS):
                open_places = [w for p, w in where.items() if not _decided(w, targets, verdicts)]
                new: dict[str, ProofTarget] = {}
                for function in dict.fromkeys(open_places):
                    through = sorted(coverage.covering(function, limit=limit), key=_order)
                    new.update((t.name, t) for t in through[: None if widely else limit] if t.name not in verdicts)
                jobs = [self._job(originals, t, texts, trees, files) for t in new.values()]
                if self._stopped:  # before there was anything to stop
                    raise Stopped
                for verdict in session.verdicts(jobs, progress):
                    verdicts[verdict.id] = verdict
                targets.update(new)
        for place, function in where.items():
            through = sorted((t for t in targets.values() if function in t.places), key=_order)
            if through:
                judged = [verdicts[t.name] for t in through]
                found[place] = next((v for v in judged if v.verdict not in UNDECIDED), judged[0])
        return list(verdicts.values())

    def _job(
        self, workspace: Workspace, target: ProofTarget, texts: Mapping[Path, SourceText], trees: Trees,
        files: Mapping[Path, FileReview],
    ) -> Job:  # fmt: skip
        restored = any(
            d.fix.restores_gradient and place_at(d.item.source, d.item.finding.span.start) in target.places
            for file in files.values()
            for _, d in file.decisions.values()
        )
        options = Options.of(self._checker.config.verify, gradients="restored" if restored else "same")
        recorded = recorded_inputs(workspace.recordings, target.target) if target.inputs is None else None
        tree = trees.overlay(target.target.tree, texts) if texts else None
        job = Job.of(target.target, id=target.name, rewritten=tree, inputs=target.inputs, options=options,
                     recorded=recorded)  # fmt: skip
        written = {
            path.resolve(): file.original for path, file in files.items()
            if self._on_disk.get(path) != file.original.to_bytes()
        }  # fmt: skip
        return replace(job, original=trees.overlay(target.target.tree, written)) if written else job


def _order(target: ProofTarget) -> tuple[bool, int]:
    """Targets whose inputs are declared come first, small ones before those that run through more."""
    return target.inputs is None, len(target.places)


def _with_shown(state: State, file: FileReview, places: Sequence[Place]) -> FileReview:
    """The file as if the fixes that are shown for open findings among `places` were accepted."""
    for path, key in places:
        entry = file.entries.get(key) if path == file.path else None
        fix = state.shown(entry) if entry is not None else None
        if entry is None or fix is None or entry.status is not Status.OPEN:
            continue
        after = decide(file, entry, fix, entry.item.fixes.index(fix))
        if isinstance(after, FileReview):
            file = after
    return file


def _usable(file: FileReview) -> bool:
    try:
        applied(file)
    except Unusable:
        return False
    return True


def _function_of(file: FileReview, key: str) -> tuple[Path, str]:
    item = file.entries[key].item
    return place_at(item.source, item.finding.span.start)


def _decided(function: tuple[Path, str], targets: Mapping[str, ProofTarget], verdicts: Mapping[str, Verdict]) -> bool:
    return any(function in t.places and verdicts[n].verdict not in UNDECIDED for n, t in targets.items())


def _summary(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return "No Cell or jit function that can be called runs through it."
    if len(verdicts) == 1:
        return _told(verdicts[0])
    good = sum(v.verified for v in verdicts)
    bad = next((f"; {_told(v)}" for v in verdicts if not v.verified), "")
    return f"{good} of {len(verdicts)} targets verified{bad}"


def _told(verdict: Verdict) -> str:
    return f"{verdict.inputs.target}: {verdict.verdict}" + ("" if verdict.verified else f": {verdict.message}")
