"""What is known of names that MindSpore removed, renamed or deprecated, against its tables and the wheel at hand."""

from __future__ import annotations

import json
import subprocess

import pytest

from graphward.knowledge.renames import VERSIONS, keyword_changes, successors, version

LATEST = version(VERSIONS[-1])
# How an operator of `successors` is called, old and new alike, for those that are to mean the same.
CALLS = {
    "mindspore.ops.TensorAdd": "{0}()(x, x)", "mindspore.ops.Pack": "{0}(axis=1)((x, x))",
    "mindspore.ops.Unpack": "{0}(axis=1)(x)", "mindspore.ops.Gelu": "{0}()(x)", "mindspore.ops.FastGelu": "{0}()(x)",
    "mindspore.ops.GatherV2": "{0}()(x, Tensor([1]), 0)", "mindspore.ops.accumulate_n": "{0}((x, x))",
    "mindspore.ops.AccumulateNV2": "{0}()((x, x))", "mindspore.ops.neg_tensor": "{0}(x)",
    "mindspore.ops.pack": "{0}((x, x))", "mindspore.ops.isinstance_": "{0}(x, Tensor)",
    "mindspore.ops.while_loop": "{0}(lambda v: v.sum() < 100, lambda v: v + 1, x)",
    "mindspore.ops.fori_loop": "{0}(0, 3, lambda i, v: v + i, x)",
    "mindspore.ops.scan": "{0}(lambda c, e: (c + e, c), x[0], [x[1], x[1]], 2)",
}  # fmt: skip
# What still exists and cannot be run there: no kernel on the CPU, or what the entry says of it.
CANNOT_RUN = {"mindspore.ops.AccumulateNV2", "mindspore.ops.accumulate_n", "mindspore.ops.GatherV2"}
PROGRAM = """
import json, sys
import numpy as np
import mindspore
import mindspore.mint, mindspore.amp, mindspore.dataset
from mindspore import Tensor, ops

x = Tensor(np.arange(6).reshape(2, 3).astype(np.float32))

def outcome(text):
    try:
        return repr(eval(text))
    except Exception as error:
        return f"{type(error).__name__}: {error}"

print(json.dumps([outcome(line) for line in json.load(sys.stdin)]))
"""


def asked(python: str, lines: list[str]) -> list[str]:
    """What the wheel at hand makes of each expression."""
    run = subprocess.run([python, "-c", PROGRAM], input=json.dumps(lines), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def failed(result: str) -> bool:
    return result.split(":")[0].endswith("Error")


@pytest.mark.parametrize("old", sorted(successors()))
def test_an_entry_has_a_reason_to_be_there(old: str):
    """The name is missing or deprecated, and there is something else to be said for it."""
    entry = successors()[old]
    assert LATEST.missing(old) or LATEST.deprecation(old) or entry.deprecated
    assert bool(entry.new) is not bool(entry.advice)
    assert not entry.reason or entry.new
    if "." in entry.new:
        assert LATEST.missing(entry.new.rstrip("()")) is None


def test_successors_take_the_same_call(mindspore_python: str):
    meant = [old for old, entry in successors().items() if entry.new and old in CALLS]
    assert set(CALLS) == set(meant)
    new = asked(mindspore_python, [CALLS[old].format(successors()[old].new) for old in meant])
    before = asked(mindspore_python, [CALLS[old].format(old) for old in meant])
    for old, one, other in zip(meant, before, new):
        assert not failed(other), (old, other)
        if LATEST.missing(old):
            assert one.startswith("AttributeError"), (old, one)
        elif old not in CANNOT_RUN:
            assert one == other, old


def test_the_tables_are_those_of_the_wheel(mindspore_python: str):
    (installed,) = asked(mindspore_python, ["mindspore.__version__"])
    here = ".".join(installed.strip("'").split(".")[:2])
    if here not in VERSIONS:
        pytest.skip(f"no table for MindSpore {here}")
    known = version(here)
    names = [
        "mindspore.jit", "mindspore.ms_function", "mindspore.ops.control_depend", "mindspore.ops.WhileLoop",
        "mindspore.ops.operations.TensorAdd", "mindspore.nn.transformer", "mindspore.dataset.vision.Resize",
        "mindspore.set_device", "mindspore.TensorSpec", "mindspore.mint.nn.functional.relu",
    ]  # fmt: skip
    for name, result in zip(names, asked(mindspore_python, names)):
        assert failed(result) is (known.missing(name) is not None), name


def test_keywords_are_those_of_the_wheel(mindspore_python: str):
    calls = {
        "ops.argmax(x, axis=1)": ("mindspore.ops", "argmax", "axis"),
        "ops.argmax(x, dim=1)": ("mindspore.ops", "argmax", "dim"),
        "ops.sum(x, axis=1)": ("mindspore.ops", "sum", "axis"),
        "mindspore.mint.sum(x, axis=1)": ("mindspore.mint", "sum", "axis"),
        "ops.mean(x, keepdims=True)": ("mindspore.ops", "mean", "keepdims"),
        "mindspore.nn.Dense(2, 3, bias=False)": ("mindspore.nn", "Dense", "bias"),
        "mindspore.nn.Dense(2, 3, has_bias=False)": ("mindspore.nn", "Dense", "has_bias"),
    }  # fmt: skip
    for (call, where), result in zip(calls.items(), asked(mindspore_python, list(calls))):
        assert ("unexpected keyword" in result) is LATEST.unknown_keyword(*where), (call, result)


@pytest.mark.parametrize(
    "name", ["mindspore.ops.argmax", "mindspore.ops.sum", "mindspore.nn.Dense", "mindspore.mint.mean"]
)
def test_a_new_keyword_is_one_that_the_callable_takes(name: str):
    module, _, function = name.rpartition(".")
    changes = keyword_changes(name)
    assert changes
    for old, change in changes.items():
        if LATEST.unknown_keyword(module, function, old) and change.new:
            assert LATEST.takes(module, function, change.new), (name, old)


def test_versions_between_two_tables_lack_only_what_both_lack():
    assert version("2.8").missing("mindspore.ms_function") == "mindspore.ms_function"
    assert version("2.8").missing("mindspore.set_offload_context") is None
    assert version("2.10").missing("mindspore.set_offload_context")
    assert version("2.7").missing("mindspore.set_offload_context") is None
    assert version("2.8").deprecation("mindspore.ops.randint") is None
    assert version("2.10").deprecation("mindspore.ops.randint") is not None
    assert version("2.7").context_key("grad_for_scalar")[0] != "removed"
    assert version("2.10").context_key("grad_for_scalar") == ("removed", "tensor derivative")
    assert version("3.1").missing("mindspore.ms_class")


@pytest.mark.parametrize(
    ("written", "missing"),
    [
        ("mindspore.dataset.vision.c_transforms.Resize", "mindspore.dataset.vision.c_transforms"),
        ("mindspore.ops.operations.ControlDepend", "mindspore.ops.operations.ControlDepend"),
        ("mindspore.Tensor.no_such_method", None), ("mindspore._private.name", None),
        ("mindspore.profiler.mstx.range_start", None), ("mindspore.ops.functional.tensor_add", None),
    ],
)  # fmt: skip
def test_the_shortest_missing_part_is_told(written: str, missing: str | None):
    assert LATEST.missing(written) == missing
