"""`graphward bench --ops`: the table of operators, measured by the real MindSpore."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from graphward.bench.ops import FORMS, PASSES, SIZES, measure_operators, render_text
from graphward.errors import GraphwardError


@pytest.fixture(scope="module")
def table(mindspore_python: str):
    told: list[tuple[int, int, str]] = []
    found = measure_operators(mindspore_python, only="mse_loss", seconds=0.01, progress=lambda *s: told.append(s))
    assert [name for _, _, name in told] == ["mse_loss"] * len(told)
    assert all(done <= total for done, total, _ in told)
    return found


def test_each_pair_is_measured_at_each_size(table):
    forms = {row["form"] for row in table.rows}
    assert len(forms) == 2
    assert [row["size"] for row in table.rows] == [*SIZES] * 2
    for row in table.rows:
        assert row["difference"] < 1e-5
        for which in PASSES:
            for form in FORMS:
                assert 0 < row[which][form]["min"] <= row[which][form]["median"]


def test_it_says_what_measured_it(table):
    assert table.about["mindspore"] and table.about["cores"] >= 1
    assert json.loads(table.to_json())["rows"] == table.rows
    first, *lines = render_text(table)
    assert table.about["mindspore"] in first
    assert sum("x / " in line for line in lines) == len(table.rows)


def test_a_kernel_that_is_lacking_is_a_row_and_no_end(mindspore_python: str):
    found = measure_operators(mindspore_python, only="rms_norm", seconds=0.01)
    assert [row["where"] for row in found.rows] == ["native"] * len(SIZES)
    assert all("graph, native: " in line for line in render_text(found) if "rms" not in line and "x * rsqrt" in line)


def test_an_interpreter_without_mindspore_is_the_users_error(tmp_path: Path):
    bare = tmp_path / "python"
    bare.write_text(f"#!/bin/sh\nexec {sys.executable} -S -E \"$@\"\n")
    bare.chmod(0o755)
    with pytest.raises(GraphwardError, match="cannot be measured"):
        measure_operators(str(bare))
    with pytest.raises(GraphwardError, match="cannot run"):
        measure_operators(str(tmp_path / "no-such-python"))
