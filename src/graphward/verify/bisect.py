"""Which fixes of a region to keep when all of them together do not verify.

Knows fixes only by their ids and how many alternatives each has: the caller renders a choice and proves it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from graphward.verify.verdicts import SideResult, Verdict

Rendered = TypeVar("Rendered")

Choice = Mapping[str, int]
"""Fix id -> number of the alternative that is applied, 0 being the preferred one; a fix that is absent is left out."""

_RANK = {"verified": 0, "recompiles": 1, "falls-back": 2, "no-kernel": 3, "fails": 3}
_HARM = 9
"""Above every rank: the rewrite computes something else, crashes, or cannot be judged any more."""


@dataclass(frozen=True)
class Culprit:
    """A fix that had to be left out or exchanged: `alternative` is the one that was taken instead (None: none helped),
    `verdict` is what its preferred form led to."""

    fix: str
    alternative: int | None
    verdict: Verdict


@dataclass(frozen=True)
class Bisection:
    """`kept` fixes with the alternative of each, the `verdict` on exactly these (None when nothing could be rendered),
    the `culprits`, and how many `proofs` it took. `exhausted` when the bound on proofs ended the search."""

    kept: dict[str, int]
    verdict: Verdict | None
    culprits: tuple[Culprit, ...]
    proofs: int
    exhausted: bool = False

    @property
    def verified(self) -> bool:
        return self.verdict is not None and self.verdict.verified


def bisect(
    fixes: Mapping[str, int] | Sequence[str],
    render: Callable[[Choice], Rendered | None],
    prove: Callable[[Rendered], Verdict],
    *,
    limit: int = 32,
) -> Bisection:
    """Keep the fixes that do no harm, name those that do, try their alternatives.

    `fixes`: ids in order, with the number of alternatives of each (1 for a plain sequence). `render` makes the files of
    a choice, or returns None when the choice contradicts itself. `prove` judges them against the original; at most
    `limit` times.

    First all fixes together. If that does not verify, halving finds the first one that makes things worse; it is
    exchanged for its next alternative or left out, and the search goes on behind it. That takes log2(fixes) + 1 proofs
    and one for each alternative, for each culprit. If the rest still does not verify, each fix in turn is exchanged or
    left out, in case it hides behind another one's error.
    """
    counts = dict(fixes) if isinstance(fixes, Mapping) else dict.fromkeys(fixes, 1)
    search = _Search(counts, render, prove, limit)
    try:
        search.run()
    except _Exhausted:
        search.exhausted = True
    return search.result()


class _Exhausted(Exception):
    """The bound on proofs is reached."""


class _Search(Generic[Rendered]):
    def __init__(
        self,
        counts: Mapping[str, int],
        render: Callable[[Choice], Rendered | None],
        prove: Callable[[Rendered], Verdict],
        limit: int,
    ):
        self.counts = counts
        self.render = render
        self.prove = prove
        self.limit = limit
        self.seen: dict[tuple[tuple[str, int], ...], Verdict | None] = {}
        self.proofs = 0
        self.exhausted = False
        self.kept: dict[str, int] = {}
        self.culprits: dict[str, Culprit] = {}

    def run(self) -> None:
        everything = dict.fromkeys(self.counts, 0)
        verdict = self.judge(everything)
        if verdict is not None and verdict.verified:
            self.kept = everything
            return
        rest = list(self.counts)
        while rest:
            good = self.harmless(rest)
            self.kept = _with(self.kept, rest[:good])
            if good < len(rest):
                self.exchange(rest[good])
            rest = rest[good + 1 :]
        if not self.is_verified(self.kept):
            self.single_out()

    def harmless(self, fixes: Sequence[str]) -> int:
        """How many of `fixes`, from the first, can be added to what is kept before one makes things worse."""
        before = _badness(self.judge(self.kept))
        good, bad = 0, len(fixes) + 1
        middle = len(fixes)  # mostly there is no culprit, or none any more
        while bad - good > 1:
            verdict = self.judge(_with(self.kept, fixes[:middle]))
            if verdict is not None and _badness(verdict) <= before:
                good = middle
            else:
                bad = middle
            middle = (good + bad) // 2
        return good

    def exchange(self, fix: str) -> None:
        """Add a culprit in its first form that does not make things worse, or leave it out."""
        before = _badness(self.judge(self.kept))
        blame: Verdict | None = None
        for alternative in range(self.counts[fix]):
            choice = {**self.kept, fix: alternative}
            verdict = self.judge(choice)
            if verdict is not None and _badness(verdict) <= before:
                self.kept = choice
                if blame is not None:
                    self.culprits[fix] = Culprit(fix, alternative, blame)
                return
            blame = blame or verdict
        if blame is not None:
            self.culprits[fix] = Culprit(fix, None, blame)

    def single_out(self) -> None:
        """Exchange or leave out one fix so that the others verify."""
        blame = self.judge(self.kept)
        if blame is None:
            return
        for fix, current in list(self.kept.items()):
            others = [a for a in range(self.counts[fix]) if a != current]
            for alternative in (*others, None):
                choice = {name: a for name, a in self.kept.items() if name != fix}
                if alternative is not None:
                    choice[fix] = alternative
                if self.is_verified(choice):
                    self.kept = choice
                    self.culprits[fix] = Culprit(fix, alternative, blame)
                    return

    def is_verified(self, choice: Choice) -> bool:
        verdict = self.judge(choice)
        return verdict is not None and verdict.verified

    def judge(self, choice: Choice) -> Verdict | None:
        """The verdict on a choice, None when it cannot be rendered. Raises _Exhausted."""
        key = tuple(sorted(choice.items()))
        if key not in self.seen:
            rendered = self.render(choice)
            if rendered is None:
                self.seen[key] = None
            elif self.proofs >= self.limit:
                raise _Exhausted
            else:
                self.proofs += 1
                self.seen[key] = self.prove(rendered)
        return self.seen[key]

    def result(self) -> Bisection:
        verdict = self.seen.get(tuple(sorted(self.kept.items())))
        return Bisection(self.kept, verdict, tuple(self.culprits.values()), self.proofs, self.exhausted)


def _with(choice: Choice, fixes: Sequence[str]) -> dict[str, int]:
    """A choice and more fixes in their preferred form."""
    return {**choice, **dict.fromkeys(fixes, 0)}


def _badness(verdict: Verdict | None) -> tuple[int, int]:
    """Lower is better: the verdict's rank, then the number of interpreter nodes."""
    if verdict is None:
        return (_HARM, 0)
    side = verdict.judged
    if side is not None and (side.difference is not None or _does_not_load(side)):
        return (_HARM, 0)
    return (_RANK.get(verdict.verdict, _HARM), len(side.nodes) if side is not None else 0)


def _does_not_load(side: SideResult) -> bool:
    return side.error is not None and side.error.stage in ("import", "construct")
