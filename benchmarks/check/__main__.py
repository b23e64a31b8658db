"""`python -m benchmarks.check`: prints a table, writes JSON, fails when `graphward check` costs too much."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from . import baseline, corpus
from .measure import Cost, run

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 2.0
# The codemods that the limit was set for: NumPy on Tensors, Cell structure, and what the first real models needed.
LIMITED = "GW101,GW102,GW110,GW111,GW201,GW202,GW203,GW204,GW205,GW310"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check", description=__doc__)
    parser.add_argument("--wheels", type=Path, default=ROOT / ".cache" / "wheels", help="where the wheels are kept")
    parser.add_argument("--json", type=Path, default=ROOT / ".cache" / "bench-check.json", help="where figures go")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each command; the median counts")
    parser.add_argument("--limit", type=float, default=LIMIT, help="CPU time of check over ast.parse that is too much")
    return parser.parse_args()


def measure(files: list[Path], tree: Path, scratch: Path, rounds: int) -> tuple[dict[str, Cost], int]:
    """Median costs of ast.parse, and of check with the codemods that the limit is for, with all of them in one process,
    as by default, and with a warm cache; the number of findings."""
    listing = scratch / "files.txt"
    listing.write_text("".join(f"{file}\n" for file in files), encoding="utf-8")
    output = scratch / "findings.json"
    # A cache of its own, so that the first cached run starts cold and the user's cache is left alone. Python code is
    # compiled once, as it is where pip installs it, also from a checkout and where the environment forbids it.
    env = {**os.environ, "XDG_CACHE_HOME": str(scratch / "cache"), "PYTHONPYCACHEPREFIX": str(scratch / "compiled")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    check = [str(Path(sys.executable).parent / "graphward"), "check", "--output-format", "json", str(tree)]
    uncached = [*check, "--no-cache"]
    commands = {
        "ast.parse": [sys.executable, baseline.__file__],
        # One process against one process: two that share the caches of a processor cost each other CPU time.
        "check, first codemods": [*uncached, "--select", LIMITED, "-j", "1"],
        "check, one process": [*uncached, "-j", "1"],
        "check": uncached,
        "check, warm cache": check,
    }

    def once(name: str) -> Cost:
        cost, status = run(commands[name], stdin=listing if name == "ast.parse" else None, stdout=output, env=env)
        if status not in (0, 1) or (name == "ast.parse" and status):
            sys.exit(f"{' '.join(commands[name])} ended with status {status}")
        return cost

    once("check, warm cache")  # fills the cache
    # Alternating, so that a machine that slows down meanwhile slows all of them.
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name in commands:
            costs[name].append(once(name))
    findings = len(json.loads(output.read_text(encoding="utf-8")))
    return {name: Cost.median(rows) for name, rows in costs.items()}, findings


def main() -> None:
    args = arguments()
    wheels = corpus.download(args.wheels)
    with tempfile.TemporaryDirectory(prefix="graphward-bench-") as folder:
        scratch = Path(folder)
        tree = scratch / "packages"
        files = corpus.unpack(wheels, tree)
        megabytes = sum(file.stat().st_size for file in files) / 1e6
        medians, findings = measure(files, tree, scratch, args.rounds)

    yardstick = medians["ast.parse"]
    print(f"{len(files):,} files, {megabytes:.1f} MB, {findings:,} findings, median of {args.rounds} runs")
    print(f"{'':24}{'CPU s':>8}{'x':>7}{'wall s':>9}{'x':>7}{'RSS MB':>9}{'x':>7}")
    for name, cost in medians.items():
        times = cost.over(yardstick)
        print(
            f"{name:24}{cost.cpu_s:8.2f}{times.cpu_s:7.2f}{cost.wall_s:9.2f}{times.wall_s:7.2f}"
            f"{cost.rss_mb:9.0f}{times.rss_mb:7.2f}"
        )

    ratio = medians["check, first codemods"].over(yardstick).cpu_s
    result = {
        "packages": dict(corpus.PACKAGES),
        "files": len(files),
        "megabytes": round(megabytes, 1),
        "findings": findings,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "rounds": args.rounds,
        "limit": args.limit,
        "cpu_ratio": round(ratio, 3),
        "costs": {name: {key: round(value, 3) for key, value in asdict(c).items()} for name, c in medians.items()},
    }
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if ratio > args.limit:
        sys.exit(f"graphward check with {LIMITED} costs {ratio:.2f} times ast.parse's CPU; the limit is {args.limit:g}")


if __name__ == "__main__":
    main()
