"""`python -m benchmarks.inputs`: how many of the Cells of seven public packages run with inferred inputs, and why the
rest does not.

The denominator that counts is that of the Cells which need only tensors and plain arguments, as their source says.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ..check import corpus
from .cells import CellClass, cell_classes, stratified
from .needs import CONFIG, OTHER, PLAIN
from .reasons import RUNS, reason
from .running import Running

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Outcome:
    """One Cell: why it does not run, or RUNS; `message` is that of the error, `target` the expression found."""

    cell: CellClass
    reason: str
    message: str
    target: str | None
    specs: list[str] | None
    notes: list[str]
    seconds: float


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inputs", description=__doc__)
    parser.add_argument("--wheels", type=Path, default=ROOT / ".cache" / "wheels", help="where the wheels are kept")
    parser.add_argument("--packages", type=Path, help="the wheels unpacked, each in a folder of its name")
    parser.add_argument(
        "--python", action="append", default=[], metavar="[PACKAGE=]PATH",
        help="has MindSpore and what the packages, or this one, need; may be repeated",
    )  # fmt: skip
    parser.add_argument("--only", action="append", help="a package, or the beginning of a Cell's id; may be repeated")
    parser.add_argument("--kind", choices=("plain", "config", "other"), help="only Cells that need this")
    parser.add_argument("--sample", type=int, help="that many Cells, from each package and kind in proportion")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=10.0, help="seconds of search for one Cell")
    parser.add_argument("--gigabytes", type=int, default=6, help="memory for one Cell")
    parser.add_argument("-j", type=int, default=2, dest="slots", help="packages at once")
    parser.add_argument("--json", type=Path, help="write every outcome there")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    with tempfile.TemporaryDirectory(prefix="graphward-inputs-") as folder:
        packages = args.packages
        if packages is None:
            packages = Path(folder) / "packages"
            corpus.unpack(corpus.download(args.wheels), packages)
        cells = [c for name, _ in corpus.PACKAGES for c in cell_classes(packages / name)]
        wanted = {"plain": PLAIN, "config": CONFIG, "other": OTHER}.get(args.kind)
        cells = [c for c in cells if wanted is None or c.needs.kind == wanted]
        cells = [c for c in cells if not args.only or c.id.startswith(tuple(args.only))]
        chosen = cells if args.sample is None else stratified(cells, args.sample, args.seed)
        print(f"{len(cells)} Cells, {len(chosen)} of them tried", file=sys.stderr, flush=True)
        outcomes = []
        running = Running(interpreters(args.python), packages, Path(folder), args.budget, args.gigabytes, args.slots)
        for cell, end, seconds in running.results(chosen):
            why, message = reason(end)
            value = end["value"] or {}
            outcomes.append(
                Outcome(cell, why, message, value.get("expr"), value.get("specs"), value.get("notes") or [], seconds)
            )
            print(f"{len(outcomes)}/{len(chosen)} {cell.id}: {why}", file=sys.stderr, flush=True)
    if args.json is not None:
        rows = [
            {"id": o.cell.id, "needs": o.cell.needs.kind, "because of": o.cell.needs.names, "reason": o.reason,
             "message": o.message, "target": o.target, "specs": o.specs, "notes": o.notes, "seconds": o.seconds}
            for o in outcomes
        ]  # fmt: skip
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    show(outcomes)


def interpreters(given: list[str]) -> dict[str, str]:
    """Package -> interpreter; that of all others under the empty name."""
    found = {"": sys.executable}
    for text in given:
        package, separator, path = text.partition("=")
        found[package if separator else ""] = path if separator else text
    return found


def show(outcomes: list[Outcome]) -> None:
    kinds = (PLAIN, CONFIG, OTHER)
    print(f"\n{'':14}" + "".join(f"{kind:>48}" for kind in kinds))
    for package in [*dict.fromkeys(o.cell.package for o in outcomes), None]:
        row = f"{package or 'all':14}"
        for kind in kinds:
            these = [o for o in outcomes if o.cell.needs.kind == kind and package in (None, o.cell.package)]
            runs = sum(o.reason == RUNS for o in these)
            row += f"{f'{runs} of {len(these)}' + (f' ({runs / len(these):.0%})' if these else ''):>48}"
        print(row)
    counts = Counter((o.reason, o.cell.needs.kind) for o in outcomes)
    print(f"\n{'reason':74}{'plain':>7}{'config':>8}{'other':>7}")
    for name in sorted({r for r, _ in counts}, key=lambda r: -sum(counts[r, k] for k in kinds)):
        print(f"{name:74}{counts[name, PLAIN]:>7}{counts[name, CONFIG]:>8}{counts[name, OTHER]:>7}")


if __name__ == "__main__":
    main()
