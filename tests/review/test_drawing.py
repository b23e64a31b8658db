"""What the panes hold: the rows of a diff, and which of them are in sight."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphward.review import actions as act
from graphward.review.diffing import hunks

from .conftest import NET, Begin

pytest.importorskip("textual")

from graphward.review.screen.difftext import diff_lines

PATH = Path("net.py")


def in_sight(begin: Begin, text: str, line: int, width: int, height: int) -> list[str]:
    """The rows that a pane of that size shows first of the diff of the finding on a line."""
    PATH.write_text(text, encoding="utf-8")
    review = begin()
    file = review.state.files[PATH]
    entry = next(entry for entry in file.entries.values() if entry.item.line == line)
    fix = review.do(act.Select((PATH, entry.key))).shown(entry)
    lines, top = diff_lines(hunks(file, entry.item, fix), width, height, line)
    return [row.plain for row in lines[top : top + height]]


@pytest.mark.parametrize("width", [80, 140])
def test_the_change_is_in_sight_below_a_line_that_takes_many_rows(begin: Begin, project: Path, width: int):
    rows = in_sight(begin, NET.replace("abs(x.asnumpy())))", f"abs(x.asnumpy())))  # {'长 ' * 1000}"), 11, width, 8)
    assert any("- " in row and "x.transpose(1, 2)" in row for row in rows)
    assert any("+ " in row and "x.swapaxes(1, 2)" in row for row in rows)


def test_the_change_is_in_sight_in_a_pane_that_is_lower_than_the_hunk(begin: Begin, project: Path):
    text = "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def __init__(self):\n        super().__init__()\n\n"
    text += "    def construct(self, x):\n        x = x + 1\n        return nn.ReLU()(x)\n"
    assert in_sight(begin, text, 10, 80, 5)[-2:] == [
        "10 -         return nn.ReLU()(x)", "11 +         return self.relu(x)",
    ]  # fmt: skip


def test_a_hunk_that_fits_is_shown_from_its_beginning(begin: Begin, project: Path):
    assert in_sight(begin, NET, 7, 80, 12)[0].split() == ["4"]
