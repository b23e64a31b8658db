"""Jobs for measure_numpy.py: every sample call of every row of the NumPy table, in every style, for every dtype."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from graphward.knowledge import numpy_functions
from graphward.knowledge.numpy_calls import Argument, BoundCall, bind, render
from graphward.knowledge.numpy_functions import MEASURED_DTYPES, NumpyRow, mindspore_dtype


@dataclass(frozen=True)
class Entry:
    """A row with templates, where it stands: "functions" or "methods", and which overload of its name it is."""

    section: str
    overload: int
    row: NumpyRow

    def job_id(self, call: str, dtype: str) -> str:
        return f"{self.section}.{self.row.name}[{self.overload}]({call}) {dtype}"


def entries() -> Iterator[Entry]:
    """Each row that has a template, once: a method that shares a function's row is measured as that function."""
    table = numpy_functions.table()
    for section, names in (("functions", table.functions), ("methods", table.methods)):
        for name, overloads in names.items():
            for number, row in enumerate(overloads):
                if not row.none and (section == "functions" or row not in table.functions.get(name, ())):
                    yield Entry(section, number, row)


def all_jobs() -> list[dict[str, Any]]:
    return [_job(entry, call, dtype) for entry in entries() for call in entry.row.calls for dtype in MEASURED_DTYPES]


def _job(entry: Entry, call: str, dtype: str) -> dict[str, Any]:
    row = entry.row
    node = ast.parse(f"f({call})", mode="eval").body
    assert isinstance(node, ast.Call)
    return {
        "id": entry.job_id(call, dtype),
        "numpy": numpy_expression(entry.section, row, node),
        "mindspore": {style: mindspore_expression(row, node, style) for style in row.templates},
        "alone": [
            s for s in row.templates if s in row.no_cpu_kernel or row.outcome(dtype, s) in ("rejects", "differs")
        ],
        "gradient": dtype == "float32" and not row.has_gradient,
        "dtype": dtype,
        "domain": row.domain,
    }


def numpy_expression(section: str, row: NumpyRow, call: ast.Call) -> str:
    arguments = [ast.unparse(argument) for argument in call.args]
    keywords = [f"{keyword.arg}={ast.unparse(keyword.value)}" for keyword in call.keywords]
    if section == "methods":
        return f"({arguments[0]}).{row.name}({', '.join(arguments[1:] + keywords)})"
    return f"np.{row.name}({', '.join(arguments + keywords)})"


def mindspore_expression(row: NumpyRow, call: ast.Call, style: str) -> str:
    bound = bind((row,), call.args, call.keywords)
    assert isinstance(bound, BoundCall), (row.name, ast.unparse(call), bound)
    return render(bound, style, _text, _spell)


def _text(argument: Argument) -> str:
    text = ast.unparse(argument.node)
    return f"ms.{mindspore_dtype(text.removeprefix('np.'))}" if argument.parameter.kind == "dtype" else text


def _spell(qualified: str) -> str:
    owner, _, name = qualified.rpartition(".")
    return f"{owner.removeprefix('mindspore.') if '.' in owner else 'ms'}.{name}"
