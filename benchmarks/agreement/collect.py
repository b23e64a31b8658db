"""`python -m benchmarks.agreement.collect`: has the compiler judge real Cells, and stores what it says.

Run by hand when the proof or the packages change; the result is data, `fixtures/agreement/real.json`. Cells are taken
from the packages in turn, in an order drawn with a fixed seed; those that cannot be imported, made or called with
inferred arguments are left out.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

from graphward.analysis.project import is_cell_name
from graphward.config import Config
from graphward.engine.check import analyse
from graphward.engine.workspace import Workspace
from graphward.migrate.coverage import Coverage, ProofTarget
from graphward.verify.jobs import Job, Options
from graphward.verify.session import Session
from graphward.verify.verdicts import Verdict

from .stored import FIXTURES

# What a verdict of the proof says about the syntax. Compiling again is a matter of speed. The others say nothing: a
# missing kernel may have ended the run before any compiler saw the code.
WORDS = {"verified": "accepts", "recompiles": "accepts", "fails": "rejects", "falls-back": "falls-back",
         "diverges": "diverges"}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement.collect", description=__doc__)
    parser.add_argument("packages", type=Path, help="folder with the unpacked packages, each in a folder of its name")
    parser.add_argument("names", nargs="+", help="the packages")
    parser.add_argument("--python", help="the interpreter that has MindSpore and what the packages need")
    parser.add_argument("--each", type=int, default=60, help="Cells to try of each package")
    parser.add_argument("--largest", type=int, default=1000, help="functions that a Cell may run through")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=40.0)
    parser.add_argument("--output", type=Path, default=FIXTURES / "real.json")
    args = parser.parse_args()
    rows = json.loads(args.output.read_text(encoding="utf-8")) if args.output.exists() else []
    for name in args.names:
        before = len(rows)
        # Written after each: a run takes hours, and what it has found so far stands on its own.
        for found in collect(args.packages / name, args):
            rows = [r for r in rows if _place(r) != _place(found)] + [found]
            rows.sort(key=_place)
            args.output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        print(f"{name}: {len(rows) - before} more judged")


def _place(found: dict[str, str]) -> tuple[str, str, str]:
    return found["package"], found["module"], found["class"]


def collect(tree: Path, args: argparse.Namespace) -> Iterator[dict[str, str]]:
    targets = [t for t in candidates(tree) if len(t.places) <= args.largest]
    random.Random(args.seed).shuffle(targets)
    chosen = targets[: args.each]
    jobs = [
        Job(str(i), tree, t.target.file, t.target.expr or "", options=Options(timeout=args.timeout))
        for i, t in enumerate(chosen)
    ]
    with Session(python=args.python) as session:
        for verdict in session.verdicts(jobs, lambda done, total, name: print(f"{done}/{total} {name}", flush=True)):
            word = WORDS.get(verdict.verdict)
            if word is not None:
                target = chosen[int(verdict.id)].target
                yield {"package": tree.name, "module": target.file, "class": target.expr or "", "verdict": word,
                       "message": message(verdict)}  # fmt: skip


def candidates(tree: Path) -> list[ProofTarget]:
    """Every Cell of the package that can be named from outside, those of its tests and tools left out."""
    workspace = Workspace(sorted(tree.rglob("*.py")))
    found = Coverage(workspace, analyse(workspace), Config(root=tree)).regions
    return [t for t in found if t.target.expr and t.target.expr[0].isupper() and not is_cell_name(t.target.expr)]


def message(verdict: Verdict) -> str:
    """One line without folders, which differ from machine to machine."""
    side = verdict.judged
    text = verdict.message
    if side is not None and side.error is not None:
        text = f"{side.error.type}: {side.error.message}"
    elif side is not None and side.difference is not None:
        text = f"{side.difference.part} {side.difference.what}: {side.difference.detail}"
    elif side is not None and side.nodes:
        text = f"{side.nodes[0].name}: {side.nodes[0].script}"
    return re.sub(r"/\S*/", "", " ".join(text.split()))[:200]


if __name__ == "__main__":
    main()
