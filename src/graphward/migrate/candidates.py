"""The fixes of a run as things to choose from: each with an identity that outlives the edits of others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..engine.check import CheckResult
from ..engine.fixpoint import Chooser
from ..rules.finding import Finding
from ..source.fixes import Applicability, Fix
from ..source.paths import display
from ..source.text import SourceText
from .coverage import Place, place_at

Fingerprint = tuple[Path, str, str, bytes]
"""File, function, code, and the text of the place."""


@dataclass(frozen=True)
class Candidate:
    """One or more findings that the same edits mend. `alternatives` are the fixes that may be tried, in order;
    `places` are where the findings stand."""

    id: str
    finding: Finding
    alternatives: tuple[Fix, ...]
    places: frozenset[Place]


class Candidates:
    """All candidates of a first check, within `limit`."""

    def __init__(self, first: CheckResult, limit: Applicability):
        self._limit = limit
        self.all: dict[str, Candidate] = {}
        self._by_fingerprint: dict[Fingerprint, str] = {}
        grouped: dict[tuple, list[tuple[SourceText, Finding]]] = {}
        for path, entry in first.files.items():
            for finding in entry.findings:
                fixes = self._eligible(finding)
                if fixes:
                    grouped.setdefault((path, fixes[0].edits), []).append((entry.source, finding))
        for members in grouped.values():
            self._add(members)

    def _add(self, members: list[tuple[SourceText, Finding]]) -> None:
        source, finding = members[0]
        line, column = source.position(finding.span.start)
        name = f"{finding.code} {display(source.path)}:{line}:{column}"
        places = frozenset(place_at(s, f.span.start) for s, f in members)
        self.all[name] = Candidate(name, finding, self._eligible(finding), places)
        for member_source, member in members:
            # Equal texts in one function are one choice: no edit can tell them apart later.
            self._by_fingerprint.setdefault(_fingerprint(member_source, member), name)

    def keep(self, places: Collection[Place]) -> None:
        """Leave out the candidates that stand nowhere in `places`."""
        self.all = {name: candidate for name, candidate in self.all.items() if candidate.places & set(places)}

    def _eligible(self, finding: Finding) -> tuple[Fix, ...]:
        return tuple(f for f in finding.fixes if f.edits and f.applicability.rank <= self._limit.rank)

    def chooser(self, choice: Mapping[str, int], places: Collection[Place]) -> Chooser:
        """What applies the alternatives of `choice`, and in later passes the preferred fixes of findings that only
        these edits brought up in `places`, unless their rule was turned away in that function."""
        refused = {(p, c.finding.code) for c in self.all.values() if c.id not in choice for p in c.places}

        def choose(source: SourceText, finding: Finding) -> Fix | None:
            known = self._by_fingerprint.get(_fingerprint(source, finding))
            fixes = self._eligible(finding)
            if known is not None:
                number = choice.get(known)
                return fixes[number] if number is not None and number < len(fixes) else None
            place = place_at(source, finding.span.start)
            return fixes[0] if fixes and place in places and (place, finding.code) not in refused else None

        return choose


def _fingerprint(source: SourceText, finding: Finding) -> Fingerprint:
    path, function = place_at(source, finding.span.start)
    text = b" ".join(source.utf8[finding.span.start : finding.span.end].split())
    return path, function, finding.code, text
