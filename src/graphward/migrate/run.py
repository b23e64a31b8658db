"""Check, fix, prove, bisect: what is left is what the proof accepts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..config import Config
from ..engine.check import CheckResult, FileFindings, analyse, check
from ..engine.fixpoint import FixResult, fix
from ..engine.workspace import Workspace
from ..rules.rule import Rule
from ..source.fixes import Applicability
from ..source.text import SourceText
from ..verify.bisect import Culprit, bisect
from ..verify.jobs import Job, Options
from ..verify.recordings import recorded_inputs
from ..verify.session import Progress, Proofs, proofs
from ..verify.verdicts import Verdict
from .candidates import Candidate, Candidates
from .coverage import Coverage, Place, ProofTarget, place_at
from .repair import MAX_ROUNDS, brings_more, suspects
from .trees import Trees

# Verdicts that say nothing about the rewrite.
UNDECIDED = frozenset({"no-inputs", "original-broken", "no-kernel"})
# How many regions around a function are tried when its own cannot be run.
_PARENTS = 4
# How many proofs one bisection may take.
_MAX_PROOFS = 32


class Interrupted(Exception):
    """Ctrl-C during the proof; `verdicts` are the last ones of the targets that had any by then."""

    def __init__(self, verdicts: list[Verdict]):
        super().__init__("interrupted")
        self.verdicts = verdicts


@dataclass
class Migration:
    """`fixed`: the kept fixes applied; `first`: what was found; `verdicts` in order of the targets; `kept`,
    `turned_away` (with the reason) and `unproven` candidates by id; `targets` by the ids of their verdicts."""

    fixed: FixResult
    first: CheckResult
    verdicts: list[Verdict]
    kept: dict[str, Candidate] = field(default_factory=dict)
    turned_away: dict[str, str] = field(default_factory=dict)
    unproven: dict[str, str] = field(default_factory=dict)
    targets: dict[str, ProofTarget] = field(default_factory=dict)


def migrate(
    workspace: Workspace, rules: Sequence[Rule], config: Config, *, limit: Applicability = Applicability.UNSAFE,
    only: Sequence[Path] | None = None, progress: Progress | None = None, session: Proofs | None = None,
) -> Migration:  # fmt: skip
    """Fix what the rules find in the workspace (or in `only`), keep what the compiler proves. Nothing is written.
    `session` makes the proofs where there is one that runs already.

    Raises GraphwardError when there is no usable MindSpore, Interrupted on Ctrl-C.
    """
    if session is not None:
        return _migrate(workspace, rules, config, limit, only, session, progress)
    # Entered before the check: MindSpore is imported meanwhile.
    with proofs(config.verify, config.python or None) as own:
        return _migrate(workspace, rules, config, limit, only, own, progress)


def _migrate(
    workspace: Workspace, rules: Sequence[Rule], config: Config, limit: Applicability, only: Sequence[Path] | None,
    session: Proofs, progress: Progress | None,
) -> Migration:  # fmt: skip
    """Rounds of check, fix and proof: each takes what the compiler said of the one before into account."""
    done = _round(workspace, rules, config, limit, only, session, progress)
    for _ in range(MAX_ROUNDS - 1):
        rewritten = {path: change.after for path, change in done.fixed.changes.items()}
        told = dict.fromkeys(suspects(workspace, done.verdicts, done.targets, rewritten))
        new = tuple(s for s in told if s not in workspace.suspects)
        if not new:
            break
        workspace.suspects += new
        if not brings_more(workspace, rules, config, done.first):
            break
        done = _round(workspace, rules, config, limit, only, session, progress)
    return done


def _round(
    workspace: Workspace, rules: Sequence[Rule], config: Config, limit: Applicability, only: Sequence[Path] | None,
    session: Proofs, progress: Progress | None,
) -> Migration:  # fmt: skip
    analysis = analyse(workspace)
    first = check(workspace, rules, config, only=only, analysis=analysis)
    candidates = Candidates(first, limit)
    declared_only = config.verify.declared_only
    if not candidates.all and not config.verify.targets:
        return Migration(FixResult({}, first, first, []), first, [])
    files = list({place[0] for c in candidates.all.values() for place in c.places} | set(first.files))
    coverage = Coverage(workspace, analysis, config)
    covered = frozenset(place for target in coverage.declared for place in target.places)
    if declared_only:
        candidates.keep(covered)
        first = _only_in(first, covered)
    with Trees() as trees:
        prover = _Prover(workspace, rules, config, candidates, coverage, files, trees, session, progress)
        try:
            done = prover.run(first) if candidates.all else prover.as_it_stands(first)
        except KeyboardInterrupt:
            raise Interrupted(list(prover.latest.values())) from None
    if declared_only:
        done.fixed.remaining = _only_in(done.fixed.remaining, covered)
    return done


def _only_in(result: CheckResult, places: frozenset[Place]) -> CheckResult:
    """The findings that stand in `places`."""
    files = {
        path: FileFindings(entry.source, [f for f in entry.findings if place_at(entry.source, f.span.start) in places])
        for path, entry in result.files.items()
    }
    return CheckResult({path: entry for path, entry in files.items() if entry.findings}, result.problems)


class _Prover:
    def __init__(
        self, workspace: Workspace, rules: Sequence[Rule], config: Config, candidates: Candidates, coverage: Coverage,
        files: Sequence[Path], trees: Trees, session: Proofs, progress: Progress | None,
    ):  # fmt: skip
        self.workspace, self.rules, self.config = workspace, rules, config
        self.candidates, self.coverage, self.files = candidates, coverage, files
        self.trees, self.session, self.progress = trees, session, progress
        self.choice: dict[str, int] = dict.fromkeys(candidates.all, 0)
        self.verdicts: dict[str, Verdict] = {}
        self.latest: dict[str, Verdict] = {}
        self.targets: dict[str, ProofTarget] = {}
        self.turned_away: dict[str, str] = {}
        self._rendered: dict[tuple[tuple[str, int], ...], FixResult] = {}
        self._known: dict[tuple[str, tuple[tuple[str, int], ...]], Verdict] = {}

    def run(self, first: CheckResult) -> Migration:
        self._first_round()
        for target in sorted(self.targets.values(), key=lambda t: (len(t.places), t.name)):
            self._settle(target)
        unproven = self._unproven()
        for name in unproven:
            self.choice.pop(name, None)
        self._confirm()
        kept = {name: self.candidates.all[name] for name in self.choice}
        fixed, verdicts = self._render(self.choice), list(self.verdicts.values())
        return Migration(fixed, first, verdicts, kept, self.turned_away, unproven, self.targets)

    def as_it_stands(self, first: CheckResult) -> Migration:
        """What the declared targets are without any fix."""
        targets = {target.name: target for target in self.coverage.declared}
        jobs = [self._job(target, None) for target in targets.values()]
        for verdict in self.session.verdicts(jobs, self.progress):
            self.latest[verdict.id] = verdict
        verdicts = [self.latest[name] for name in targets]
        return Migration(FixResult({}, first, first, []), first, verdicts, targets=targets)

    def _first_round(self) -> None:
        """Prove everything together, and every declared target: the rules may miss what the compiler says;
        where a function's own region cannot be run, the regions around it."""
        first = {t.name: t for t in [*self.coverage.declared, *self._targets(limit=1)]}
        self._prove(list(first.values()))
        open_places = {p for name in self._unproven() for p in self.candidates.all[name].places}
        if open_places:
            self._prove(self._targets(limit=_PARENTS, places=open_places))

    def _targets(self, *, limit: int, places: set[Place] | None = None) -> list[ProofTarget]:
        wanted = places or {p for c in self.candidates.all.values() for p in c.places}
        found = {t.name: t for p in sorted(wanted, key=str) for t in self.coverage.covering(p, limit=limit)}
        return [t for name, t in found.items() if name not in self.verdicts]

    def _prove(self, targets: Sequence[ProofTarget]) -> None:
        """Set the verdicts of `targets` on the current choice."""
        verdicts = self._judge(targets, self.choice)
        for target, verdict in zip(targets, verdicts, strict=True):
            self.targets[target.name] = target
            before = self.verdicts.get(target.name)
            self.verdicts[target.name] = replace(verdict, culprits=before.culprits) if before else verdict

    def _judge(self, targets: Sequence[ProofTarget], choice: Mapping[str, int]) -> list[Verdict]:
        """Verdicts on a choice; one that differs only in fixes that a target does not run through is known."""
        keys = [(t.name, tuple(sorted((n, choice[n]) for n in self._mine(t) if n in choice))) for t in targets]
        new = [(k, t) for k, t in zip(keys, targets, strict=True) if k not in self._known]
        if new:
            rendered = self._render(choice)
            jobs = [self._job(target, rendered) for _, target in new]
            by_id = {job.id: key for job, (key, _) in zip(jobs, new, strict=True)}
            for verdict in self.session.verdicts(jobs, self.progress):
                self._known[by_id[verdict.id]] = self.latest[verdict.id] = verdict
        return [self._known[key] for key in keys]

    def _mine(self, target: ProofTarget) -> list[str]:
        """The candidates that a target runs through."""
        return [name for name, c in self.candidates.all.items() if c.places & target.places]

    def _job(self, target: ProofTarget, rendered: FixResult | None) -> Job:
        """The proof of what the fixes made of a target; without any, of the target as it stands."""
        changes = rendered.changes if rendered else {}
        fixes = [
            applied.fix for change in changes.values() for applied in change.applied
            if place_at(applied.source, applied.finding.span.start) in target.places
        ]  # fmt: skip
        gradients = "restored" if any(fix.restores_gradient for fix in fixes) else "same"
        units = any(fix.compile_units for fix in fixes)
        options = Options.of(self.config.verify, gradients=gradients, units=units)
        texts = {path.resolve(): change.after for path, change in changes.items()}
        tree = self.trees.overlay(target.target.tree, texts) if rendered else None
        recorded = recorded_inputs(self.workspace.recordings, target.target) if target.inputs is None else None
        return Job.of(target.target, id=target.name, rewritten=tree, inputs=target.inputs, options=options,
                      recorded=recorded)  # fmt: skip

    def _render(self, choice: Mapping[str, int]) -> FixResult:
        key = tuple(sorted(choice.items()))
        if key not in self._rendered:
            places = {p for name in choice for p in self.candidates.all[name].places}
            choose = self.candidates.chooser(choice, places)
            self._rendered[key] = fix(self.workspace.fork(), self.rules, self.config, choose, only=self.files)
        return self._rendered[key]

    def _settle(self, target: ProofTarget) -> None:
        """Find the fixes that keep a target from verifying. What a smaller target has proven is not in doubt, unless
        it makes this one compute something else."""
        verdict = self._judge([target], self.choice)[0]
        self.verdicts[target.name] = verdict
        if verdict.verified or verdict.verdict in UNDECIDED:
            return
        mine = [name for name in self._mine(target) if name in self.choice]
        doubtful = mine if is_harmful(verdict) else [name for name in mine if not self._proven(name)]
        if not doubtful:
            return
        others = {name: number for name, number in self.choice.items() if name not in doubtful}

        def prove(choice: Mapping[str, int]) -> Verdict:
            return self._judge([target], choice)[0]

        counts = {name: len(self.candidates.all[name].alternatives) for name in doubtful}
        outcome = bisect(counts, lambda choice: {**others, **choice}, prove, limit=_MAX_PROOFS)
        self.choice = dict(others)
        culprits: tuple[str, ...] = ()
        if outcome.verdict is not None and outcome.verdict.verified:
            self.choice.update(outcome.kept)
            verdict = outcome.verdict
            culprits = tuple(self._blame(c) for c in outcome.culprits)
            gone = {c.fix: c.verdict for c in outcome.culprits if c.alternative is None}
        else:
            # No subset makes the region compile whole: nothing that only it could prove is proven.
            gone = dict.fromkeys(doubtful, verdict)
        for name, reason in gone.items():
            self.turned_away[name] = f"{target.name}: {reason.verdict}: {reason.message}"
        self.verdicts[target.name] = replace(verdict, culprits=culprits)

    def _blame(self, culprit: Culprit) -> str:
        candidate = self.candidates.all[culprit.fix]
        title = candidate.alternatives[0].title
        other = None if culprit.alternative is None else candidate.alternatives[culprit.alternative]
        instead = f"; instead: {other.title}" if other else ""
        return f"{culprit.fix} {title}: {culprit.verdict.verdict}: {culprit.verdict.message}{instead}"

    def _proven(self, name: str) -> bool:
        """Whether a verified target runs through a candidate."""
        places = self.candidates.all[name].places
        return any(self.verdicts[n].verified and places & t.places for n, t in self.targets.items())

    def _unproven(self) -> dict[str, str]:
        """Candidates in the running that no verified target exercises, with the reason."""
        found = {}
        for name in self.choice:
            if not self._proven(name):
                places = self.candidates.all[name].places
                verdicts = [(n, self.verdicts[n]) for n, t in self.targets.items() if places & t.places]
                reasons = [f"{n}: {v.verdict}: {v.message}" for n, v in verdicts]
                found[name] = reasons[0] if reasons else "no Cell or jit function that can be called runs through it"
        return found

    def _confirm(self) -> None:
        """Prove what is left once more as a whole: a target may rest on a fix that has gone since."""
        while True:
            self._prove(list(self.targets.values()))
            lost = [n for n in self.choice if not self._proven(n)]
            harmed = [t for t in self.targets.values() if is_harmful(self.verdicts[t.name])]
            lost += [n for t in harmed for n in self._mine(t) if n in self.choice and n not in lost]
            if not lost:
                return
            for name in lost:
                del self.choice[name]
                places = self.candidates.all[name].places
                target = next(t for t in [*harmed, *self.targets.values()] if places & t.places)
                verdict = self.verdicts[target.name]
                self.turned_away[name] = f"{target.name}: {verdict.verdict}: {verdict.message}"


def is_harmful(verdict: Verdict) -> bool:
    """Whether a rewrite does worse than what it replaces, not merely no better."""
    if verdict.verified or verdict.verdict in UNDECIDED:
        return False
    side = verdict.rewritten
    if side is not None and side.difference is not None and side.difference.part == "pynative":
        return True
    as_it_was = verdict.original.verdict if verdict.original else ""
    return verdict.verdict in ("diverges", "crashes", "times-out") and verdict.verdict != as_it_was


def texts_of(migration: Migration) -> list[tuple[Path, SourceText, SourceText]]:
    """`(path, before, after)` of each changed file."""
    return [(path, change.before, change.after) for path, change in migration.fixed.changes.items()]
