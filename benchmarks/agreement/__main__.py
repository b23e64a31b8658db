"""`python -m benchmarks.agreement`: prints confusion matrices and every disagreement; fails below the targets."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from ..check import corpus
from .cost import report_cost
from .judging import TARGETS, Row, Score, matrix
from .stored import FIXTURES, real_rows, stored_rows

ROOT = Path(__file__).resolve().parents[2]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement", description=__doc__)
    parser.add_argument("--real", action="store_true", help="real Cells of the public wheels as well")
    parser.add_argument("--packages", type=Path, help="the wheels unpacked; else they are, into a folder of their own")
    parser.add_argument("--wheels", type=Path, default=ROOT / ".cache" / "wheels", help="where the wheels are kept")
    return parser.parse_args()


def report(title: str, rows: list[Row]) -> Score:
    for r in rows:
        if not r.agrees:
            predicted = ", ".join((*sorted(r.predicted), *r.codes))
            print(f"{r.name}: the compiler {r.verdict}, predicted {predicted}\n    {r.message}".rstrip())
    score = Score.of(rows)
    print(f"\n{title}: {len(rows)} Cells\n{matrix(rows)}")
    print(f"flagged {score.flagged}/{score.rejected}, right consequence {score.right}/{score.rejected}, "
          f"left alone {score.left_alone}/{score.accepted}")  # fmt: skip
    for name, share in score.figures.items():
        print(f"  {name:18} {share:6.1%}   (target {TARGETS[name]:.0%})")
    return score


def main() -> None:
    args = arguments()
    score = report("constructs and reports", stored_rows())
    if args.real:
        verdicts = json.loads((FIXTURES / "real.json").read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory(prefix="graphward-agreement-") as folder:
            packages = args.packages
            if packages is None:
                packages = Path(folder)
                corpus.unpack(corpus.download(args.wheels), packages)
            real = report("real Cells", real_rows(packages, verdicts))
            report_cost(packages / "mindone")
        recall, precision = real.recall_and_precision
        print(f"  recall {recall:.1%}, precision {precision:.1%}")
    low = [name for name, share in score.figures.items() if share < TARGETS[name]]
    if low:
        sys.exit(f"below target: {', '.join(low)}")


if __name__ == "__main__":
    main()
