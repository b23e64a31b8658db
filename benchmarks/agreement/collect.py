"""`python -m benchmarks.agreement.collect`: has the compiler judge real Cells, and stores what it says.

Run by hand when the proof or the packages change; the result is data, `fixtures/agreement/real.json`. Cells are taken
from the packages in turn, in an order drawn with a fixed seed; those that cannot be imported, made or called with
inferred arguments are left out, and so are those whose operators lack a kernel on this device. `--prefer` moves those
up whose `construct` matches a pattern, `--declared` adds Cells with constructor arguments and inputs written by hand,
`fixtures/agreement/declared.json`. Neither asks what the tool predicts.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphward.analysis.project import is_cell_name
from graphward.config import Config
from graphward.engine.check import analyse
from graphward.engine.workspace import Workspace
from graphward.migrate.coverage import Coverage, ProofTarget
from graphward.verify.jobs import Job, Options
from graphward.verify.session import Session
from graphward.verify.targets import Target
from graphward.verify.verdicts import Verdict

from .stored import FIXTURES

DECLARED = FIXTURES / "declared.json"
# What a verdict of the proof says about the syntax. Compiling again is a matter of speed. The others say nothing: a
# missing kernel may have ended the run before any compiler saw the code.
WORDS = {"verified": "accepts", "recompiles": "accepts", "fails": "rejects", "falls-back": "falls-back",
         "diverges": "diverges"}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement.collect", description=__doc__)
    parser.add_argument("packages", type=Path, help="folder with the unpacked packages, each in a folder of its name")
    parser.add_argument("names", nargs="*", help="the packages")
    parser.add_argument("--python", help="the interpreter that has MindSpore and what the packages need")
    parser.add_argument("--each", type=int, default=60, help="Cells to try of each package")
    parser.add_argument("--prefer", type=re.compile, help="first the Cells in whose `construct` this is found")
    parser.add_argument("--declared", action="store_true", help=f"the Cells of {DECLARED.name} as well")
    parser.add_argument("--largest", type=int, default=1000, help="functions that a Cell may run through")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=40.0)
    parser.add_argument("--output", type=Path, default=FIXTURES / "real.json")
    args = parser.parse_args()
    rows = json.loads(args.output.read_text(encoding="utf-8")) if args.output.exists() else []
    for name in args.names:
        jobs = inferred(args.packages / name, args)
        if args.declared:
            jobs = declared(args.packages, name, args.timeout) + jobs
        before = len(rows)
        # Written after each: a run takes hours, and what it has found so far stands on its own.
        for found in judged(name, jobs, args.python):
            rows = [r for r in rows if _place(r) != _place(found)] + [found]
            rows.sort(key=_place)
            args.output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        print(f"{name}: {len(rows) - before} more judged")


def _place(found: dict[str, Any]) -> tuple[str, str, str]:
    return found["package"], found["module"], found["class"]


def inferred(tree: Path, args: argparse.Namespace) -> list[Job]:
    """Cells drawn from a package; the proof infers how to make and call them."""
    if args.each == 0:
        return []
    targets = [t.target for t in candidates(tree) if len(t.places) <= args.largest]
    random.Random(args.seed).shuffle(targets)
    if args.prefer:
        targets.sort(key=lambda t: args.prefer.search(construct_text(t)) is None)
    options = Options(timeout=args.timeout)
    return [Job(f"{t.file}::{t.expr}", tree, t.file, t.expr or "", options=options) for t in targets[: args.each]]


def declared(packages: Path, name: str, timeout: float) -> list[Job]:
    """The Cells of a package that `declared.json` says how to make and call. Raises GraphwardError for a bad entry."""
    jobs = []
    for entry in json.loads(DECLARED.read_text(encoding="utf-8")):
        if entry["package"] == name:
            target = Target(packages / name, entry["module"], entry["target"])
            options = Options(timeout=timeout)
            jobs.append(Job.of(target, id=f"declared {target}", inputs=entry["inputs"], options=options))
    return jobs


def judged(package: str, jobs: list[Job], python: str | None) -> Iterator[dict[str, Any]]:
    """One row for each job whose verdict says something of the syntax; how many said what is printed at the end."""
    asked = {job.id: job for job in jobs}
    said: Counter[str] = Counter()
    with Session(python=python) as session:
        for verdict in session.verdicts(jobs, lambda done, total, name: print(f"{done}/{total} {name}", flush=True)):
            said[verdict.verdict] += 1
            word, job = WORDS.get(verdict.verdict), asked[verdict.id]
            if word is not None:
                found = {"package": package, "module": job.file, "class": re.split(r"[(.]", job.expr)[0],
                         "verdict": word, "message": message(verdict)}  # fmt: skip
                yield found | ({} if job.inputs is None else {"target": job.expr, "inputs": list(job.inputs)})
    print(f"{package}: {dict(said)}")


def construct_text(target: Target) -> str:
    """The source of the class's own `construct`; empty where it inherits one."""
    text = target.path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef) and node.name == target.expr:
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name == "construct":
                    return ast.get_source_segment(text, item) or ""
    return ""


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
