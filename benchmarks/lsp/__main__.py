"""`python -m benchmarks.lsp`: a table, JSON, and status 1 when an editor would have to wait too long.

A real client over stdio: it opens a file of a published package, types in the middle of a `construct`, and waits for
the diagnostics of each version. The sizes are those of real files (the largest is one of them with another behind it).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ..check.corpus import download
from .client import Client
from .texts import Text, texts

ROOT = Path(__file__).resolve().parents[2]
# Milliseconds, median.
LIMITS = {8_000: 30.0, 100_000: 150.0, 318_000: 400.0}
ACTIONS, START = 50.0, 400.0
# The memory after all edits, against that after the first tenth of them.
GROWTH = 1.10
SMALL = """from mindspore import nn, ops


class Net(nn.Cell):
    def construct(self, x):
        return ops.exp(x.asnumpy())
"""


@dataclass(frozen=True)
class Figure:
    """One measurement in milliseconds (a ratio for memory), and its limit."""

    name: str
    value: float
    limit: float

    @property
    def good(self) -> bool:
        return self.value <= self.limit


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lsp", description=__doc__)
    parser.add_argument("--wheels", type=Path, default=ROOT / ".cache" / "wheels", help="where the packages are kept")
    parser.add_argument("--repeat", type=int, default=15, help="edits measured for each size")
    parser.add_argument("--starts", type=int, default=9, help="starts measured, after one that fills the caches")
    parser.add_argument("--edits", type=int, default=10_000, help="edits of the memory test; 0 leaves it out")
    parser.add_argument("--json", type=Path, default=ROOT / ".cache" / "bench-lsp.json", help="where figures go")
    parser.add_argument("--report-only", action="store_true", help="status 0 whatever the figures are")
    return parser.parse_args()


def start_up(folder: Path, repeat: int) -> Iterator[float]:
    """Milliseconds from the start of the process to the first diagnostics of a small project."""
    path = folder / "net.py"
    path.write_text(SMALL, encoding="utf-8")
    for i in range(repeat + 1):
        client = Client(folder)
        client.open(path)
        took = (time.perf_counter() - client.started) * 1000
        client.close()
        if i:  # the first reads files that the system has not in memory yet, and writes what Python compiles
            yield took


def typing(client: Client, path: Path, text: Text, repeat: int) -> tuple[float, float]:
    """Milliseconds, median, until diagnostics after an edit, and until code actions for the last of the findings."""
    client.open(path)
    edits, actions = [], []
    for i in range(repeat):
        word = f"{text.indent}_typed = {i}\n"
        edits.append(client.insert(path, text.line, word) * 1000)
        place = {"line": text.line + i + 1, "character": 0}
        params = {
            "textDocument": {"uri": path.as_uri()},
            "range": {"start": place, "end": {"line": place["line"] + 30, "character": 0}},
            "context": {"diagnostics": []},
        }
        started = time.perf_counter()
        client.request("textDocument/codeAction", params)
        actions.append((time.perf_counter() - started) * 1000)
        time.sleep(0.4)  # a person pauses now and then
    return statistics.median(edits), statistics.median(actions)


def growth(folder: Path, text: Text, edits: int) -> float:
    """The server's memory after all edits as a multiple of that after a tenth of them."""
    path = folder / "typed.py"
    path.write_text(text.text, encoding="utf-8")
    client = Client(folder)
    client.open(path)
    early = 0
    for i in range(edits):
        client.insert(path, text.line, f"{text.indent}a{i % 7}", replaced=0 if i == 0 else len(text.indent) + 2)
        if i == edits // 10:
            early = client.memory()
    late = client.memory()
    client.close()
    return late / early


def figures(options: argparse.Namespace) -> Iterator[Figure]:
    wheels = download(options.wheels)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        found = texts(wheels, LIMITS)
        small = folder / "small"
        small.mkdir()
        yield Figure("start-up to first diagnostics", statistics.median(start_up(small, options.starts)), START)
        for size, limit in LIMITS.items():
            own = folder / str(size)
            own.mkdir()
            path = own / "edited.py"
            path.write_text(found[size].text, encoding="utf-8")
            client = Client(own)
            edit, action = typing(client, path, found[size], options.repeat)
            client.close()
            kilobytes = len(found[size].text.encode()) // 1000
            yield Figure(f"diagnostics after an edit, {kilobytes} kB", edit, limit)
            yield Figure(f"code actions, {kilobytes} kB", action, ACTIONS)
        if options.edits:
            yield Figure(f"memory over {options.edits} edits", growth(small, found[8_000], options.edits), GROWTH)


def main() -> int:
    options = arguments()
    measured = []
    for figure in figures(options):
        measured.append(figure)
        unit = "x" if figure.name.startswith("memory") else "ms"
        print(f"{figure.name:40} {figure.value:8.2f} {unit:2}  limit {figure.limit:.2f}  "
              f"load {os.getloadavg()[0]:.1f}  {'' if figure.good else 'TOO MUCH'}", flush=True)  # fmt: skip
    options.json.parent.mkdir(parents=True, exist_ok=True)
    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    data = {
        "revision": revision, "python": sys.version.split()[0], "load": os.getloadavg()[0],
        "figures": [asdict(f) for f in measured],
    }  # fmt: skip
    options.json.write_text(json.dumps(data, indent=2), encoding="utf-8")
    return 0 if options.report_only or all(f.good for f in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
