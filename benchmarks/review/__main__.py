"""`python -m benchmarks.review`: prints a table, writes JSON, fails when a key is answered too slowly."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

from .project import FOUND_IN_EACH, make
from .terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
LIMIT_MS = 50.0
# What is pressed, what it is called, and how often: alone, so that what is checked in the background is over, then one
# right after the other, then what decides on many findings, with the check of all of them going on beside the next key.
ESCAPE, DOWN, UP, END, HOME = b"\x1b", b"\x1b[B", b"\x1b[A", b"\x1b[F", b"\x1b[H"
KEYS: tuple[tuple[bytes, str, int], ...] = (
    (DOWN, "down", 10), (UP, "up", 10), (b"j", "next open", 10), (b"k", "open before", 10), (b"\t", "next fix", 10),
    (b"y", "accept", 10), (b"n", "reject", 10), (b"s", "silence", 10), (b"k", "open before", 2), (b"c", "clear", 4),
    (b"u", "undo", 10), (b"r", "redo", 10), (END, "end of the list", 4), (HOME, "start of the list", 4),
    (b"\r", "fold", 4), (b"n", "reject a file", 4), (b"u", "undo a file", 4),
)  # fmt: skip
BUSY: tuple[tuple[bytes, str, int], ...] = (
    (b"y", "accept in a row", 20), (DOWN, "down in a row", 20), (b"u", "undo in a row", 20),
)  # fmt: skip
WINDOW: tuple[tuple[bytes, str, int], ...] = ((b"?", "help", 1), (ESCAPE, "help away", 1))
FILTERS = (b"transpose", b"state:open", b"model_01 return", b"fix:safe")
MANY: tuple[tuple[bytes, str, int], ...] = (
    (b"F", "accept all of a file", 1), (b"u", "undo all of a file", 1),
    (b"R", "accept all of a rule", 1), (b"u", "undo all of a rule", 1), (b"r", "redo all of a rule", 1),
    (b"u", "undo it again", 1), (b"a", "accept all safe ones", 1), (b"u", "undo all safe ones", 1),
)  # fmt: skip
TO_WRITE: tuple[tuple[bytes, str, int], ...] = ((b"a", "accept all safe ones", 1),)
QUESTION: tuple[tuple[bytes, str, int], ...] = ((b"q", "quit: the question", 1), (ESCAPE, "question away", 1))
LAST: tuple[tuple[bytes, str, int], ...] = (
    (b"w", "write", 1), (DOWN, "down while it writes", 3),
)  # fmt: skip
ROUNDS = 5


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.review", description=__doc__)
    parser.add_argument("--findings", type=int, default=5000)
    parser.add_argument("--files", type=int, default=250)
    parser.add_argument("--size", default="200x50", help="columns x rows of the terminal")
    parser.add_argument("--limit", type=float, default=LIMIT_MS, help="milliseconds that are too much for a median")
    parser.add_argument("--json", type=Path, default=ROOT / ".cache" / "bench-review.json", help="where figures go")
    return parser.parse_args()


def measure(
    terminal: Terminal, keys: tuple[tuple[bytes, str, int], ...], rest: float
) -> list[tuple[str, list[float]]]:
    """Milliseconds of each press of each key, when nothing has come for `rest` seconds, and for longer before another
    key's turn: what the key before has started is over then."""
    rows = []
    for key, name, times in keys:
        taken = []
        terminal.rest(max(rest, 0.5))
        for _ in range(times):
            terminal.rest(rest)
            taken.append(terminal.answer(key) * 1000)
        rows.append((name, taken))
    return rows


def in_turns(
    terminal: Terminal, keys: tuple[tuple[bytes, str, int], ...], rest: float
) -> list[tuple[str, list[float]]]:
    """The same for keys that go one after the other, several times over: one press says little of a median."""
    rounds = [measure(terminal, keys, rest) for _ in range(ROUNDS)]
    return [(name, [taken for each in rounds for taken in each[n][1]]) for n, (_, name, _) in enumerate(keys)]


def joined(rows: list[tuple[str, list[float]]]) -> dict[str, list[float]]:
    """What the same key took, however often its turn came."""
    found: dict[str, list[float]] = {}
    for name, taken in rows:
        found.setdefault(name, []).extend(taken)
    return found


def filters(terminal: Terminal) -> list[tuple[str, list[float]]]:
    """Milliseconds until a typed filter is taken, one that changes nothing, the first of all and later ones, and until
    all is shown again."""
    taken, away, floor = [], [], []
    for _ in FILTERS:
        terminal.rest(0.5)
        terminal.answer(b"/")
        terminal.rest(0.5)
        floor.append(terminal.answer(b"\r") * 1000)
    for text in FILTERS:
        terminal.rest(0.5)
        terminal.answer(b"/")
        terminal.answer(text)
        terminal.rest(0.5)
        taken.append(terminal.answer(b"\r") * 1000)
        terminal.rest(0.5)
        away.append(terminal.answer(ESCAPE) * 1000)
    # The least that a taken filter costs: the window goes away, and the list stays as it is.
    return [
        ("filter, no change", floor), ("first text filter", taken[:1]), ("filter", taken[1:]), ("filter away", away)
    ]  # fmt: skip


def main() -> None:
    args = arguments()
    columns, rows = map(int, args.size.split("x"))
    with tempfile.TemporaryDirectory(prefix="graphward-bench-") as folder:
        scratch = Path(folder)
        project = scratch / "project"
        project.mkdir()
        make(project, args.findings, args.files)
        env = {**os.environ, "TERM": "xterm-256color", "XDG_STATE_HOME": folder, "XDG_CACHE_HOME": folder}
        for name in ("COLUMNS", "LINES"):  # they would count for more than the size of the terminal
            env.pop(name, None)
        program = str(Path(sys.executable).parent / "graphward")
        started = time.monotonic()
        terminal = Terminal([program, "review", "."], project, columns, rows, env)
        try:
            terminal.wait_for(b"quit", 300)
            seconds = time.monotonic() - started
            measured = measure(terminal, KEYS, 0.35)
            measured += in_turns(terminal, WINDOW, 0.5)
            measured += measure(terminal, BUSY, 0.05)
            measured += filters(terminal)
            measured += in_turns(terminal, MANY, 0.5)
            measured += measure(terminal, TO_WRITE, 0.05)
            measured += in_turns(terminal, QUESTION, 0.5)
            measured += measure(terminal, LAST, 0.05)
        finally:
            terminal.close()

    count = max(1, round(args.findings / args.files / FOUND_IN_EACH)) * FOUND_IN_EACH * args.files
    print(f"{count:,} findings in {args.files} files, {args.size}; on the screen after {seconds:.1f} s")
    print(f"{'':24}{'median ms':>10}{'worst ms':>10}{'presses':>9}")
    found = joined(measured)
    for name, taken in found.items():
        print(f"{name:24}{statistics.median(taken):10.1f}{max(taken):10.1f}{len(taken):9}")
    result = {
        "findings": count, "files": args.files, "size": args.size, "python": platform.python_version(),
        "cores": os.cpu_count(), "limit_ms": args.limit, "start_s": round(seconds, 2),
        "median_ms": {name: round(statistics.median(taken), 1) for name, taken in found.items()},
        "worst_ms": {name: round(max(taken), 1) for name, taken in found.items()},
    }  # fmt: skip
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    slow = [name for name, taken in found.items() if statistics.median(taken) > args.limit]
    if slow:
        sys.exit(f"more than {args.limit:g} ms to answer: {', '.join(slow)}")


if __name__ == "__main__":
    main()
