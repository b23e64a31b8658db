"""Check, fix, prove, bisect: what is left is what the proof accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..config import Config
from ..engine.check import CheckResult, analyse, check
from ..engine.fixpoint import FixResult, fix
from ..engine.workspace import Workspace
from ..rules.rule import Rule
from ..source.fixes import Applicability
from ..source.text import SourceText
from ..verify.bisect import bisect
from ..verify.jobs import Job, Options
from ..verify.session import Progress, Session
from ..verify.verdicts import Verdict
from .candidates import Candidate, Candidates
from .coverage import Coverage, Place, ProofTarget, place_at
from .trees import Trees

# Verdicts that say nothing about the rewrite.
UNDECIDED = frozenset({"no-inputs", "original-broken", "no-kernel"})
# How many regions around a function are tried when its own cannot be run.
_PARENTS = 4

Renderer = Callable[[Mapping[str, int]], FixResult]


@dataclass
class Migration:
    """`fixed`: the kept fixes applied; `first`: what was found; `verdicts` in order of the targets; `kept`,
    `turned_away` (with the reason) and `unproven` candidates by id."""

    fixed: FixResult
    first: CheckResult
    verdicts: list[Verdict]
    kept: dict[str, Candidate] = field(default_factory=dict)
    turned_away: dict[str, str] = field(default_factory=dict)
    unproven: dict[str, str] = field(default_factory=dict)


def migrate(
    workspace: Workspace, rules: Sequence[Rule], config: Config, *, limit: Applicability = Applicability.UNSAFE,
    only: Sequence[Path] | None = None, progress: Progress | None = None,
) -> Migration:  # fmt: skip
    """Fix what the rules find in the workspace (or in `only`), keep what the compiler proves. Nothing is written.

    Raises GraphwardError when there is no usable MindSpore.
    """
    first = check(workspace, rules, config, only=only)
    candidates = Candidates(first, limit)
    if not candidates.all:
        return Migration(FixResult({}, first, first, []), first, [])
    files = list({place[0] for c in candidates.all.values() for place in c.places} | {p for p in first.files})
    coverage = Coverage(workspace, analyse(workspace), config)
    with Trees() as trees, Session(python=config.python or None, timeout=config.verify.timeout, slots=config.verify.jobs) as session:
        prover = _Prover(workspace, rules, config, candidates, coverage, files, trees, session, progress)
        return prover.run(first)


class _Prover:
    def __init__(
        self, workspace: Workspace, rules: Sequence[Rule], config: Config, candidates: Candidates, coverage: Coverage,
        files: Sequence[Path], trees: Trees, session: Session, progress: Progress | None,
    ):  # fmt: skip
        self.workspace, self.rules, self.config = workspace, rules, config
        self.candidates, self.coverage, self.files = candidates, coverage, files
        self.trees, self.session, self.progress = trees, session, progress
        self.choice: dict[str, int] = dict.fromkeys(candidates.all, 0)
        self.verdicts: dict[str, Verdict] = {}
        self.targets: dict[str, ProofTarget] = {}
        self.turned_away: dict[str, str] = {}
        self._rendered: dict[tuple[tuple[str, int], ...], FixResult] = {}

    def run(self, first: CheckResult) -> Migration:
        self._first_round()
        for name in [n for n, v in self.verdicts.items() if not v.verified and v.verdict not in UNDECIDED]:
            self._bisect(self.targets[name])
        unproven = self._unproven()
        for name in unproven:
            self.choice.pop(name, None)
        self._confirm()
        kept = {name: self.candidates.all[name] for name in self.choice}
        return Migration(self._render(self.choice), first, list(self.verdicts.values()), kept, self.turned_away, unproven)

    def _first_round(self) -> None:
        """Prove everything together; where a function's own region cannot be run, the regions around it."""
        self._prove(self._targets(limit=1))
        open_places = {p for name in self._unproven() for p in self.candidates.all[name].places}
        if open_places:
            self._prove(self._targets(limit=_PARENTS, places=open_places))

    def _targets(self, *, limit: int, places: set[Place] | None = None) -> list[ProofTarget]:
        wanted = places or {p for c in self.candidates.all.values() for p in c.places}
        found = {t.name: t for p in sorted(wanted, key=str) for t in self.coverage.covering(p, limit=limit)}
        return [t for name, t in found.items() if name not in self.verdicts]

    def _prove(self, targets: Sequence[ProofTarget]) -> None:
        if not targets:
            return
        rendered = self._render(self.choice)
        jobs = [self._job(target, rendered) for target in targets]
        for target, verdict in zip(targets, self.session.prove(jobs, self.progress), strict=True):
            self.targets[target.name] = target
            self.verdicts[target.name] = verdict

    def _job(self, target: ProofTarget, rendered: FixResult) -> Job:
        texts = {path.resolve(): change.after for path, change in rendered.changes.items()}
        restored = any(
            applied.fix.restores_gradient and place_at(applied.source, applied.finding.span.start) in target.places
            for change in rendered.changes.values()
            for applied in change.applied
        )
        options = Options(gradients="restored" if restored else "same", timeout=self.config.verify.timeout)
        tree = self.trees.overlay(target.target.tree, texts)
        return Job.of(target.target, id=target.name, rewritten=tree, inputs=target.inputs, options=options)

    def _render(self, choice: Mapping[str, int]) -> FixResult:
        key = tuple(sorted(choice.items()))
        if key not in self._rendered:
            places = {p for name in choice for p in self.candidates.all[name].places}
            choose = self.candidates.chooser(choice, places)
            self._rendered[key] = fix(self.workspace.fork(), self.rules, self.config, choose, only=self.files)
        return self._rendered[key]

    def _bisect(self, target: ProofTarget) -> None:
        mine = {n: c for n, c in self.candidates.all.items() if n in self.choice and c.places & target.places}
        others = {n: a for n, a in self.choice.items() if n not in mine}

        def render(choice: Mapping[str, int]) -> FixResult | None:
            return self._render({**others, **choice})

        def prove(rendered: FixResult) -> Verdict:
            return self.session.prove([self._job(target, rendered)], self.progress)[0]

        outcome = bisect({name: len(c.alternatives) for name, c in mine.items()}, render, prove)
        verdict = outcome.verdict
        if verdict is None or not verdict.verified:
            # No subset makes the region compile whole: nothing of it is proven, so nothing of it stays.
            verdict = self.verdicts[target.name]
            for name in mine:
                self.choice.pop(name, None)
                self.turned_away[name] = f"{target.name}: {verdict.verdict}: {verdict.message}"
        else:
            for name in mine:
                self.choice.pop(name, None)
            self.choice.update(outcome.kept)
            for culprit in outcome.culprits:
                if culprit.alternative is None:
                    reason = f"{target.name}: {culprit.verdict.verdict}: {culprit.verdict.message}"
                    self.turned_away[culprit.fix] = reason
        culprits = tuple(f"{c.fix} {mine[c.fix].alternatives[0].title}: {c.verdict.verdict}: {c.verdict.message}" for c in outcome.culprits)
        self.verdicts[target.name] = replace(verdict, culprits=culprits)

    def _unproven(self) -> dict[str, str]:
        """Candidates in the running that no verified target exercises, with the reason."""
        found = {}
        for name in self.choice:
            candidate = self.candidates.all[name]
            covering = [n for n, t in self.targets.items() if candidate.places & t.places]
            if not any(self.verdicts[n].verified for n in covering):
                reasons = [f"{n}: {self.verdicts[n].verdict}: {self.verdicts[n].message}" for n in covering]
                found[name] = reasons[0] if reasons else "no Cell or jit function that can be called runs through it"
        return found

    def _confirm(self) -> None:
        """What was proven with fixes that have gone since is proven again without them."""
        everything = dict.fromkeys(self.candidates.all, 0)
        if self.choice == everything:
            return
        while True:
            rendered = self._render(self.choice)
            names = [n for n, v in self.verdicts.items() if v.verified]
            jobs = [self._job(self.targets[n], rendered) for n in names]
            again = dict(zip(names, self.session.prove(jobs, self.progress), strict=True))
            broken = [n for n, v in again.items() if not v.verified]
            for name, verdict in again.items():
                self.verdicts[name] = replace(verdict, culprits=self.verdicts[name].culprits)
            if not broken:
                return
            for n in broken:
                for name, candidate in self.candidates.all.items():
                    if name in self.choice and candidate.places & self.targets[n].places:
                        del self.choice[name]
                        self.turned_away[name] = f"{n}: {again[n].verdict}: {again[n].message}"


def texts_of(migration: Migration) -> list[tuple[Path, SourceText, SourceText]]:
    """`(path, before, after)` of each changed file."""
    return [(path, change.before, change.after) for path, change in migration.fixed.changes.items()]
