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
from .state import Decision, FileReview, Place, Proof, State

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

    def prove(self, state: State, places: Sequence[Place], progress: Progress) -> act.Proven:
        """Prove the regions that run through findings. A finding that is open counts as if its shown fix were accepted.

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
            return self._prove(self._session, state, places, progress)
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

    def _prove(self, session: Session, state: State, places: Sequence[Place], progress: Progress) -> act.Proven:
        files = {path: _with_shown(state, file, places) for path, file in state.files.items()}
        found: dict[Place, Verdict] = {}
        wanted: dict[int, tuple[list[Path], list[Place]]] = {}
        for place in places:
            together = self._checker.together(place[0])
            wanted.setdefault(id(together), (together, []))[1].append(place)
        verdicts: list[Verdict] = []
        for together, asked in wanted.values():
            verdicts += self._prove_together(session, together, files, asked, progress, found)
        proofs = {}
        for (path, key), verdict in found.items():
            fixes = frozenset((k, decision.fix) for k, (_, decision) in files[path].decisions.items())
            proofs[path, key] = Proof(verdict, fixes)
        return act.Proven(proofs, _summary(verdicts))

    def _prove_together(
        self, session: Session, together: Sequence[Path], files: Mapping[Path, FileReview], asked: Sequence[Place],
        progress: Progress, found: dict[Place, Verdict],
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
                new = {t.name: t for w in dict.fromkeys(open_places) for t in coverage.covering(w, limit=limit)
                       if t.name not in verdicts}  # fmt: skip
                jobs = [self._job(originals, t, texts, trees, files) for t in new.values()]
                if self._stopped:  # before there was anything to stop
                    raise Stopped
                for verdict in session.verdicts(jobs, progress):
                    verdicts[verdict.id] = verdict
                targets.update(new)
        for place, function in where.items():
            through = [verdicts[n] for n, t in targets.items() if function in t.places]
            if through:
                verdict = next((v for v in through if v.verdict not in UNDECIDED), through[0])
                found[place] = verdict
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


def _with_shown(state: State, file: FileReview, places: Sequence[Place]) -> FileReview:
    """The file as if the fixes that are shown for open findings among `places` were accepted."""
    for path, key in places:
        entry = file.entries.get(key) if path == file.path else None
        fix = state.shown(entry) if entry is not None else None
        if entry is None or fix is None or entry.decision is not None:
            continue
        if file.top.source is entry.item.source and file.top.taken.in_the_way(fix) is None:
            top = replace(file.top, decisions={**file.top.decisions, key: Decision(entry.item, fix, 0)})
            file = replace(file, layers=(*file.layers[:-1], top), fresh=None)
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
    good = sum(v.verified for v in verdicts)
    if len(verdicts) == 1:
        verdict = verdicts[0]
        return f"{verdict.inputs.target}: {verdict.verdict}" + ("" if verdict.verified else f": {verdict.message}")
    return f"{good} of {len(verdicts)} targets verified."
