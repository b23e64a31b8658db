"""Laws that every fixture obeys, as far as text goes; no rule can opt out."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter

import pytest

from graphward.rules.registry import all_rules
from graphward.rules.rule import PAGE_SECTIONS
from graphward.source.fixes import Applicability
from graphward.source.text import SourceText

from .cases import CASES, Case, text_after

FIXED = [c for c in CASES if c.has_fix]
NOOPS = [c for c in CASES if c.is_noop]
REPORTED = [c for c in CASES if c.before != "clean" and not c.has_fix]
CONSEQUENCES = {
    "fails": {"error"}, "falls-back": {"fallback", "error"}, "diverges": {"divergence", "fallback"},
    "recompiles": {"performance"}, "slow": {"performance", "info"}, "deprecated": {"deprecated"},
}  # fmt: skip


def named(cases: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=[c.name for c in cases])


@pytest.mark.parametrize("rule", all_rules(), ids=lambda r: r.code)
def test_every_rule_has_cases_and_a_page(rule):
    mine = [c for c in CASES if c.code == rule.code]
    rewrites = [c for c in mine if c.has_fix]
    assert [c for c in mine if c.before != "clean"], "no case shows what the rule finds"
    assert len([c for c in mine if c.is_noop]) >= (2 if rewrites else 1), "too few no-op cases"
    page = rule.page()
    for section in PAGE_SECTIONS:
        assert f"\n## {section}\n" in page, f"the page lacks {section!r}"
    assert rule.summary().endswith(".")


def test_every_fixture_belongs_to_a_rule():
    assert {c.code for c in CASES} <= {r.code for r in all_rules()}


@named([c for c in CASES if not c.is_noop])
def test_the_file_holds_a_trigger_of_its_rule(case):
    rule = next(r for r in all_rules() if r.code == case.code)
    assert any(trigger in case.source.utf8 for trigger in rule.triggers)


@named(NOOPS)
def test_a_noop_case_is_silent(case):
    assert [(f.code, f.message) for _, f in case.check().all_findings()] == []


@named([*FIXED, *REPORTED])
def test_findings_are_where_and_what_the_case_says(case):
    found = case.check().all_findings()
    assert found, "nothing was found"
    consequences = {f.consequence.value for _, f in found}
    assert consequences & CONSEQUENCES.get(case.before, {"performance", "info", "deprecated"}), consequences
    for wanted in case.findings or ():
        matching = [
            f for _, f in found
            if case.source.position(f.span.start)[0] == wanted["line"]
            and wanted.get("column", case.source.position(f.span.start)[1]) == case.source.position(f.span.start)[1]
            and wanted.get("consequence", f.consequence.value) == f.consequence.value
            and wanted.get("applicability", [x.applicability.value for x in f.fixes])
            == [x.applicability.value for x in f.fixes]
        ]  # fmt: skip
        assert matching, f"no finding fits {wanted}"
    if case.findings:
        assert len(found) == len(case.findings)
    for _, finding in found:
        span = case.source.utf8[finding.span.start : finding.span.end].decode()
        assert span.strip() == span and span, "a span starts and ends with code"


@named(REPORTED)
def test_a_reported_case_is_left_alone(case):
    assert case.fix().changes == {}


@named(FIXED)
def test_the_fix_writes_after_py(case):
    result = case.fix()
    assert result.refused == []
    assert text_after(result, case.source).text == case.after.text


@named(FIXED)
def test_the_applied_fixes_declare_themselves_truly(case):
    applied = case.applied(case.fix())
    worst = max((a.fix.applicability for a in applied), key=lambda a: a.rank)
    assert worst is Applicability(case.applicability or "unsafe")
    assert any(a.fix.restores_gradient for a in applied) is bool(case.restores_gradient)
    assert any(a.fix.compile_units for a in applied) is bool(case.compile_units)
    for a in applied:
        assert not (a.fix.restores_gradient and a.fix.applicability is Applicability.SAFE)


@named(FIXED)
def test_a_second_run_changes_nothing(case):
    assert case.fix(case.after).changes == {}


@named(FIXED)
def test_comments_stay(case):
    lost = Counter(comments(case.source.text)) - Counter(comments(case.after.text))
    assert not lost


@named(FIXED)
def test_lines_outside_the_edits_are_the_same(case):
    result = case.fix()
    for applied in case.applied(result)[:1]:
        touched = {
            line
            for a in case.applied(result) if a.source.utf8 == applied.source.utf8
            for e in a.fix.edits
            for line in range(case.source.position(e.start)[0], case.source.position(e.end)[0] + 1)
        }  # fmt: skip
        lines = case.source.text.splitlines()
        kept = [text for number, text in enumerate(lines, 1) if number not in touched and not is_import(text)]
        after = Counter(text_after(result, case.source).text.splitlines())
        passes = len({a.source.utf8 for a in case.applied(result)})
        if passes == 1:
            assert not Counter(kept) - after


@named(FIXED)
@pytest.mark.parametrize("variant", ["crlf", "tabs", "bom", "no final newline", "chinese comment"])
def test_variants_give_the_same_edit(case, variant):
    before, after = vary(case.source, variant), vary(case.after, variant)
    result = text_after(case.fix(before), before)
    assert result.text == after.text
    assert result.to_bytes() == after.to_bytes()


def vary(source: SourceText, variant: str) -> SourceText:
    text = source.text
    if variant == "crlf":
        text = text.replace("\n", "\r\n")
    elif variant == "tabs":
        text = re.sub(r"(?m)^ +", lambda m: "\t" * (len(m[0]) // 4) + " " * (len(m[0]) % 4), text)
    elif variant == "no final newline":
        text = text.rstrip("\n")
    elif variant == "chinese comment":
        # Above the network's class only, where it is called Net: a fix may put a class or a decorator above others.
        which = r"(?m)^class (?=Net\b)" if re.search(r"(?m)^class Net\b", text) else r"(?m)^class "
        text = re.sub(which, "# 图模式 😀\nclass ", text)
    return SourceText(source.path, text.encode(), source.encoding, variant == "bom")


def comments(text: str) -> list[str]:
    return [t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT]


def is_import(line: str) -> bool:
    return line.startswith(("import ", "from "))


@named(CASES)
def test_fixtures_parse(case):
    ast.parse(case.source.text)
    if case.has_fix:
        ast.parse(case.after.text)
