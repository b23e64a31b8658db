"""The stated limits of a split: `python -m benchmarks.units --python PATH [--runs N]`.

On a 12-layer encoder of width 256 a new head in a live process takes at least 8 times less than the one graph made
anew, forward and with gradients; the first compilation takes at most 1.25 times as long. Both are judged by CPU time,
since other work on the machine is none of theirs; the time that passed is printed too. Exit status 1 where a limit does
not hold.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from graphward.bench.split import versions
from graphward.bench.units import Bench
from graphward.config import Config
from graphward.verify.targets import Target

HERE = Path(__file__).parent
FASTER_HEAD = 8.0
SLOWER_FIRST = 1.25
INPUTS = ["i32[4,32]<1000", "i32[4]<8"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="an interpreter with MindSpore")
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    target = Target(HERE, "classifier.py", "Classifier")
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        both = versions(target, Config(root=HERE), Path(folder))
        bench = Bench(target.file, "Classifier", INPUTS, both, "head",
                      python=asked.python, runs=asked.runs, timeout=600)  # fmt: skip
        found = bench.run(cache=False)
    for mode in ("forward", "gradient"):
        before, after = getattr(found, mode)["before"], getattr(found, mode)["after"]
        if before.error or after.error:
            sys.exit(before.error or after.error)
        for row, limit in (("head", FASTER_HEAD), ("first", 1 / SLOWER_FIRST)):
            ratio = before.cpu[row] / after.cpu[row]
            missed += ratio < limit
            verdict = "" if ratio >= limit else "  MISSED"
            sys.stdout.write(f"{mode:9} {row:6} {before.cpu[row]:7.2f} s {after.cpu[row]:7.2f} s CPU {ratio:6.2f}x "
                             f"(at least {limit:.2f}x){verdict}; passed {before.medians[row]:.2f} s and "
                             f"{after.medians[row]:.2f} s\n")  # fmt: skip
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
