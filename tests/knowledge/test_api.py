"""The generated tables of what MindSpore's callables give back."""

from __future__ import annotations

import pytest

from graphward.knowledge.api import VERSIONS, Result, table

FORMS = {"tensor", "tuple", "tensors", "python", "shape", "number", "none"}
DTYPES = {"", "same", "same-float", "floating", "promoted", "bool", "uint8", "int8", "int16", "int32", "int64",
          "float16", "float32", "float64", "bfloat16", "complex64", "complex128"}  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_every_rule_can_be_read(version):
    for name, result in table(version).items():
        assert result.form in FORMS, name
        assert result.rank in ("", "same") or result.rank.isdigit(), name
        if result.form in ("tensor", "tuple", "tensors"):
            assert set(result.dtypes) <= DTYPES, name


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("name", "form", "dtypes"),
    [
        ("mindspore.ops.abs", "tensor", ("same",)), ("mindspore.ops.equal", "tensor", ("bool",)),
        ("mindspore.ops.argmax", "tensor", ("int64",)), ("mindspore.ops.add", "tensor", ("promoted",)),
        ("mindspore.ops.TopK", "tuple", ("same", "int32")), ("mindspore.ops.shape", "shape", ("",)),
        ("mindspore.ops.rank", "python", ("int",)), ("mindspore.ops.split", "tensors", ("same",)),
        ("mindspore.Tensor.abs", "tensor", ("same",)), ("mindspore.Tensor.numel", "python", ("int",)),
        ("mindspore.Tensor.sum", "tensor", ("same-float",)), ("mindspore.mint.exp", "tensor", None),
        ("mindspore.nn.ReLU", "tensor", ("same",)),
    ],
)  # fmt: skip
def test_what_is_known_for_sure(version, name, form, dtypes):
    result = table(version)[name]
    assert result.form == form
    assert dtypes is None or result.dtypes == dtypes


def test_the_nearest_version_that_is_not_newer_counts():
    assert table("2.9") is not table("2.10")
    assert table("2.9") == table("2.7")
    assert table("3.1") == table("2.10")
    assert table("2.7.1") == table("2.7")


def test_a_rule_in_full():
    assert Result.parse("tuple same,- same") == Result("tuple", ("same", ""), "same")
    assert Result.parse("tensor - -") == Result("tensor")
