"""How the result of a review leaves: written, or as a patch, and as a report."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import GraphwardError
from ..report.diff import render_diff
from ..source.paths import display
from ..source.text import SourceText
from ..source.writing import write_atomic
from .checking import Unusable, final
from .items import Item
from .journal import Entry
from .state import BY_HAND, FileReview, State
from .status import Status


@dataclass
class Written:
    """What a write came to: files with what they hold now; those whose contents on disk were not what the review knows
    of; and problems, said in a line each."""

    files: dict[Path, bytes] = field(default_factory=dict)
    changed: list[Path] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def write_files(
    files: Iterable[FileReview], on_disk: Mapping[Path, bytes], entry: Entry, between: Callable[[], None]
) -> Written:
    """Write each file whole or not at all. `on_disk` is what each is known to hold; `between` is called between two
    files."""
    done = Written()
    wanted: dict[Path, bytes] = {}
    for file in files:
        between()
        try:
            data = final(file).to_bytes()
        except Unusable as error:
            done.problems.append(f"{display(file.path)}: {error}")
            continue
        if data == on_disk[file.path]:
            continue
        if read(file.path) == on_disk[file.path]:
            wanted[file.path] = data
        else:
            done.changed.append(file.path)
    if wanted:
        entry.add({path: on_disk[path] for path in wanted}, wanted)
    for path, data in wanted.items():
        between()
        if read(path) != on_disk[path]:  # while the others were written
            done.changed.append(path)
            entry.drop(path)
            continue
        try:
            write_atomic(path, data)
            done.files[path] = data
        except GraphwardError as error:
            done.problems.append(f"{display(path)}: {error.message}")
            entry.drop(path)
    return done


def read(path: Path) -> bytes | None:
    """What a file holds; None when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return None


def patch(files: Iterable[FileReview], on_disk: Mapping[Path, bytes], root: Path, between: Callable[[], None]) -> str:
    """All changes as a diff that `git apply` takes in `base_of` the changed files; `between` is called between two
    files. Raises GraphwardError for decisions that cannot be applied."""
    changes: list[tuple[Path, SourceText, SourceText]] = []
    for file in files:
        between()
        try:
            after = final(file)
        except Unusable as error:
            raise GraphwardError(str(error), path=file.path) from None
        before = file.original
        if before.to_bytes() != on_disk[file.path]:  # what was written holds fixes that were undone since
            before = SourceText.from_bytes(file.path, on_disk[file.path])
        if after.utf8 != before.utf8:
            changes.append((file.path, before, after))
    return render_diff(changes, base_of([path for path, _, _ in changes], root))


def base_of(paths: Iterable[Path], root: Path) -> Path:
    """The folder that a patch of these files is for: the working folder, else the project's, else theirs."""
    whole = [Path(os.path.abspath(path)) for path in paths]
    for folder in (Path.cwd(), root.absolute()):
        if all(path.is_relative_to(folder) for path in whole):
            return folder
    return Path(os.path.commonpath([path.parent for path in whole]))


def report(state: State, as_json: bool) -> str:
    """Every finding with what was decided on it, as Markdown or JSON."""
    rows = [_row(state, file, key) for file in state.files.values() for key in file.entries]
    if as_json:
        return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    counts = ", ".join(f"{state.counts[s]} {s.value}" for s in Status if state.counts[s]) or "none"
    found = f"{_count(len(rows), 'finding')} in {_count(len(state.files), 'file')}"
    lines = ["# Graphward review", "", f"{found}: {counts}."]
    path = ""
    for row in rows:
        if row["path"] != path:
            path = row["path"]
            lines += ["", f"## {path}", ""]
        named = f"line {row['line']}" + (f" of cell {row['cell']}" if "cell" in row else "")
        lines.append(f"- **{row['state']}** {named} `{row['code']}` {row['message']}")
        if row["fix"]:
            lines.append(f"  - {row['fix']['applicability']} fix: {row['fix']['title']}")
            if row["fix"]["reason"]:
                lines.append(f"    ({row['fix']['reason']})")
        if row["note"]:
            lines.append(f"  - {row['note']}")
        if row["proof"]:
            proof = row["proof"]
            stale = "" if proof["current"] else " (with other fixes than now)"
            lines.append(f"  - proof{stale}: {proof['target']}: {proof['verdict']} {proof['message']}".rstrip())
    return "\n".join(lines) + "\n"


def _row(state: State, file: FileReview, key: str) -> dict[str, Any]:
    entry = file.entries[key]
    finding, fix = entry.item.finding, entry.decision.fix if entry.decision else None
    proof = state.proofs.get((file.path, key))
    return {
        "path": display(file.path), **_place(entry.item), "code": finding.code, "name": finding.name,
        "message": finding.message, "consequence": finding.consequence.value, "region": finding.region,
        "state": entry.status.value, "new": entry.item.new, "note": entry.note,
        "fix": None if fix is None or entry.decision is None else {
            "title": fix.title, "applicability": fix.applicability.value, "reason": fix.reason,
            "by_hand": entry.decision.choice == BY_HAND,
        },
        "proof": None if proof is None else {
            "target": proof.verdict.inputs.target, "verdict": proof.verdict.verdict, "message": proof.verdict.message,
            "current": proof.fixes == state.fixes_of(entry),
        },
    }  # fmt: skip


def _place(item: Item) -> dict[str, int]:
    cell, line, _ = item.source.place(item.finding.span.start)
    return {"line": line} if cell is None else {"cell": cell, "line": line}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
