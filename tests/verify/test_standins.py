"""Kernels that CPU lacks, and random numbers: stand-ins that are the same on both sides."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import graphward_worker
from graphward.report.verdicts import render_text
from graphward.verify.session import Session
from graphward.verify.verdicts import Verdict

from .catalogue import DATA, X, alone, line_of

FILE = "mint_cells.py"
JOBS = [
    alone("Block", ["f32[2,8]", "f32[1,2,5,5]"], FILE),
    *(alone(name, X, FILE) for name in ("NamesAlike", "Initialised", "FillsInside", "NoisyAndWrong")),
    alone("Noise", X, FILE, train=True),
]


@pytest.fixture(scope="module")
def verdicts(session: Session) -> dict[str, Verdict]:
    return {verdict.id: verdict for verdict in session.prove(JOBS)}


def test_each_stand_in_computes_what_its_operator_is_documented_to(mindspore_python: str, tmp_path: Path) -> None:
    worker = Path(graphward_worker.__file__).parents[1]
    command = [mindspore_python, "-B", str(DATA / "standins" / "check.py"), str(worker), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) > 200
    assert {expression: problem for expression, problem in found.items() if problem} == {}


def test_kernels_that_are_missing_do_not_stand_in_the_way(verdicts: dict[str, Verdict]) -> None:
    verdict = verdicts["Block"]
    assert verdict.verdict == "verified", verdict.message
    assert verdict.judged is not None
    assert verdict.judged.gradients == "equal"
    assert {"Arange", "Conv2DExt", "LayerNormExt", "StackExt", "Tensor.clone", "gelu"} <= set(verdict.stand_ins)


def test_stand_ins_are_listed_for_people_and_for_machines(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["Block"].to_json()["stand_ins"] == list(verdicts["Block"].stand_ins)
    assert "stand-ins for" in render_text([verdicts["Block"]])


def test_methods_of_the_users_own_are_left_alone(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["NamesAlike"].verdict == "verified", verdicts["NamesAlike"].message
    assert set(verdicts["NamesAlike"].stand_ins) <= {"Clone", "Tensor.clone"}


def test_parameters_can_be_initialised_in_place(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["Initialised"].verdict == "verified", verdicts["Initialised"].message
    assert verdicts["Initialised"].stand_ins == ("Tensor.normal_",)


def test_a_kernel_that_nothing_stands_in_for_is_named(verdicts: dict[str, Verdict]) -> None:
    verdict = verdicts["FillsInside"]
    assert verdict.verdict == "no-kernel"
    assert "no kernel for InplaceFillScalar" in verdict.message
    assert f"{FILE}:{line_of(f'alone/{FILE}', 'y.fill_')}" in verdict.message


def test_random_operators_draw_the_same_on_both_sides(verdicts: dict[str, Verdict]) -> None:
    verdict = verdicts["Noise"]
    assert verdict.verdict == "verified", verdict.message
    assert {"Dropout", "dropout", "standard_normal"} <= set(verdict.stand_ins)
    assert "random numbers derive from shapes, the same on both sides" in verdict.notes


def test_random_numbers_do_not_hide_a_divergence(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["NoisyAndWrong"].verdict == "diverges"


def test_where_the_kernels_exist_nothing_stands_in(mindspore_python: str) -> None:
    with Session(python=mindspore_python) as session:
        verdicts = session.prove([alone("Block", ["f32[2,8]", "f32[1,2,5,5]"], FILE), alone("Dense", X, "good.py")])
    assert verdicts[1].verdict == "verified"
    assert verdicts[1].stand_ins == ()
