"""Jobs for measure_numpy.py: every sample call of every row of the NumPy table, in every style, for every dtype."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphward.knowledge import numpy_functions
from graphward.knowledge.numpy_calls import Argument, BoundCall, Refusal, bind, render
from graphward.knowledge.numpy_functions import NumpyRow, mindspore_dtype


def rows() -> Iterator[tuple[str, int, NumpyRow]]:
    """("function" or "method", number of the overload, row) for each row that has a template."""
    table = numpy_functions.table()
    for section, entries in (("function", table.functions), ("method", table.methods)):
        for name, overloads in entries.items():
            for number, row in enumerate(overloads):
                if not row.none and not (section == "method" and row in table.functions.get(name, ())):
                    yield section, number, row


def job_id(section: str, row: NumpyRow, number: int, call: str, dtype: str) -> str:
    return f"{section}|{row.name}|{number}|{call}|{dtype}"


def jobs(dtypes: tuple[str, ...] = numpy_functions.MEASURED_DTYPES) -> list[dict]:
    found = []
    for section, number, row in rows():
        for call in row.calls:
            node = ast.parse(f"f({call})", mode="eval").body
            assert isinstance(node, ast.Call)
            for dtype in dtypes:
                found.append(
                    {
                        "id": job_id(section, row, number, call, dtype),
                        "numpy": numpy_expression(section, row, node),
                        "mindspore": {style: mindspore_expression(row, node, style) for style in row.templates},
                        "dtype": dtype,
                        "domain": row.domain,
                    }
                )
    return found


def numpy_expression(section: str, row: NumpyRow, call: ast.Call) -> str:
    arguments = [ast.unparse(argument) for argument in call.args]
    keywords = [f"{keyword.arg}={ast.unparse(keyword.value)}" for keyword in call.keywords]
    if section == "method":
        return f"({arguments[0]}).{row.name}({', '.join(arguments[1:] + keywords)})"
    return f"np.{row.name}({', '.join(arguments + keywords)})"


def mindspore_expression(row: NumpyRow, call: ast.Call, style: str) -> str:
    bound = bind((row,), call.args, call.keywords)
    assert isinstance(bound, BoundCall), (row.name, ast.unparse(call), bound)
    return render(bound, style, _text, {"ops": "ops", "mint": "mint", "ms": "ms"}).text


def _text(argument: Argument) -> str:
    text = ast.unparse(argument.node)
    return f"ms.{mindspore_dtype(text.removeprefix('np.'))}" if argument.parameter.kind == "dtype" else text


__all__ = ["Refusal", "job_id", "jobs", "rows"]
