"""The table of measurements is what the pages quote and what decides what is offered."""

from __future__ import annotations

import json
from importlib import resources

from graphward.rules.registry import all_rules
from graphward_codemods.native._forms import Found
from graphward_codemods.native._measured import OFFERED as PAYING
from graphward_codemods.native._measured import is_faster

TABLE = json.loads(resources.files("graphward_codemods.native").joinpath("measured.json").read_text(encoding="utf-8"))
OFFERED = [rule for rule in all_rules() if rule.code.startswith("GW5") and not rule.opt_in]


def test_every_offered_operator_quotes_its_rows():
    for rule in OFFERED:
        page = rule.page()
        forms = {row["form"] for row in TABLE["rows"] if row["name"] == rule.operator}
        assert forms and all(form in page for form in forms), rule.code
        assert "{table}" not in page


def test_rows_are_whole():
    for row in TABLE["rows"]:
        assert row["size"] in ("small", "medium", "large")
        for form in ("pynative", "hand", "native"):
            times = row["forward"][form]
            assert 0 < times["min"] <= times["median"]


def test_what_was_slower_is_only_told_when_asked_for():
    page = next(rule for rule in all_rules() if rule.code == "GW520").page()
    slower = [
        row for row in TABLE["rows"]
        if row["name"] == "gelu tanh" and row["size"] == "large"
        and row["forward"]["hand"]["min"] < row["forward"]["native"]["min"]
    ]  # fmt: skip
    assert slower and all(row["form"] in page for row in slower)


def test_the_operators_that_are_looked_for_are_those_that_pay():
    paying = {row["name"] for row in TABLE["rows"] if is_faster(Found(row["name"], row["form"], ()))}
    rules = {rule.operator for rule in OFFERED}
    assert rules <= paying
    assert {name.replace("cross_entropy", "sparse cross entropy") for name in PAYING} == rules
