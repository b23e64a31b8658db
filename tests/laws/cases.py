"""The fixtures as data: `fixtures/<code>/<case>/` with `before.py`, `case.toml` and, if there is a fix, `after.py`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from graphward.config import Config
from graphward.engine.check import CheckResult, check
from graphward.engine.fixpoint import Applied, FixResult, fix
from graphward.engine.workspace import Workspace
from graphward.rules.finding import Finding
from graphward.rules.selection import covers, selected_rules
from graphward.source.fixes import Applicability, Fix
from graphward.source.text import SourceText

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2] / "fixtures"
AS_IT_STANDS = {"slow": "verified", "deprecated": "verified", "clean": "verified"}
BEFORE = ("fails", "falls-back", "diverges", "recompiles", "slow", "deprecated", "clean")
KEYS = {
    "before", "target", "inputs", "fixes", "applicability", "alternative", "restores_gradient", "op_style", "weights",
    "findings", "ignore_state", "compile_units", "script", "says", "raises", "target_version", "settings",
    "other_versions", "sometimes",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """`before` is what Graph Mode makes of before.py. `fixes` is the limit ("safe" or "unsafe", the default),
    `alternative` picks a later one; `applicability` and `restores_gradient` are what the applied fixes must declare;
    `weights = "drawn"` judges before.py with random initial values; `ignore_state` names attributes that the fix
    moves; `compile_units` says that it splits a graph. A case with `script = true` has no target: it is run as a
    script, and `says` is how MindSpore shows what is wrong (`test_script_laws`); `raises` if it does not get to its
    end. `settings` are what `[tool.graphward]` says. `other_versions` are the verdicts on before.py and after.py of
    versions of MindSpore that differ from 2.10, `{ "<2.8" = { before = "verified" } }`; clauses do not overlap.
    `sometimes` are verdicts on before.py that MindSpore gives in some runs instead, where it races with itself."""

    folder: Path
    data: dict[str, Any]

    @property
    def code(self) -> str:
        return self.folder.parent.name

    @property
    def name(self) -> str:
        return f"{self.code}/{self.folder.name}"

    def __getattr__(self, key: str) -> Any:
        if key not in KEYS:
            raise AttributeError(key)
        return self.data.get(key)

    @property
    def path(self) -> Path:
        return self.folder / "before.py"

    @property
    def is_noop(self) -> bool:
        return self.before == "clean" and not self.has_fix

    @property
    def has_fix(self) -> bool:
        return (self.folder / "after.py").exists()

    @cached_property
    def source(self) -> SourceText:
        return SourceText.from_bytes(self.path, self.path.read_bytes())

    @cached_property
    def after(self) -> SourceText:
        return SourceText.from_bytes(self.path, (self.folder / "after.py").read_bytes())

    def expected(self, side: str, version: str) -> set[str]:
        """The verdicts that a side ("before", as it stands, or "after") may get under a version of MindSpore."""
        usual = AS_IT_STANDS.get(self.before, self.before) if side == "before" else "verified"
        others = [v for clauses, v in (self.other_versions or {}).items() if covers(clauses, version)]
        verdict = next((found[side] for found in others if side in found), usual)
        return {verdict, *(self.sometimes or ())} if side == "before" else {verdict}

    @property
    def config(self) -> Config:
        config = Config(root=self.folder, select=(self.code,), op_style=self.op_style or "functional")
        return config.with_options(target_version=self.target_version, **(self.settings or {}))

    def choose(self, source: SourceText, finding: Finding) -> Fix | None:
        """The fix of a finding that the case applies."""
        limit = Applicability(self.fixes or "unsafe")
        fixes = [f for f in finding.fixes if f.applicability.rank <= limit.rank and f.edits]
        return fixes[min(self.alternative or 0, len(fixes) - 1)] if fixes else None

    def check(self, source: SourceText | None = None) -> CheckResult:
        workspace = self._workspace(source or self.source)
        return check(workspace, self._rules(), self.config, only=[self.path])

    def fix(self, source: SourceText | None = None) -> FixResult:
        workspace = self._workspace(source or self.source)
        return fix(workspace, self._rules(), self.config, self.choose, only=[self.path])

    def applied(self, result: FixResult) -> Sequence[Applied]:
        return [applied for change in result.changes.values() for applied in change.applied]

    def _workspace(self, source: SourceText) -> Workspace:
        return Workspace([self.path], {self.path: source})

    def _rules(self):
        return selected_rules(self.config.select, (), self.config.target_version)


def load(path: Path) -> Case:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    unknown = set(data) - KEYS
    named = bool(data.get("script")) or isinstance(data.get("target"), str)
    if unknown or data.get("before") not in BEFORE or not named:
        raise ValueError(f"{path}: unknown keys {sorted(unknown)}, or before/target missing or wrong")
    return Case(path.parent, data)


CASES = [load(path) for path in sorted(ROOT.glob("GW*/*/case.toml"))]


def text_after(result: FixResult, source: SourceText) -> SourceText:
    """What the fix made of the file."""
    change = result.changes.get(source.path)
    return change.after if change else source
