"""`python -m benchmarks.verify`: a table, JSON, and status 1 when the proof of 50 small Cells is not fast enough.

Compared with one fresh process for each Cell (`fresh.py`), one after the other, as a script or a test would do it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from graphward.verify.jobs import Job
from graphward.verify.session import Session

from .cases import CELLS, Case, cases

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 8.0


@dataclass(frozen=True)
class Cost:
    """Seconds for all Cells; CPU is user plus system of all processes."""

    wall_s: float
    cpu_s: float


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verify", description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has MindSpore")
    parser.add_argument("--cells", type=int, default=50, help="how many of the Cells are proven")
    parser.add_argument("--slots", type=int, default=2, help="plays at once in the worker")
    parser.add_argument("--json", type=Path, default=ROOT / ".cache" / "bench-verify.json", help="where figures go")
    parser.add_argument("--limit", type=float, default=LIMIT, help="how many times faster the proof has to be")
    return parser.parse_args()


def cost_of(action: Callable[[], None]) -> Cost:
    """What `action` and the processes that it started cost; it waits for them."""

    def cpu() -> float:
        parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(part.ru_utime + part.ru_stime for part in parts)

    before, started = cpu(), time.perf_counter()
    action()
    return Cost(time.perf_counter() - started, cpu() - before)


def fresh(chosen: Sequence[Case], python: str) -> None:
    """One process for each Cell."""
    script = Path(__file__).with_name("fresh.py")
    environment = {**os.environ, "GLOG_v": "3"}
    for case in chosen:
        shape = ",".join(map(str, case.shape))
        command = [python, str(script), str(CELLS / case.file), case.name, shape]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{case.file}::{case.name} in a fresh process: {done.stderr[-2000:]}")


def proven(chosen: Sequence[Case], python: str, slots: int) -> None:
    """All Cells in one session, its start included."""
    jobs = [
        Job(f"{case.file}::{case.name}", CELLS, case.file, case.name, inputs=(f"f32{list(case.shape)}",))
        for case in chosen
    ]
    with Session(python=python, slots=slots) as session:
        for verdict in session.verdicts(jobs):
            if not verdict.verified:
                sys.exit(f"{verdict.target}: {verdict.verdict}: {verdict.message}")


def main() -> None:
    args = arguments()
    chosen = cases()[: args.cells]
    costs = {
        "a process for each Cell": cost_of(lambda: fresh(chosen, args.python)),
        "graphward verify": cost_of(lambda: proven(chosen, args.python, args.slots)),
    }
    yardstick, own = costs.values()
    print(f"{len(chosen)} Cells, {args.slots} plays at once on {os.cpu_count()} cores")
    print(f"{'':26}{'wall s':>9}{'s/Cell':>9}{'CPU s':>9}{'faster':>9}")
    for name, cost in costs.items():
        faster = yardstick.wall_s / cost.wall_s
        print(f"{name:26}{cost.wall_s:9.1f}{cost.wall_s / len(chosen):9.2f}{cost.cpu_s:9.1f}{faster:9.1f}")

    ratio = yardstick.wall_s / own.wall_s
    result = {
        "cells": len(chosen),
        "slots": args.slots,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "limit": args.limit,
        "times_faster": round(ratio, 2),
        "cpu_ratio": round(yardstick.cpu_s / own.cpu_s, 2),
        "costs": {name: {key: round(value, 3) for key, value in asdict(c).items()} for name, c in costs.items()},
    }
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if ratio < args.limit:
        sys.exit(f"the proof is {ratio:.1f} times faster than a process for each Cell; it has to be {args.limit:g}")


if __name__ == "__main__":
    main()
