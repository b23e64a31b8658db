"""What `graphward record` left in `.graphward/`, read as data and checked field by field."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import graphward_worker.recording
from graphward_worker.recording import FORMAT, PROCESS, VARIABLE
from graphward_worker.recording.outline import NO_SIGNATURE
from graphward_worker.recording.plain import flaw

__all__ = ["FOLDER", "NO_SIGNATURE", "PROCESS", "RUN", "RUNS", "Recording", "Recordings", "watched"]

FOLDER = ".graphward"
RUNS = "recorded"
RUN = "run.json"

Node = dict[str, Any]


@dataclass(frozen=True)
class Recording:
    """What one process of one run handed to a Cell class or function.

    `root`: the project's folder; `file` is relative to it, with forward slashes. `run`: the run's folder. `command`:
    what was run. `outline`, `init_outline`: the parameters of the call and of the constructor. `calls`: the distinct
    ones, each with `constructor` (an index, or None), `training`, `count`, `outermost` (how many of these were),
    whether one `completed`, and `samples` (`args`, `kwargs`). `further`: how many more distinct ones there were.
    """

    path: Path
    root: Path
    run: Path
    command: tuple[str, ...]
    file: str
    qualname: str
    kind: str
    outline: str
    init_outline: str
    count: int
    further: int
    constructors: tuple[dict[str, Any], ...]
    calls: tuple[dict[str, Any], ...]

    @property
    def source(self) -> Path:
        """The file of the class or function."""
        return self.root / self.file

    @property
    def command_text(self) -> str:
        return shlex.join(self.command) or "the script"

    def start(self) -> tuple[list[str], Path] | None:
        """How its process was started: what followed the interpreter on the command line, and the working directory.
        None when that cannot be read."""
        try:
            data = json.loads(self.path.with_name(PROCESS).read_bytes())
            arguments, folder = data["arguments"], data["folder"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        if not (isinstance(arguments, list) and all(isinstance(a, str) for a in arguments) and isinstance(folder, str)):
            return None
        return arguments, Path(folder)


def watched(environment: Mapping[str, str], root: Path, run: Path) -> dict[str, str]:
    """The environment in which every Python process that starts records into `run` what it calls below `root`."""
    bootstrap = Path(graphward_worker.recording.__file__).with_name("bootstrap")
    path = environment.get("PYTHONPATH")
    return {
        **environment,
        "PYTHONPATH": os.pathsep.join([str(bootstrap), *([path] if path else [])]),
        VARIABLE: json.dumps({"root": str(root), "folder": str(run)}),
    }


class Recordings:
    """Reads each folder once. A file that is none of ours, or broken, is a problem (`path -> what is wrong`) and is
    ignored."""

    def __init__(self) -> None:
        self.problems: dict[Path, str] = {}
        self._digests: dict[Path, bytes] = {}
        self._homes: dict[Path, Path | None] = {}
        self._roots: dict[Path, dict[Path, dict[str, list[Recording]]]] = {}

    def of(self, path: Path, qualname: str) -> list[Recording]:
        """The recordings of a class or function, the newest run first."""
        return self.of_file(path).get(qualname, [])

    def of_file(self, path: Path) -> dict[str, list[Recording]]:
        """All recordings of a file by qualified name."""
        home = self._home(path.absolute().parent)
        return {} if home is None else self._read(home).get(path.resolve(), {})

    def all(self, home: Path) -> list[Recording]:
        """Everything that was recorded in a folder."""
        return [r for named in self._read(home).values() for recordings in named.values() for r in recordings]

    def stale(self, recording: Recording, now: str) -> None:
        """A class or function has other parameters, `now`, than when it was recorded."""
        self._problem(
            recording.path, f"is stale: {recording.qualname} took ({recording.outline}) and takes {now} now; record "
            f"again: graphward record -- {recording.command_text}",
        )  # fmt: skip

    def digest(self, paths: Iterable[Path]) -> bytes:
        """Changes whenever a recording of one of the files' projects does."""
        homes = {home for home in (self._home(path.absolute().parent) for path in paths) if home is not None}
        return b"".join(self._digest(home) for home in sorted(homes))

    def _digest(self, home: Path) -> bytes:
        if home not in self._digests:
            total = blake2b(digest_size=16)
            for path in _files(home):
                total.update(f"{path}\0".encode(errors="surrogateescape"))
                with contextlib.suppress(OSError):
                    total.update(path.read_bytes())
            self._digests[home] = total.digest()
        return self._digests[home]

    def _home(self, folder: Path) -> Path | None:
        """The nearest folder, from here upwards, that holds recordings."""
        if folder not in self._homes:
            own = folder / FOLDER / RUNS
            above = folder.parent
            self._homes[folder] = folder if own.is_dir() else None if above == folder else self._home(above)
        return self._homes[folder]

    def _read(self, home: Path) -> dict[Path, dict[str, list[Recording]]]:
        """By the file and the qualified name."""
        if home not in self._roots:
            found: dict[Path, dict[str, list[Recording]]] = {}
            for path in _files(home):
                recording = self._load(path, home)
                if recording is not None:
                    named = found.setdefault(recording.source.resolve(), {})
                    named.setdefault(recording.qualname, []).append(recording)
            self._roots[home] = found
        return self._roots[home]

    def _load(self, path: Path, home: Path) -> Recording | None:
        try:
            data = json.loads(path.read_bytes())
        except OSError as error:
            self._problem(path, f"cannot be read: {error.strerror}")
            return None
        except (ValueError, RecursionError) as error:
            self._problem(path, f"is no recording: {error}")
            return None
        try:
            wrong = _wrong(data)
        except RecursionError:
            wrong = "it is nested too deeply"
        if wrong:
            self._problem(path, f"is no recording that this version reads: {wrong}")
            return None
        names = ("file", "qualname", "kind", "outline", "init_outline", "count", "further")
        run = path.parents[1]
        return Recording(
            path, home, run, self._command(run / RUN), **{name: data[name] for name in names},
            constructors=tuple(data["constructors"]), calls=tuple(data["calls"]),
        )  # fmt: skip

    def _command(self, path: Path) -> tuple[str, ...]:
        try:
            command = json.loads(path.read_bytes())["command"]
            if isinstance(command, list) and all(isinstance(part, str) for part in command):
                return tuple(command)
            self._problem(path, "says no command")
        except OSError as error:
            self._problem(path, f"cannot be read: {error.strerror}")
        except (ValueError, KeyError, TypeError, RecursionError):
            self._problem(path, "is not what `graphward record` writes")
        return ()

    def _problem(self, path: Path, message: str) -> None:
        self.problems.setdefault(path, message)


def _files(home: Path) -> list[Path]:
    """The files of classes and functions, the newest run first."""
    try:
        runs = sorted((home / FOLDER / RUNS).iterdir(), reverse=True)
        return [p for run in runs for p in sorted(run.glob("*/*.json")) if p.name != PROCESS]
    except OSError:
        return []


_FIELDS: dict[str, type] = {
    "file": str, "qualname": str, "kind": str, "outline": str, "init_outline": str, "count": int, "further": int,
    "constructors": list, "calls": list,
}  # fmt: skip


def _wrong(data: Any) -> str:
    """What is wrong with the content of a file; empty when nothing is."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        return f"its format is not {FORMAT}"
    for name, kind in _FIELDS.items():
        if not isinstance(data.get(name), kind):
            return f"{name!r} is missing or of the wrong type"
    for constructor in data["constructors"]:
        if wrong := _wrong_arguments(constructor):
            return wrong
    for call in data["calls"]:
        if not isinstance(call, dict) or not isinstance(call.get("samples"), list) or not call["samples"]:
            return "a call has no samples"
        number = call.get("constructor")
        if number is not None and not (type(number) is int and 0 <= number < len(data["constructors"])):
            return "a call names a constructor that is not there"
        if not all(type(call.get(name)) is int for name in ("count", "outermost")):
            return "a call has no count"
        if not isinstance(call.get("completed"), bool):
            return "a call does not say whether it was completed"
        for sample in call["samples"]:
            if wrong := _wrong_arguments(sample):
                return wrong
    return ""


def _wrong_arguments(data: Any) -> str:
    if not isinstance(data, dict) or not isinstance(data.get("args"), list) or not isinstance(data.get("kwargs"), dict):
        return "arguments are missing"
    return next(filter(None, map(flaw, [*data["args"], *data["kwargs"].values()])), "")
