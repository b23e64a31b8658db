"""`python -m benchmarks.inputs`: how many of the Cells of seven public packages run with inferred inputs, and why the
rest does not.

The denominator that counts is that of the Cells which need only tensors and plain arguments, as their source says, and
which this machine can import and has the kernels, files and packages for, as the errors say. All others are listed by
reason as well.
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
from .needs import CONFIG, KINDS, OTHER, PLAIN
from .reasons import RUNS, Reason, reason
from .running import Running

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Outcome:
    """One Cell: why it does not run, or RUNS; `message` is that of the error, `target` the expression found."""

    cell: CellClass
    reason: Reason
    message: str
    target: str | None
    specs: list[str] | None
    notes: list[str]
    seconds: float

    @property
    def counts(self) -> bool:
        """Whether it is one of those that should run."""
        return self.cell.needs.kind == PLAIN and not self.reason.outside


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
    parser.add_argument("--again", type=Path, metavar="JSON", help="only those that did not run there, nor lie outside")
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
        if args.again is not None:
            rows = json.loads(args.again.read_text(encoding="utf-8"))
            failed = {row["id"] for row in rows if row["reason"] != RUNS.name and not row["outside"]}
            cells = [c for c in cells if c.id in failed]
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
            print(f"{len(outcomes)}/{len(chosen)} {cell.id}: {why.name}", file=sys.stderr, flush=True)
    if args.json is not None:
        rows = [
            {"id": o.cell.id, "needs": o.cell.needs.kind, "because of": o.cell.needs.names, "reason": o.reason.name,
             "outside": o.reason.outside, "message": o.message, "target": o.target, "specs": o.specs,
             "notes": o.notes, "seconds": o.seconds}
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
    print(f"\n{'':14}{'of all':>20}{'of those that need only tensors and plain arguments':>56}")
    for package in [*dict.fromkeys(o.cell.package for o in outcomes), None]:
        these = [o for o in outcomes if package in (None, o.cell.package)]
        print(f"{package or 'all':14}{share(these):>20}{share([o for o in these if o.counts]):>56}")
    counts = Counter((o.reason, o.cell.needs.kind) for o in outcomes)
    found = sorted({r for r, _ in counts}, key=lambda r: (r != RUNS, r.outside, -sum(counts[r, k] for k in KINDS)))
    print("\nWhat the Cells need, and how it ended (* not among those that should run, whatever they need):")
    print(f"{'':76}{'plain':>7}{'config':>8}{'objects':>9}{'abstract':>10}")
    for name in found:
        columns = "".join(f"{counts[name, kind]:>{width}}" for kind, width in zip(KINDS, (7, 8, 9, 10)))
        print(f"{'* ' if name.outside else '  '}{name.name:74}{columns}")


def share(outcomes: list[Outcome]) -> str:
    runs = sum(o.reason == RUNS for o in outcomes)
    return f"{runs} of {len(outcomes)}" + (f" ({runs / len(outcomes):.0%})" if outcomes else "")


if __name__ == "__main__":
    main()
