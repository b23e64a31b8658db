"""The fix of a diagnosed error in the user's project: what the codemods make of the place that the error names.

The check is run once more with the codemods of the error's entry, and told of the line, as the repair loop does it
with what the compiler says of a target. Nothing is run and nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from ..config import Config
from ..engine.check import CheckResult, analyse, check
from ..engine.fixpoint import fix
from ..engine.run import find_files, rules_of
from ..engine.shards import shards
from ..engine.workspace import Workspace
from ..knowledge.errors import ErrorEntry, entry
from ..migrate.coverage import Coverage, Place, place_at
from ..rules.finding import Finding
from ..rules.suspects import Suspect
from ..source.fixes import Applicability, Fix
from ..source.text import SourceText
from .explain import Diagnosis
from .frames import Frame


@dataclass(frozen=True)
class Spot:
    """Where the user's own line stands in the project. `line` is 1-based; `moved` when it reads otherwise than in the
    log at that number; `others` are more files that the log may mean."""

    path: Path
    line: int
    moved: bool = False
    others: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Found:
    """A finding that explains an error; `at_the_line` when it stands there, else in code that the line runs through."""

    path: Path
    line: int
    column: int
    finding: Finding
    at_the_line: bool


@dataclass
class Treatment:
    """What can be done about one error: `spot` is None when the log names no file of the project, `mendable` says
    whether any codemod mends such errors at all."""

    diagnosis: Diagnosis
    spot: Spot | None
    mendable: bool
    found: list[Found] = field(default_factory=list)


@dataclass
class Treatments:
    """`changes` are the files that all fixes together would change, before and after."""

    of: list[Treatment]
    changes: list[tuple[Path, SourceText, SourceText]]


def treat(diagnoses: Sequence[Diagnosis], project: Path, config: Config) -> Treatments:
    """What the codemods find at the places of known errors, and the texts with their fixes applied.

    Raises GraphwardError when `project` holds no Python file.
    """
    files, _ = find_files([project], config)
    known = [(d, e) for d in diagnoses if (e := entry(d.entry)) is not None]
    spots = [_spot(d, files) for d, _ in known]
    workspace = Workspace(_to_read(spots, files))
    rules = [r for r in rules_of(config) if any(e.repairs and e.covers(r.code) for _, e in known)]
    treatments = [Treatment(d, spot, bool(e.repairs)) for (d, e), spot in zip(known, spots)]
    if not rules:
        return Treatments(treatments, [])
    analysis = analyse(workspace)
    around = [_place(workspace, spot) for spot in spots]
    workspace.suspects = tuple(
        Suspect(*place, _text(workspace, spot), e.repairs)
        for place, spot, (_, e) in zip(around, spots, known)
        if place and spot and e.repairs
    )
    # Every region counts here, whichever the settings declare for proofs.
    coverage = Coverage(workspace, analysis, replace(config, verify=replace(config.verify, declared_only=False)))
    checked = check(workspace, rules, config, analysis=analysis)
    wanted: dict[Place, set[str]] = {}
    for treatment, place, (_, e) in zip(treatments, around, known):
        if e.repairs:
            reached = next(iter(coverage.covering(place, limit=1)), None) if place else None
            reach = reached.places if reached else frozenset()
            treatment.found = _explaining(checked, e, treatment.spot, place, reach)
        for item in treatment.found:
            source = checked.files[item.path].source
            wanted.setdefault(place_at(source, item.finding.span.start), set()).add(item.finding.code)

    def choose(source: SourceText, finding: Finding) -> Fix | None:
        codes = wanted.get(place_at(source, finding.span.start), set())
        return finding.fix_within(Applicability.UNSAFE) if finding.code in codes else None

    if not wanted:
        return Treatments(treatments, [])
    done = fix(workspace, rules, config, choose)
    return Treatments(treatments, [(path, c.before, c.after) for path, c in done.changes.items()])


def _spot(diagnosis: Diagnosis, files: Sequence[Path]) -> Spot | None:
    """The innermost place of the error that lies in the project: logs come from other machines, so the file with the
    longest common end of its path is taken."""
    frames = [f for f in (diagnosis.place, *reversed(diagnosis.frames)) if f is not None]
    for frame in frames:
        matching = _files_of(frame, files)
        if matching:
            line, moved = _line_in(matching[0], frame)
            return Spot(matching[0], line, moved, tuple(matching[1:]))
    return None


def _files_of(frame: Frame, files: Sequence[Path]) -> list[Path]:
    """The files that a frame may mean: those with the most last parts of the path in common."""
    parts = PurePosixPath(frame.path.replace("\\", "/")).parts
    scored: dict[int, list[Path]] = {}
    for path in files:
        own = path.resolve().parts
        common = 0
        while common < min(len(own), len(parts)) and own[-1 - common] == parts[-1 - common]:
            common += 1
        if common:
            scored.setdefault(common, []).append(path)
    return scored[max(scored)] if scored else []


def _line_in(path: Path, frame: Frame) -> tuple[int, bool]:
    """The line of today that reads as in the log, the nearest to its number there; and whether it is another one."""
    if not frame.code:
        return frame.line, False
    lines = path.read_bytes().decode("utf-8", errors="replace").splitlines()
    same = [number for number, text in enumerate(lines, 1) if text.strip() == frame.code]
    if not same:
        return frame.line, True
    line = min(same, key=lambda number: abs(number - frame.line))
    return line, line != frame.line


def _to_read(spots: Iterable[Spot | None], files: Sequence[Path]) -> list[Path]:
    """The packages of the places, since findings may lie in whatever they run through; all of the project without
    any place."""
    paths = {spot.path for spot in spots if spot is not None}
    if not paths:
        return list(files)
    return [path for shard in shards(list(files)) if paths & set(shard.files) for path in shard.files]


def _place(workspace: Workspace, spot: Spot | None) -> Place | None:
    """The function that holds a spot; None in a file that does not parse."""
    source = workspace.source(spot.path) if spot and workspace.module(spot.path) else None
    if spot is None or source is None or not 1 <= spot.line <= len(source.line_starts):
        return None
    return place_at(source, source.offset(spot.line, 0))


def _text(workspace: Workspace, spot: Spot) -> bytes:
    source = workspace.source(spot.path)
    assert source is not None
    return source.line_bytes(spot.line).strip()


def _explaining(checked: CheckResult, e: ErrorEntry, spot: Spot | None, around: Place | None,
                reached: frozenset[Place]) -> list[Found]:  # fmt: skip
    """The findings at the line; else in the function around it; else in what that function runs through; without a
    line all of the project's that the entry names first."""
    found = [
        Found(path, *held.source.position(finding.span.start), finding, False)
        for path, held in checked.files.items()
        for finding in held.findings
        if e.covers(finding.code)
    ]
    if spot is None or around is None:
        return [f for f in found if f.finding.code.startswith(e.rules or e.repairs)]
    source = checked.files[spot.path].source if spot.path in checked.files else None
    here = [f for f in found if f.path == spot.path]
    at_the_line = [f for f in here if source and f.line <= spot.line <= _last_line(source, f)]
    if at_the_line:
        exact = [f for f in at_the_line if f.line == spot.line] or at_the_line
        return [replace(f, at_the_line=True) for f in exact]
    places = {id(f): place_at(checked.files[f.path].source, f.finding.span.start) for f in found}
    near = [f for f in found if places[id(f)] == around] or [f for f in found if places[id(f)] in reached]
    if near or reached:
        return near
    # No graph code, such as the call of the network: an error of the running graph names no line of it.
    first = [f for f in found if f.finding.code.startswith(e.rules or e.repairs)]
    return [f for f in first if f.path == spot.path] or first


def _last_line(source: SourceText, found: Found) -> int:
    return source.position(max(found.finding.span.start, found.finding.span.end - 1))[0]
