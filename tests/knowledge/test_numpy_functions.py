"""The NumPy table: its form, how calls are matched and written, and every row against the real compiler."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphward.knowledge import numpy_functions
from graphward.knowledge.numpy_calls import BoundCall, Refusal, bind, render
from graphward.knowledge.numpy_functions import MEASURED_DTYPES, NumpyRow, function_rows, method_rows

from . import numpy_jobs
from .outcomes import worst

PYTHON = os.environ.get("GRAPHWARD_TEST_PYTHON", sys.executable)


def short(qualified: str) -> str:
    """How a file with the usual imports writes a name."""
    return (
        qualified.removeprefix("mindspore.")
        if qualified.count(".") > 1
        else f"ms.{qualified.removeprefix('mindspore.')}"
    )


def rewrite(source: str, style: str = "functional", rows: tuple[NumpyRow, ...] | None = None) -> str:
    """``exp(x)`` as MindSpore writes it, or ``refused: <reason>``."""
    call = ast.parse(source, mode="eval").body
    assert isinstance(call, ast.Call)
    outcome = bind(rows or function_rows(ast.unparse(call.func)), call.args, call.keywords)
    if isinstance(outcome, Refusal):
        return f"refused: {outcome.reason}"
    return render(outcome, style, lambda argument: ast.unparse(argument.node), short)


@pytest.mark.parametrize(
    ("call", "functional", "primitive", "mint"),
    [
        ("exp(x)", "ops.exp(x)", "ops.Exp()(x)", "mint.exp(x)"),
        ("arcsin(x=y)", "ops.arcsin(y)", "ops.Asin()(y)", "mint.arcsin(y)"),
        ("sum(x)", "ops.sum(x)", "ops.ReduceSum()(x)", "mint.sum(x)"),
        ("mean(x, 1, keepdims=True)", "ops.mean(x, 1, keep_dims=True)", "ops.ReduceMean(keep_dims=True)(x, 1)",
         "mint.mean(x, 1, keepdim=True)"),
        ("sum(x, axis=None)", "ops.sum(x)", "ops.ReduceSum()(x)", "mint.sum(x)"),
        ("concatenate([x, y], axis=1)", "ops.cat([x, y], axis=1)", "ops.Concat(axis=1)([x, y])",
         "mint.cat([x, y], dim=1)"),
        ("reshape(x, -1)", "ops.reshape(x, (-1,))", "ops.Reshape()(x, (-1,))", "mint.reshape(x, (-1,))"),
        ("transpose(x)", "x.T", "x.T", "x.T"),
        ("transpose(x + y)", "(x + y).T", "(x + y).T", "(x + y).T"),
        ("std(x)", "ops.std(x)", "ops.std(x)", "mint.std(x, correction=0)"),
        ("argmin(x, 0)", "ops.argmin(x, 0).astype(ms.int64)", "ops.argmin(x, 0).astype(ms.int64)", "mint.argmin(x, 0)"),
        ("zeros((2, 3))", "ops.zeros((2, 3), ms.float64)", "ops.zeros((2, 3), ms.float64)",
         "mint.zeros((2, 3), dtype=ms.float64)"),
        ("clip(x, 0, 1)", "ops.clip(x, 0, 1)", "ops.clip(x, 0, 1)", "mint.clip(x, 0, 1)"),
    ],
)  # fmt: skip
def test_each_style_is_written(call: str, functional: str, primitive: str, mint: str) -> None:
    assert rewrite(call) == functional
    assert rewrite(call, "primitive") == primitive
    assert rewrite(call, "mint") == mint


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("exp(x, out=y)", "the argument out= of numpy.exp has no equivalent"),
        ("sum(x, where=m)", "the argument where= of numpy.sum has no equivalent"),
        ("add(x, y, casting='no')", "the argument casting= of numpy.add has no equivalent"),
        ("sum(*xs)", "unpacked"),
        ("sum(x, **options)", "unpacked"),
        ("sort(x, axis=None)", "numpy.sort with axis=None has no equivalent"),
        ("concatenate(None)", "numpy.concatenate with arrays=None has no equivalent"),
        ("median(x)", "the lower of two middle values"),
        ("exp(x, 1, 2, 3)", "more positional arguments"),
        ("exp(x, colour=2)", "colour="),
        ("exp()", "without x="),
        ("no_such_function(x)", "no known equivalent"),
    ],
)
def test_what_cannot_be_said_is_refused_with_the_reason(call: str, reason: str) -> None:
    assert rewrite(call).startswith("refused: ")
    assert reason in rewrite(call)


def test_methods_take_the_arguments_of_the_function_after_the_array() -> None:
    assert rewrite("sum(x, axis=1)", rows=method_rows("sum")) == "ops.sum(x, 1)"
    assert rewrite("sum(x)", rows=method_rows("sum")) == "x.sum()"
    assert rewrite("reshape(x, 2, -1)", rows=method_rows("reshape")) == "x.reshape(2, -1)"
    assert rewrite("astype(a * b, ms.float16)", rows=method_rows("astype")) == "(a * b).astype(ms.float16)"
    assert rewrite("tolist(x)", rows=method_rows("tolist")).startswith("refused: a Python list")


def test_a_file_may_call_the_modules_otherwise() -> None:
    call = ast.parse("zeros(3)", mode="eval").body
    assert isinstance(call, ast.Call)
    bound = bind(function_rows("zeros"), call.args, call.keywords)
    assert isinstance(bound, BoundCall)
    text = render(bound, "functional", lambda argument: ast.unparse(argument.node), lambda name: name)
    assert text == "mindspore.ops.zeros(3, mindspore.float64)"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"params": "x", "functional": "ops.f({y})"}, "no parameter of the row"),
        ({"params": "x, y!", "functional": "ops.f({x}, {y})"}, "no parameter of the row"),
        ({"params": "x", "functional": "ops.f({x}", "none": "why"}, "either a functional template or a reason"),
        ({"params": "x"}, "either a functional template or a reason"),
        ({"params": "x:colour", "functional": "ops.f({x})"}, "unknown kind 'colour'"),
        ({"params": "x", "functional": "ops.f(<<{x})"}, "<< without >>"),
        ({"params": "x", "functional": "ops.f({x})", "result": "soup"}, "unknown result 'soup'"),
    ],
)
def test_a_row_that_contradicts_itself_is_an_error(row: dict[str, str], message: str) -> None:
    data = {"functions": {"f": [row]}, "methods": {}, "methods_like_functions": [], "attributes": {}, "dtypes": {}}
    with pytest.raises(ValueError, match=message):
        numpy_functions.parse_table(data)


def test_every_row_is_measured_by_some_call() -> None:
    assert [entry.row.name for entry in numpy_jobs.entries() if not entry.row.calls] == []


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, dict[str, Any]]]:
    """The outcome of every call of the table in every style, from the compiler of the chosen interpreter."""
    directory = tmp_path_factory.mktemp("measure")
    jobs, results = directory / "jobs.json", directory / "results.json"
    jobs.write_text(json.dumps(numpy_jobs.all_jobs()))
    script = Path(__file__).with_name("measure_numpy.py")
    run = subprocess.run([PYTHON, str(script), str(jobs), str(results)], capture_output=True, text=True, timeout=900)
    if "No module named 'mindspore'" in run.stderr:
        pytest.skip(f"{PYTHON} has no MindSpore; set GRAPHWARD_TEST_PYTHON")
    assert run.returncode == 0, run.stderr[-2000:]
    outcomes: dict[str, dict[str, dict[str, Any]]] = json.loads(results.read_text())
    return outcomes


def test_every_row_says_what_the_compiler_does(measured: dict[str, dict[str, dict[str, Any]]]) -> None:
    wrong = []
    for entry in numpy_jobs.entries():
        for style in entry.row.templates:
            missing = False
            for dtype in MEASURED_DTYPES:
                found = []
                for call in entry.row.calls:
                    outcome = measured[entry.job_id(call, dtype)][style]
                    found.append(worst([outcome["pynative"], outcome["graph"]]))
                declared = entry.row.outcome(dtype, style)
                if style in entry.row.no_cpu_kernel:
                    missing |= "no-kernel" in found
                elif declared != summary(found):
                    details = [measured[entry.job_id(call, dtype)][style]["detail"] for call in entry.row.calls]
                    wrong.append(f"{entry.section}.{entry.row.name}[{entry.overload}] {style} {dtype}: the table says "
                                 f"{declared!r}, measured {found} {details}")  # fmt: skip
            if style in entry.row.no_cpu_kernel and not missing:
                wrong.append(
                    f"{entry.section}.{entry.row.name}[{entry.overload}] {style}: the kernel exists, measure it"
                )
    assert wrong == []


def test_a_gradient_that_is_called_zero_is_zero(measured: dict[str, dict[str, dict[str, Any]]]) -> None:
    wrong = {}
    for entry in numpy_jobs.entries():
        for call in () if entry.row.has_gradient else entry.row.calls:
            found = measured[entry.job_id(call, "float32")]["functional"].get("gradient")
            if found:
                wrong[entry.job_id(call, "float32")] = found
    assert wrong == {}


def summary(outcomes: list[str]) -> str:
    """The outcome of a row: the worst of its calls, leaving out those that NumPy itself refuses."""
    real = ["rejects" if outcome == "no-kernel" else outcome for outcome in outcomes if outcome != "numpy-rejects"]
    return worst(real) if real else "numpy-rejects"
