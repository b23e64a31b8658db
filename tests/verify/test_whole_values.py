"""What a pair returns and leaves behind, in any container; and weights that are the same on both sides, whatever the
layers are called and in which order they are made."""

from __future__ import annotations

import pytest

from graphward.verify.jobs import Job, Options
from graphward.verify.session import Session
from graphward.verify.targets import parse_target
from graphward.verify.verdicts import SideResult, Verdict

from .catalogue import DATA, X

CONTAINERS = {
    "OtherKey": ("output['states'][1][1]", "structure"),
    "OtherLength": ("output['states'][1]", "structure"),
    "OtherNone": ("output['states'][1][1]['scale']", "structure"),
    "NoneForTensor": ("output", "structure"),
    "OtherLabel": ("output['record']['label']", "value"),
    "OtherField": ("output['record']['values'][0]", "value"),
    "PlainTuple": ("output['pair']", "type"),
    "OtherNumber": ("output['pair'][1][1]", "value"),
}
"""Rewrites that differ from `Same` in one place of what they return: where, and in what."""


def job(name: str, *inputs: str, units: bool = False) -> Job:
    target = parse_target(f"compared.py::{name}", DATA / "before")
    options = Options(units=units, as_it_stands=False)
    return Job.of(target, id=name, rewritten=DATA / "after", inputs=inputs or X, options=options)


JOBS = [
    *(job(name, units=True) for name in ("Same", *CONTAINERS)),
    *(job(name) for name in ("OtherParameter", "OtherBuffer", "OtherRegistered")),
    *(job(name) for name in ("Nests", "Swaps", "SwapsUnseen", "SwapsRenamed")),
    job("WritesIntoDict", "f32[2,3]", "{'a': f32[2,3]}"),
]


@pytest.fixture(scope="module")
def verdicts(session: Session) -> dict[str, Verdict]:
    return {verdict.id: verdict for verdict in session.prove(JOBS)}


def rewritten(verdict: Verdict) -> SideResult:
    assert verdict.rewritten is not None
    return verdict.rewritten


def test_a_model_output_of_nested_containers_is_equal_to_itself(verdicts: dict[str, Verdict]) -> None:
    verdict = verdicts["Same"]
    assert verdict.verdict == "verified", verdict.message
    assert (rewritten(verdict).outputs, rewritten(verdict).gradients) == ("equal", "equal")


@pytest.mark.parametrize("name", CONTAINERS)
def test_one_other_place_in_them_is_named(verdicts: dict[str, Verdict], name: str) -> None:
    found = rewritten(verdicts[name]).difference
    assert verdicts[name].verdict == "diverges"
    assert found is not None
    assert (found.part, found.call, found.where, found.what) == ("outputs", 1, *CONTAINERS[name])


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("OtherParameter", "parameter average"),
        ("OtherBuffer", "attribute average"),
        ("OtherRegistered", "buffer average"),
    ],
)
def test_what_calls_leave_in_parameters_and_tensors_is_compared(
    verdicts: dict[str, Verdict], name: str, where: str
) -> None:
    side = rewritten(verdicts[name])
    assert verdicts[name].verdict == "diverges"
    assert (side.outputs, side.state) == ("equal", "differ")
    assert side.difference is not None
    assert (side.difference.part, side.difference.where) == ("state", where)
    assert side.difference.max_abs is not None


def test_what_a_call_writes_into_a_dict_is_compared(verdicts: dict[str, Verdict]) -> None:
    found = rewritten(verdicts["WritesIntoDict"]).difference
    assert verdicts["WritesIntoDict"].verdict == "diverges"
    assert found is not None
    assert (found.part, found.where) == ("state", "argument[1]")


def test_weights_are_the_same_under_other_names_in_another_order_and_nested(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["Nests"].verdict == "verified", verdicts["Nests"].message
    assert any(note.startswith("parameters gone: first.bias") for note in rewritten(verdicts["Nests"]).notes)


def test_a_layer_that_is_taken_for_another_of_its_shape_is_found(verdicts: dict[str, Verdict]) -> None:
    by_gradient = rewritten(verdicts["Swaps"]).difference
    assert verdicts["Swaps"].verdict == "diverges"
    assert by_gradient is not None
    assert by_gradient.where == "gradient of parameter first.weight"
    by_value = rewritten(verdicts["SwapsUnseen"]).difference
    assert verdicts["SwapsUnseen"].verdict == "diverges"
    assert by_value is not None
    assert by_value.where == "output"
    assert "with other values in each parameter" in verdicts["SwapsUnseen"].message


def test_where_names_do_not_tell_layers_apart_the_verdict_says_so(verdicts: dict[str, Verdict]) -> None:
    verdict = verdicts["SwapsRenamed"]
    assert verdict.verdict == "verified", verdict.message
    (note,) = [note for note in rewritten(verdict).notes if "takes one for the other" in note]
    assert "first.weight" in note and "second.weight" in note
