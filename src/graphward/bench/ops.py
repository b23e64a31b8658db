"""`graphward bench --ops`: hand-written operators beside the native ones, measured here and now."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import graphward_worker

from ..errors import GraphwardError

SIZES = ("small", "medium", "large")
PASSES = ("forward", "gradient")
FORMS = {"pynative": "PyNative", "hand": "graph, by hand", "native": "graph, native"}
# One pair at one size; the gradient of a native operator was seen to take more than ten minutes.
_STALLED = 120.0
_START = 180.0  # importing MindSpore from a cold disk
_POLL = 0.2
_TAIL = 600

Row = dict[str, Any]


@dataclass(frozen=True)
class OperatorTable:
    """What was measured: `about` holds the versions of MindSpore and NumPy and the number of cores; each row a pair at
    a size, with the seconds of one call by form (`min`, `median`), or why there are none."""

    about: dict[str, Any]
    rows: list[Row]

    def to_json(self) -> str:
        return json.dumps({**self.about, "rows": self.rows})


def measure_operators(
    python: str | None = None, *, only: str = "", seconds: float = 0.6,
    progress: Callable[[int, int, str], None] | None = None,
) -> OperatorTable:  # fmt: skip
    """Measure every pair, or those of the operator `only`; `seconds` are spent on each pair, size and pass. `progress`
    is told how many rows are done, of how many, and the operator. Raises GraphwardError when nothing can be
    measured."""
    about: dict[str, Any] = {}
    rows: list[Row] = []
    start = 0
    while True:
        begun: Row | None = None
        for line in _lines(python, ["--start", str(start), "--only", only, "--seconds", str(seconds)]):
            if "mindspore" in line:
                about = line
            elif line.get("begun"):
                begun = line
            else:
                begun = None
                rows.append({key: value for key, value in line.items() if key != "step"})
                if progress is not None:
                    progress(int(line["step"]) + 1, int(about["pairs"]) * len(SIZES), str(line["name"]))
        if begun is None:
            break
        rows.append({**{k: begun[k] for k in ("name", "form", "size")}, "where": "",
                     "error": f"it did not end within {_STALLED:g} s"})  # fmt: skip
        start = int(begun["step"]) + 1
    about.pop("pairs", None)
    return OperatorTable(about, rows)


def _lines(python: str | None, arguments: list[str]) -> Iterator[Row]:
    """The lines of one process as they come, until it ends or falls silent."""
    with tempfile.TemporaryDirectory(prefix="graphward-bench-") as folder:
        out = Path(folder, "rows.jsonl")
        out.touch()
        with _process(python, [*arguments, "--out", str(out)], Path(folder)) as process, out.open() as found:
            heard = time.monotonic()
            limit = _START
            waiting = ""
            while True:
                ended = process.poll() is not None
                for piece in iter(found.readline, ""):
                    waiting += piece
                    if waiting.endswith("\n"):
                        yield json.loads(waiting)
                        waiting = ""
                        heard, limit = time.monotonic(), _STALLED
                if ended:
                    break
                if time.monotonic() - heard > limit:
                    return
                time.sleep(_POLL)
            if process.returncode:
                tail = Path(folder, "stderr.txt").read_bytes()[-_TAIL:].decode(errors="replace").strip()
                why = tail.splitlines()[-1] if tail else f"the process ended with status {process.returncode}"
                hint = "--python takes the path of a Python with MindSpore"
                raise GraphwardError(f"the operators cannot be measured: {why}", hint=hint)


@contextmanager
def _process(python: str | None, arguments: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    script = Path(graphward_worker.__file__).parent / "bench" / "__main__.py"
    command = [python or sys.executable, str(script), *arguments]
    everything = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "GLOG_v": "4"}
    with Path(folder, "stderr.txt").open("wb") as log:
        try:
            process = subprocess.Popen(command, cwd=folder, env=everything, stdout=log, stderr=log)
        except OSError as error:
            raise GraphwardError(f"cannot run {command[0]}: {error.strerror}", hint="check --python") from None
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def render_text(table: OperatorTable) -> Iterator[str]:
    """The table as lines: milliseconds of one call, the shortest of many, forward and with gradient, and how many times
    as fast the native operator is than the same by hand in the graph."""
    about = table.about
    yield (f"MindSpore {about.get('mindspore')}, NumPy {about.get('numpy')}, CPU, {about.get('cores')} cores. "
           "Milliseconds of one call, forward / with gradient.")  # fmt: skip
    name = ""
    for row in table.rows:
        if row["name"] != name:
            name = row["name"]
            yield ""
            yield f"{name:46}{'':22}" + "".join(f"{title:>18}" for title in FORMS.values()) + f"{'native is':>16}"
        head = f"  {row['form'] if row['size'] == SIZES[0] else '':44}"
        if "error" in row:
            where = FORMS.get(row["where"], "all forms")
            yield f"{head}{row['size']:22}{where}: {row['error']}"
            continue
        shapes = " ".join("x".join(map(str, shape)) for shape in row["shapes"][:2])
        cells = [" / ".join(_milliseconds(row, which, form) for which in PASSES) for form in FORMS]
        gains = " / ".join(_gain(row, which) for which in PASSES)
        yield f"{head}{shapes:22}" + "".join(f"{cell:>18}" for cell in cells) + f"{gains:>16}"


def _milliseconds(row: Row, which: str, form: str) -> str:
    return f"{row[which][form]['min'] * 1000:.2f}" if which in row else "-"


def _gain(row: Row, which: str) -> str:
    return f"{row[which]['hand']['min'] / row[which]['native']['min']:.2f}x" if which in row else "-"
