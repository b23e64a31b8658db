"""`python -m benchmarks.agreement`: prints confusion matrices and every disagreement; fails below the targets."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..check import corpus
from .cost import report_cost
from .judging import REAL_TARGETS, TARGETS, Row, Score, matrix
from .stored import FIXTURES, real_rows, stored_rows

ROOT = Path(__file__).resolve().parents[2]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement", description=__doc__)
    parser.add_argument("--real", action="store_true", help="real Cells of the public wheels as well")
    parser.add_argument("--packages", type=Path, help="the wheels unpacked; else they are, into a folder of their own")
    parser.add_argument("--wheels", type=Path, default=ROOT / ".cache" / "wheels", help="where the wheels are kept")
    return parser.parse_args()


def report(title: str, rows: list[Row], targets: Mapping[str, float]) -> list[str]:
    """Prints the disagreements, the matrix and the figures; the names of those below their target."""
    for r in rows:
        if not r.agrees:
            predicted = ", ".join((*sorted(r.predicted), *r.codes))
            print(f"{r.name}: the compiler {r.verdict}, predicted {predicted}\n    {r.message}".rstrip())
    score = Score.of(rows)
    print(f"\n{title}: {len(rows)} Cells\n{matrix(rows)}")
    print(f"flagged {score.flagged}/{score.rejected}, right consequence {score.right}/{score.rejected}, "
          f"left alone {score.left_alone}/{score.accepted}")  # fmt: skip
    low = []
    for name, share in score.figures.items():
        target = targets.get(name)
        print(f"  {name:18} {share:6.1%}" + (f"   (target {target:.0%})" if target is not None else ""))
        if target is not None and share < target:
            low.append(f"{name} of {title}")
    return low


def main() -> None:
    args = arguments()
    low = report("constructs and reports", stored_rows(), TARGETS)
    if args.real:
        verdicts = json.loads((FIXTURES / "real.json").read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory(prefix="graphward-agreement-") as folder:
            packages = args.packages
            if packages is None:
                packages = Path(folder)
                corpus.unpack(corpus.download(args.wheels), packages)
            low += report("real Cells", real_rows(packages, verdicts), REAL_TARGETS)
            report_cost(packages / "mindone")
    if low:
        sys.exit(f"below target: {', '.join(low)}")


if __name__ == "__main__":
    main()
