"""Edits: applied over one snapshot, refused when they overlap, minimal when diffed back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphward.source.edits import Edit, apply_edits, conflict, minimal_edits


def test_edits_apply_in_any_order():
    edits = [Edit(4, 7, "B"), Edit(0, 3, "A"), Edit(8, 8, "!")]
    assert apply_edits(b"one two 3", edits) == b"A B !3"


def test_equal_edits_count_once():
    assert apply_edits(b"abc", [Edit(1, 2, "x"), Edit(1, 2, "x")]) == b"axc"


@pytest.mark.parametrize("edits", [[Edit(0, 2, "x"), Edit(1, 3, "y")], [Edit(2, 9, "")]])
def test_what_cannot_be_applied_is_refused(edits):
    with pytest.raises(ValueError):
        apply_edits(b"abc", edits)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Edit(0, 3, "a"), Edit(3, 5, "b"), False),
        (Edit(0, 3, "a"), Edit(2, 5, "b"), True),
        (Edit(0, 3, "a"), Edit(1, 1, "b"), True),
        (Edit(0, 3, "a"), Edit(3, 3, "b"), False),
        (Edit(1, 1, "a"), Edit(1, 1, "b"), True),
        (Edit(1, 1, "a"), Edit(1, 1, "a"), False),
    ],
)
def test_overlap(first, second, expected):
    assert conflict([first], [second]) is expected
    assert conflict([second], [first]) is expected


@given(st.text("ab\n图", max_size=40), st.text("ab\n图", max_size=40))
def test_minimal_edits_turn_one_text_into_the_other(before, after):
    edits = minimal_edits(before.encode(), after.encode())
    assert apply_edits(before.encode(), edits) == after.encode()


def test_minimal_edits_touch_only_what_differs():
    before = b"def f(x):\n    y = x + 1\n    return y\n"
    after = b"def f(x):\n    y = x + 2\n    return y\n"
    assert minimal_edits(before, after, 100) == [Edit(122, 123, "2")]
