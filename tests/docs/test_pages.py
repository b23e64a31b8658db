"""The pages under docs/rules and docs/errors say what the rules, the registry and the fixtures say."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from graphward.config import Config, VerifySettings
from graphward.knowledge.errors import registry
from graphward.rules.registry import all_rules

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_CODE = re.compile(r"```.*?```|`[^`\n]+`|^(?: {4}|\t).*$", re.DOTALL | re.MULTILINE)
SCRIPT = ROOT / "scripts" / "generate_docs.py"


def generate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, encoding="utf-8")


def test_no_page_is_stale():
    result = generate("--check")
    assert result.returncode == 0, f"{result.stdout}{result.stderr}"


def test_stale_missing_and_left_over_pages_are_named(tmp_path: Path):
    assert generate("--folder", str(tmp_path)).returncode == 0
    stale, missing, extra = (tmp_path / p for p in ("rules/GW310.md", "errors/ME101.md", "rules/GW100.md"))
    stale.write_text(stale.read_text(encoding="utf-8") + "more\n", encoding="utf-8")
    missing.unlink()
    extra.write_text("# GW100\n", encoding="utf-8")
    checked = generate("--check", "--folder", str(tmp_path))
    assert checked.returncode == 1
    said = checked.stdout.splitlines()
    assert sorted(said) == ["errors/ME101.md is missing", "rules/GW100.md is left over", "rules/GW310.md is stale"]
    assert missing.exists() is False and extra.exists(), "--check writes nothing"

    assert generate("--folder", str(tmp_path)).stdout.startswith("3 of ")
    assert generate("--check", "--folder", str(tmp_path)).returncode == 0


@pytest.mark.parametrize("rule", all_rules(), ids=[r.code for r in all_rules()])
def test_a_page_of_a_rule_holds_its_docstring_and_its_rewrites(rule):
    page = (DOCS / "rules" / f"{rule.code}.md").read_text(encoding="utf-8")
    assert rule.page() in page and f"# {rule.code} {rule.name}\n" in page
    assert ("```diff" in page) == any((ROOT / "fixtures" / rule.code).glob("*/after.py"))


@pytest.mark.parametrize("entry", registry(), ids=[e.id for e in registry()])
def test_a_page_of_an_error_holds_its_message_and_what_raises_it(entry):
    page = (DOCS / "errors" / f"{entry.id}.md").read_text(encoding="utf-8")
    assert f"    {entry.message}\n" in page
    for script in (ROOT / "fixtures" / "errors" / entry.id).glob("*.py"):
        assert script.read_text(encoding="utf-8").rstrip() in page


def test_links_between_pages_lead_somewhere():
    broken = [
        f"{page.relative_to(DOCS)}: {target}"
        for page in DOCS.rglob("*.md")
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", _CODE.sub("", page.read_text(encoding="utf-8")))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_the_indexes_name_every_page():
    rules = (DOCS / "rules" / "index.md").read_text(encoding="utf-8")
    errors = (DOCS / "errors" / "index.md").read_text(encoding="utf-8")
    by_text = (DOCS / "errors" / "by-text.md").read_text(encoding="utf-8")
    chinese = (DOCS / "zh" / "errors.md").read_text(encoding="utf-8")
    assert all(f"({rule.code}.md)" in rules for rule in all_rules())
    for entry in registry():
        assert f"({entry.id}.md)" in errors and f"({entry.id}.md)" in by_text and f"## {entry.id} " in chinese


SECTIONS = {
    "accepts": ("## Often forbidden, accepted", "## 常被说成不支持,其实支持"),
    "falls-back": ("## Compiles, and leaves the graph", "## 能编译,但会离开图"),
    "rejects": ("## Does not compile", "## 不能编译"),
    "diverges": ("## Compiles, and computes something else", "## 能编译,但结果不同"),
}


@pytest.mark.parametrize("page", ["graph-mode-today.md", "zh/graph-mode-today.md"])
def test_what_graph_mode_accepts_is_what_the_compiler_said(page: str):
    """Every module that a row names has the verdict of its section; `falls-back-and-diverges` diverges."""
    with (ROOT / "fixtures" / "agreement" / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        verdicts = {Path(row["module"]).stem: row["verdict"].rpartition("-and-")[2] for row in csv.DictReader(file)}
    headings = {heading: verdict for verdict, both in SECTIONS.items() for heading in both}
    section, wrong, rows = "", [], 0
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            section = headings.get(line, "")
        elif section and line.startswith("| ") and "`" in line.rpartition(" | ")[2]:
            named = re.findall(r"`(\w+)`", line.rpartition(" | ")[2])
            rows += 1
            assert named, line
            wrong += [f"{n}: {verdicts.get(n)}, not {section}" for n in named if verdicts.get(n) != section]
    assert wrong == [] and rows > 50


def test_every_setting_is_in_the_reference():
    text = (DOCS / "configuration.md").read_text(encoding="utf-8")
    settings = [f.name for f in fields(Config)] + [f.name for f in fields(VerifySettings)]
    hidden = {"root", "verify", "declared_only"}
    missing = [s for s in settings if s not in hidden and f"| `{s.replace('_', '-')}` |" not in text]
    assert missing == []
