"""`graphward rules` and `graphward explain`: the catalogue and its pages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from graphward.rules.registry import all_rules
from graphward.rules.rule import PAGE_SECTIONS

GRAPHWARD = Path(sys.executable).with_name("graphward")


def graphward(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([GRAPHWARD, *arguments], capture_output=True, encoding="utf-8")


def test_the_catalogue_lists_every_rule_once():
    result = graphward("rules")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    for rule in all_rules():
        (line,) = [line for line in lines if line.startswith(rule.code)]
        assert rule.name in line and rule.consequence.value in line


def test_the_catalogue_for_machines():
    result = graphward("rules", "--output-format", "json")
    assert (result.returncode, result.stderr) == (0, "")
    listed = json.loads(result.stdout)
    assert [entry["code"] for entry in listed] == [rule.code for rule in all_rules()]
    for entry, rule in zip(listed, all_rules(), strict=True):
        assert entry == {
            "code": rule.code, "name": rule.name, "family": rule.family(), "consequence": rule.consequence.value,
            "targets": rule.targets, "summary": rule.summary(), "page": rule.page(),
        }  # fmt: skip


@pytest.mark.parametrize("spelling", ["GW110", "gw110", "torch-transpose"])
def test_a_page_is_found_by_code_and_by_name(spelling):
    result = graphward("explain", spelling)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("# GW110 torch-transpose\n")
    assert all(f"\n## {section}\n" in result.stdout for section in PAGE_SECTIONS)


@pytest.mark.parametrize("spelling", ["GW999", "GW1", "transpose", ""])
def test_a_page_that_does_not_exist(spelling):
    result = graphward("explain", spelling)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"there is no rule {spelling!r}" in result.stderr and "`graphward rules`" in result.stderr


@pytest.mark.parametrize("command", ["check", "fix", "migrate", "verify", "rules", "explain", "review", "lsp"])
def test_help_says_what_a_command_does_and_whether_it_runs_code(command):
    result = graphward(command, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    text = " ".join(result.stdout.split())
    assert f"Usage: graphward {command}" in text
    if command in ("migrate", "verify"):
        assert "This runs your code." in text
    if command in ("check", "fix"):
        assert "Runs nothing of" in text
    if command in ("check", "fix", "migrate", "verify", "review"):
        assert "Exit status: 0 " in text and f"graphward {command} " in text.partition("Examples:")[2]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("check", ["[default: 2.10]", "[default: functional]"]),
        ("migrate", ["[default: this one]", "[default: 120]", "[default: 80 % of the machine's]"]),
        ("verify", ["[tool.graphward.verify.targets]", "[default: this one]", "[default: 120]"]),
    ],
)
def test_help_shows_what_stands_in_brackets(command, said):
    text = " ".join(word for word in graphward(command, "--help").stdout.split() if word != "│")
    assert [part for part in said if part not in text] == []


def test_the_version():
    result = graphward("--version")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("graphward ") and result.stdout.count("\n") == 1
