"""The cells of a notebook as one module."""

from __future__ import annotations

import ast

import pytest

from graphward.source.notebooks import join_cells


def test_cells_begin_where_they_say():
    joined = join_cells(["a = 1\nb = 2", "", "c = 3\r\n", "d = 4"])
    assert joined.text == "a = 1\nb = 2\n\nc = 3\n\nd = 4\n"
    assert joined.starts == (0, 2, 3, 5)
    assert join_cells([]).text == ""


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\nx = 1", "\nx = 1\n"),
        ("!pip install \\\n  mindspore\nx = 1", "\n\nx = 1\n"),
        ("files = !ls\nn = %time f()", "files = None\nn = None\n"),
        ("if gpu:\n    !nvidia-smi\nx = 1", "if gpu:\n    pass\nx = 1\n"),
        ("?print\nnet.construct??\nx = 1", "\n\nx = 1\n"),
        ("x = (a\n% b)", "x = (a\n% b)\n"),
        ("x = a % b\ny = a != b", "x = a % b\ny = a != b\n"),
        ("%%time\nx = 1", "\nx = 1\n"),
        ("\n%%bash\nclass (", "\n\n\n"),
        ("%%html\n<b>", "\n\n"),
    ],
)
def test_what_is_no_python_is_left_out_and_the_rest_stays_where_it_is(cell: str, python: str):
    joined = join_cells([cell, "last = 1"])
    assert joined.text == python + "last = 1\n"
    assert joined.starts[1] == cell.count("\n") + 1
    ast.parse(joined.text)
