"""The material: modules with the compiler's verdicts, and what `check` predicts for each of their classes."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from graphward.analysis.calls import CallGraph
from graphward.analysis.module import ClassInfo, FunctionInfo, Module
from graphward.config import Config
from graphward.engine.check import analyse, check
from graphward.engine.workspace import Workspace
from graphward.rules.finding import Finding
from graphward.rules.registry import all_rules

from .judging import Row, row

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "agreement"


class Predictions:
    """What `check` finds in a tree, by Cell: whatever lies in code that a call of the Cell runs through, and what is
    said of the class itself."""

    def __init__(self, files: list[Path]):
        workspace = Workspace(files)
        self._project = analyse(workspace).project
        self._calls = CallGraph(self._project)
        self._modules = {m.path: m for m in self._project.modules.values()}
        self._inside: dict[FunctionInfo, list[Finding]] = {}
        self._outside: dict[Module, list[Finding]] = {}
        for path, finding in check(workspace, list(all_rules()), Config()).all_findings():
            module = self._modules.get(path)
            function = module.function_at(finding.span.start) if module else None
            if function is None and module is not None:
                self._outside.setdefault(module, []).append(finding)
            while function is not None:  # a nested function is part of those around it
                self._inside.setdefault(function, []).append(finding)
                function = function.outer

    def of(self, path: Path, name: str) -> list[tuple[str, str]]:
        """`(consequence, code)` of each finding about the class. Raises LookupError when there is no such class."""
        module = self._modules.get(path)
        cell = next((c for c in module.classes if c.qualname == name), None) if module else None
        if module is None or cell is None:
            raise LookupError(f"{path} has no class {name}")
        functions = set(self._run_through(cell))
        for known in self._project.mro(cell):
            functions |= {known.methods[n] for n in ("__init__",) if n in known.methods}
        found = [f for function in functions for f in self._inside.get(function, ())]
        found += (f for f in self._outside.get(module, ()) if f.region.partition(".")[0] == name or "." not in f.region)
        return [(f.consequence.value, f.code) for f in found]

    def _run_through(self, cell: ClassInfo) -> Iterator[FunctionInfo]:
        root = self._project.method(cell, "construct")
        if root is None:
            return
        seen: set[tuple[FunctionInfo, ClassInfo | None]] = {(root, cell)}
        queue = deque(seen)
        while queue:
            function, owner = queue.popleft()
            yield function
            for _, callee, holder in self._calls.callees(function, owner):
                if (callee, holder) not in seen:
                    seen.add((callee, holder))
                    queue.append((callee, holder))


def stored_rows() -> list[Row]:
    """Every class of `fixtures/agreement/verdicts.csv`."""
    with (FIXTURES / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        verdicts = list(csv.DictReader(file))
    rows = []
    for folder in sorted({v["module"].partition("/")[0] for v in verdicts}):
        predictions = Predictions(sorted((FIXTURES / folder).glob("*.py")))
        for verdict in (v for v in verdicts if v["module"].startswith(f"{folder}/")):
            found = predictions.of(FIXTURES / verdict["module"], verdict["class"])
            name = verdict["module"].removesuffix(".py") + (" (cured)" if verdict["class"] == "Rewritten" else "")
            rows.append(row(name, verdict["verdict"], verdict["message"], found))
    return rows


def real_rows(packages: Path, verdicts: list[dict[str, str]]) -> list[Row]:
    """Real Cells; `packages` holds one folder for each package, named after it."""
    rows: list[Row] = []
    for package in sorted({v["package"] for v in verdicts}):
        predictions = Predictions(sorted((packages / package).rglob("*.py")))
        for verdict in (v for v in verdicts if v["package"] == package):
            found = predictions.of(packages / package / verdict["module"], verdict["class"])
            name = f"{package}/{verdict['module']}::{verdict['class']}"
            rows.append(row(name, verdict["verdict"], verdict["message"], found))
    return rows
