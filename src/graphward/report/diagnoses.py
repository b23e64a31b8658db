"""Diagnoses of errors as text for people and as JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..diagnosis.explain import Diagnosis, described
from ..diagnosis.frames import Frame
from ..diagnosis.project import Treatment, Treatments
from ..diagnosis.texts import Texts
from ..source.fixes import Applicability
from ..source.paths import display

_MOST_RANKS = 8


def render_diagnoses(diagnoses: Sequence[Diagnosis], words: Texts) -> str:
    """A block for each error, in Rich markup."""
    from rich.markup import escape

    blocks = []
    if len(diagnoses) > 1:
        blocks.append(escape(words.say("summary", count=len(diagnoses))))
    return "\n\n".join([*blocks, *("\n".join(_block(d, words)) for d in diagnoses)])


def render_treatment(treatment: Treatment, words: Texts, project: str) -> str:
    """What was found in the project for one error, in Rich markup."""
    from rich.markup import escape

    head = treatment.diagnosis.entry
    lines = [f"[bold]{escape(words.say('project-title'))}[/] ({escape(head)})"]
    spot = treatment.spot
    if spot is None:
        key = "project-not-there" if treatment.diagnosis.file else "project-no-line"
        lines.append(f"    {escape(words.say(key, file=treatment.diagnosis.file or '', project=project))}")
    else:
        if spot.others:
            name = treatment.diagnosis.file or spot.path.name
            said = words.say("project-ambiguous", file=name, project=project, path=display(spot.path))
            lines.append(f"    [yellow]{escape(said)}[/]")
        if spot.moved:
            line = treatment.diagnosis.line or spot.line
            lines.append(f"    [yellow]{escape(words.say('project-changed', line=line))}[/]")
    if not treatment.mendable:
        lines.append(f"    {escape(words.say('project-no-rules'))}")
    elif not treatment.found:
        lines.append(f"    {escape(words.say('project-nothing'))}")
    elif spot is not None and not any(f.at_the_line for f in treatment.found):
        lines.append(f"    {escape(words.say('project-elsewhere'))}")
    for item in treatment.found:
        place = f"{display(item.path)}:{item.line}:{item.column}"
        lines.append(f"    [bold]{escape(place)} {item.finding.code}[/] {escape(item.finding.message)}")
        for fix in item.finding.fixes[:1]:
            if fix.applicability is Applicability.MANUAL:
                lines.append(f"        {escape(words.say('project-manual', title=fix.title))}")
            else:
                reason = f": {fix.reason}" if fix.reason else ""
                lines.append(f"        {fix.applicability.value} fix {escape(fix.title + reason)}")
    return "\n".join(lines)


def render_json(diagnoses: Sequence[Diagnosis], treatments: Treatments | None = None, diff: str = "") -> str:
    """One object: `diagnoses`, an array with an object for each error, and with a project `diff`."""
    rows = [_object(d) for d in diagnoses]
    result: dict[str, Any] = {"diagnoses": rows}
    if treatments is not None:
        of = {id(t.diagnosis): t for t in treatments.of}
        for diagnosis, row in zip(diagnoses, rows, strict=True):
            treatment = of.get(id(diagnosis))
            row["project"] = None if treatment is None else _treatment(treatment)
        result["diff"] = diff
    return json.dumps(result, indent=2, ensure_ascii=False)


def _block(diagnosis: Diagnosis, words: Texts) -> list[str]:
    from rich.markup import escape

    def titled(key: str, text: str) -> str:
        return f"    [bold]{escape(words.say(key))}[/]: {escape(text)}"

    if diagnosis.known:
        lines = [f"[bold red]{diagnosis.entry} {diagnosis.name}[/]: {escape(diagnosis.title)}"]
    else:
        lines = [f"[bold yellow]{escape(diagnosis.title)}[/]"]
    said = f"{diagnosis.exception}: {diagnosis.message}" if diagnosis.exception else diagnosis.message
    others = not diagnosis.known and not diagnosis.nearest
    lines.append(titled("message-other" if others else "message", said))
    lines += [f"    {escape(text)}" for text in _circumstances(diagnosis, words)]
    lines += _place(diagnosis, words)
    if diagnosis.construct:
        lines.append(titled("construct", diagnosis.construct))
    lines += [titled("cause", diagnosis.cause), titled("cure", diagnosis.cure)]
    if diagnosis.nearest:
        lines.append(f"    [bold]{escape(words.say('meant' if diagnosis.known else 'nearest'))}[/]:")
        lines += [f"        {near.entry} {escape(near.title)}" for near in diagnosis.nearest]
    if diagnosis.rules:
        lines.append(f"    [bold]{escape(words.say('rules'))}[/]:")
        for code, text in described(diagnosis.rules, words):
            lines.append(f"        {escape(text)}" if code is None else f"        [bold]{code}[/] {escape(text)}")
    if diagnosis.command:
        lines.append(titled("run", diagnosis.command))
        if diagnosis.rules and diagnosis.file:
            lines.append(f"         {escape(words.say('then', command=diagnosis.proof))}")
    return lines


def _circumstances(diagnosis: Diagnosis, words: Texts) -> list[str]:
    said = []
    if len(diagnosis.ranks) > 1:
        shown = ", ".join(diagnosis.ranks[:_MOST_RANKS]) + (", ..." if len(diagnosis.ranks) > _MOST_RANKS else "")
        said.append(words.say("ranks", count=len(diagnosis.ranks), ranks=shown))
    elif diagnosis.count > 1:
        said.append(words.say("times", count=diagnosis.count))
    if diagnosis.log_line > 1:
        said.append(words.say("log-line", line=diagnosis.log_line))
    return [", ".join(said)] if said else []


def _place(diagnosis: Diagnosis, words: Texts) -> list[str]:
    from rich.markup import escape

    if diagnosis.place is None:
        return []
    lines = [f"    [bold]{escape(words.say('your-line'))}[/]: {escape(_position(diagnosis.place))}"]
    if diagnosis.place.code:
        lines.append(f"        {escape(diagnosis.place.code)}")
    around = [f for f in diagnosis.frames if (f.path, f.line) != (diagnosis.file, diagnosis.line) and not f.of_a_block]
    positions = list(dict.fromkeys(f"{_shown(f)}:{f.line}" for f in around))
    if positions:
        lines.append(f"    [dim]{escape(words.say('way'))}: {escape(', '.join(positions))}[/]")
    return lines


def _position(frame: Frame) -> str:
    return f"{_shown(frame)}:{frame.line}" + (f":{frame.column}" if frame.column is not None else "")


def _shown(frame: Frame) -> str:
    """The path as the log has it, or from here when the file is here."""
    path = Path(frame.path)
    return display(path) if path.is_file() else frame.path


def _object(diagnosis: Diagnosis) -> dict[str, Any]:
    place = diagnosis.place
    return {
        "entry": diagnosis.entry or None, "name": diagnosis.name or None, "title": diagnosis.title,
        "exception": diagnosis.exception or None, "message": diagnosis.message,
        "construct": diagnosis.construct or None, "cause": diagnosis.cause, "cure": diagnosis.cure,
        "place": None if place is None else _frame(place), "frames": [_frame(f) for f in diagnosis.frames],
        "rules": list(diagnosis.rules), "command": diagnosis.command or None, "raised": list(diagnosis.raised),
        "versions": diagnosis.versions or None, "log_line": diagnosis.log_line, "ranks": list(diagnosis.ranks),
        "count": diagnosis.count, "nearest": [{"entry": n.entry, "title": n.title} for n in diagnosis.nearest],
    }  # fmt: skip


def _frame(frame: Frame) -> dict[str, Any]:
    return {
        "path": frame.path, "line": frame.line, "column": frame.column, "end_column": frame.end_column,
        "code": frame.code,
    }  # fmt: skip


def _treatment(treatment: Treatment) -> dict[str, Any]:
    spot = treatment.spot
    return {
        "path": None if spot is None else display(spot.path), "line": None if spot is None else spot.line,
        "findings": [
            {"code": f.finding.code, "message": f.finding.message, "path": display(f.path), "line": f.line,
             "column": f.column, "at_the_line": f.at_the_line}
            for f in treatment.found
        ],
    }  # fmt: skip
