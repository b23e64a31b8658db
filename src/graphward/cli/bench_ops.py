"""`graphward bench --ops`: the table of operators."""

from __future__ import annotations

from ..bench.ops import measure_operators, render_text
from .console import out, print_machine, step_progress
from .options import Format


def print_operators(python: str | None, output_format: Format) -> None:
    """Measure every pair of operators and print the table."""
    with step_progress("measuring operators") as progress:
        table = measure_operators(python, progress=progress)
    if output_format is Format.json:
        print_machine(table.to_json())
        return
    for line in render_text(table):
        out.print(line, markup=False, soft_wrap=True)
