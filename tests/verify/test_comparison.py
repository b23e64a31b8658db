"""What a proof compares beyond values: cut gradients, other shapes, training mode, MINDIR files, places."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphward.verify.jobs import Job
from graphward.verify.session import Session
from graphward.verify.verdicts import SideResult, Verdict

from .catalogue import X, alone, line_of

FILE = "compared.py"


def of(name: str, inputs: list[str] = X, id: str | None = None, **options: object) -> Job:
    return alone(name, inputs, FILE, id, **options)


JOBS = [
    of("Cuts", ["f32[2,3]", "f32[2,3]"]),
    *(of(name) for name in ("DeepInside", "InPlace", "InPlaceAlike", "CompileTime")),
    replace(of("FixedRows", id="rows that fit"), other_shapes=(("f32[3,3]",), ("f32[1,3]",))),
    replace(of("FixedRows", id="rows that do not"), other_shapes=(("f32[3,3]",), ("f32[4,3]",))),
    replace(of("FixedRows", id="no such spec"), other_shapes=(("f99[3]",),)),
    of("OnlyWhenTraining", id="evaluation"),
    of("OnlyWhenTraining", id="training", train=True),
    of("OnlyWhenTraining", id="both modes", train="both"),
    of("doubled", export=True),
    of("FixedRows", id="exported", export=True),
    of("ByKeyword", ["x=f32[2,3]", "mask=f32[2,3]", "place=i64[1,3]", "pair=(f32[2,3], f32[2,3])"]),
    of("NotForExport", export=True),
    of("NotForExport", id="not exported"),
]


@pytest.fixture(scope="module")
def verdicts(session: Session) -> dict[str, Verdict]:
    return {verdict.id: verdict for verdict in session.prove(JOBS)}


def side(verdict: Verdict) -> SideResult:
    assert verdict.judged is not None
    return verdict.judged


def test_a_cut_gradient_is_told_apart_from_a_zero_one(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["Cuts"].verdict == "verified", verdicts["Cuts"].message
    (note,) = side(verdicts["Cuts"]).notes
    assert note == "the original cuts the gradient of input[0]: zero, though the outputs depend on it"


def test_a_difference_deep_inside_is_named_with_its_place(verdicts: dict[str, Verdict]) -> None:
    found = side(verdicts["DeepInside"]).difference
    assert verdicts["DeepInside"].verdict == "diverges"
    assert found is not None
    assert (found.call, found.where) == (1, "output[1][1][1][1]")
    assert found.max_abs is not None
    assert found.max_rel is not None


def test_a_difference_near_an_in_place_assignment_says_which_meaning_counts(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["InPlace"].verdict == "diverges"
    (note,) = side(verdicts["InPlace"]).notes
    assert "the reference is PyNative on this device" in note
    assert f"{FILE}:{line_of(f'alone/{FILE}', 'z += 1')}" in note


def test_a_verdict_on_in_place_assignments_that_agree_says_so_too(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["InPlaceAlike"].verdict == "verified", verdicts["InPlaceAlike"].message
    (note,) = side(verdicts["InPlaceAlike"]).notes
    assert "the reference is PyNative on this device" in note
    assert f"{FILE}:{line_of(f'alone/{FILE}', 'own += 1')}" in note


def test_what_is_interpreted_only_once_is_told_from_what_each_call_runs(verdicts: dict[str, Verdict]) -> None:
    judged = side(verdicts["CompileTime"])
    assert verdicts["CompileTime"].verdict == "verified", verdicts["CompileTime"].message
    assert judged.nodes == ()
    (node,) = judged.interpreted
    assert (node.path, node.line) == (FILE, line_of(f"alone/{FILE}", "np.arange"))
    assert "np.arange(3).astype(np.float32)" in node.expression


def test_inputs_of_other_shapes_have_to_verify_too(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["rows that fit"].verdict == "verified"
    assert verdicts["rows that fit"].notes == ("verified for f32[3,3] too", "verified for f32[1,3] too")
    failing = verdicts["rows that do not"]
    assert failing.verdict == "falls-back"
    assert failing.inputs.specs == ("f32[4,3]",)
    assert failing.notes == ("the verdict is that for f32[4,3]; what was asked for first verifies",)
    assert verdicts["no such spec"].verdict == "no-inputs"


def test_training_and_evaluation_are_proven_apart(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["evaluation"].verdict == "verified"
    assert verdicts["training"].verdict == "falls-back"
    assert verdicts["both modes"].verdict == "falls-back"
    assert "in training mode" in verdicts["both modes"].notes[0]


def test_gradients_of_what_comes_by_keyword_are_seen(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["ByKeyword"].verdict == "verified", verdicts["ByKeyword"].message
    assert side(verdicts["ByKeyword"]).gradients == "equal"


def test_an_export_comes_back_with_the_same_values(verdicts: dict[str, Verdict]) -> None:
    for id in ("doubled", "exported"):
        assert verdicts[id].verdict == "verified", verdicts[id].message
        assert side(verdicts[id]).export == "equal"
    assert side(verdicts["rows that fit"]).export is None


def test_what_cannot_be_exported_fails_only_when_that_was_asked_for(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["not exported"].verdict == "verified"
    assert verdicts["NotForExport"].verdict == "fails"
    assert side(verdicts["NotForExport"]).export == "fails"
    assert "cannot be exported to MINDIR" in verdicts["NotForExport"].message
