"""Runs one command and reads off what it cost."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """CPU seconds are user plus system of the process and all children it waited for.

    `rss_mb` is the peak of the largest single process among them, as the kernel reports it.
    """

    cpu_s: float
    wall_s: float
    rss_mb: float

    @staticmethod
    def median(costs: list[Cost]) -> Cost:
        rows = [asdict(cost) for cost in costs]
        return Cost(**{key: statistics.median(row[key] for row in rows) for key in rows[0]})

    def over(self, other: Cost) -> Cost:
        """This cost as a multiple of another, field by field."""
        return Cost(self.cpu_s / other.cpu_s, self.wall_s / other.wall_s, self.rss_mb / other.rss_mb)


def run(command: list[str], *, stdin: Path | None, stdout: Path, env: Mapping[str, str]) -> tuple[Cost, int]:
    """The cost of `command` and its exit status."""
    with stdout.open("wb") as out, (stdin or Path(os.devnull)).open("rb") as source:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdin=source, stdout=out, stderr=subprocess.DEVNULL, env=dict(env))
        # wait4, not resource.getrusage: the latter adds up all children this process ever had.
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024), process.returncode
