"""The state machine of the review: real findings, actions, and the state that follows. No terminal."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from graphward.review import actions as act
from graphward.review.checking import final
from graphward.review.diffing import hunks
from graphward.review.editing import BadEdit, draft, edited
from graphward.review.session import Review
from graphward.review.state import State
from graphward.review.status import Status
from graphward.source.fixes import Applicability

from .conftest import NET, Begin

PATH = Path("net.py")


def states(review: Review) -> list[tuple[int, str, str]]:
    """`(line, code, state)` of every finding."""
    return [(e.item.line, e.item.finding.code, e.status.value) for e in review.state.all_entries()]


def at(state: State, line: int, number: int = 0) -> tuple[Path, str]:
    """The place of a finding on a line."""
    keys = [k for k, e in state.files[PATH].entries.items() if e.item.line == line]
    return PATH, keys[number]


def text(review: Review) -> str:
    return final(review.state.files[PATH]).text


def test_begins_at_the_first_finding_with_everything_open(begin: Begin):
    review = begin()
    assert states(review) == [
        (7, "GW110", "open"), (8, "GW310", "open"), (10, "GW101", "open"), (10, "GW101", "open"), (11, "GW110", "open"),
    ]  # fmt: skip
    assert review.state.selected == at(review.state, 7)
    assert review.state.rows[0] == (PATH, "")


def test_accept_takes_the_shown_fix_and_goes_on(begin: Begin):
    review = begin()
    before = review.state
    after = review.do(act.Accept())
    assert before.counts[Status.OPEN] == 5  # states do not change
    assert (after.counts[Status.ACCEPTED], after.counts[Status.OPEN]) == (1, 4)
    assert after.selected == at(after, 8)
    assert "x.swapaxes(0, 1)  # 转置" in text(review)


def test_one_fix_that_mends_two_findings_says_so_at_once(begin: Begin):
    review = begin()
    review.do(act.Select(at(review.state, 10)))
    state = review.do(act.Accept())
    assert "It mends another finding too." in state.message
    assert [s for line, _, s in states(review) if line == 10] == ["accepted", "unnecessary"]
    assert state.selected == at(state, 11)
    review.do(act.Select(at(state, 10, 1)))
    assert "nothing to accept" in review.do(act.Accept()).message
    review.settle()
    assert [s for line, _, s in states(review) if line == 10] == ["accepted", "unnecessary"]


def test_a_fix_that_overlaps_an_accepted_one_waits_for_the_new_text(begin: Begin):
    review = begin()
    state = review.do(act.Select(at(review.state, 10, 1)))
    review.do(act.ShowNext())
    state = review.do(act.Accept())
    assert "It overlaps another finding: checked again on the new text." in state.message
    place = at(state, 10)
    assert state.files[PATH].entries[place[1]].status is Status.WAITING
    review.do(act.Select(place))
    assert "being checked again" in review.do(act.Accept()).message
    review.settle()
    # Both calls are one island: the fix has mended the other as well.
    assert review.state.files[PATH].entries[place[1]].status is Status.UNNECESSARY
    assert "no longer needed" in review.state.message


def test_what_a_fix_brings_up_is_added_and_can_be_decided(begin: Begin, project: Path):
    # The outer call can be mended only once the text around it has changed.
    review = begin()
    while (review.state.entry is not None) and review.state.counts[Status.OPEN]:
        before = review.state.counts[Status.OPEN]
        review.do(act.Accept())
        review.settle()
        assert review.state.counts[Status.OPEN] < before
    assert "np." not in text(review)
    assert "import numpy" not in text(review)
    assert review.left() == 0


def test_a_finding_that_says_something_else_after_a_fix_is_still_the_same_one(begin: Begin, project: Path):
    text = "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def construct(self, x):\n"
    text += "        x = nn.LayerNorm((4,))(x)\n        return nn.LayerNorm((4,))(x)\n"
    (project / "net.py").write_text(text, encoding="utf-8")
    review = begin()
    says = [entry.item.finding.message for entry in review.state.all_entries()]
    review.do(act.Accept())
    review.settle()
    first, second = review.state.all_entries()
    assert (first.status, second.status, second.item.new) == (Status.ACCEPTED, Status.OPEN, False)
    assert second.item.finding.message not in says
    review.do(act.Accept())
    review.settle()
    assert [entry.status for entry in review.state.all_entries()] == [Status.ACCEPTED] * 2
    again = begin()
    assert [entry.status for entry in again.state.all_entries()] == [Status.ACCEPTED] * 2


def test_alternatives_are_cycled_and_the_shown_one_is_taken(begin: Begin):
    review = begin()
    review.do(act.Select(at(review.state, 10)))
    entry = review.state.entry
    assert entry is not None and len(entry.item.fixes) == 2
    titles = []
    for _ in range(3):
        shown = review.state.shown(entry)
        assert shown is not None
        titles.append(shown.title)
        review.do(act.ShowNext())
    assert titles == [entry.item.fixes[0].title, entry.item.fixes[1].title, entry.item.fixes[0].title]
    review.do(act.ShowNext())
    review.do(act.ShowNext(-1))
    review.do(act.Accept())
    decision = review.state.files[PATH].decisions[entry.key][1]
    assert decision.fix.title == titles[1]
    assert "stop_gradient" in text(review)


def test_another_alternative_replaces_an_accepted_one(begin: Begin):
    review = begin()
    place = at(review.state, 10)
    review.do(act.Select(place))
    review.do(act.Accept())
    review.settle()
    review.do(act.Select(place))
    review.do(act.ShowNext())
    review.do(act.Accept())
    assert review.state.counts[Status.ACCEPTED] == 1
    assert "stop_gradient" in text(review)


def test_reject_clear_and_the_whole_file(begin: Begin):
    review = begin()
    place = review.state.selected
    review.do(act.Reject())
    assert states(review)[0][2] == "rejected"
    assert place is not None
    review.do(act.Select(place))
    review.do(act.Reopen())
    assert states(review)[0][2] == "open"
    review.do(act.Select((PATH, "")))
    state = review.do(act.Reject())
    assert state.counts[Status.REJECTED] == 5
    assert review.left() == 5


@pytest.mark.parametrize(
    ("scope", "accepted"), [(act.Scope.RULE, [7, 11]), (act.Scope.SAFE, [7, 8, 11]), (act.Scope.FILE, [7, 8, 10, 11])]
)
def test_accept_all(begin: Begin, scope: act.Scope, accepted: list[int]):
    review = begin()
    state = review.do(act.AcceptAll(scope))
    assert [line for line, _, s in states(review) if s == "accepted"] == accepted
    assert f"Accepted {len(accepted)} findings." in state.message
    review.settle()
    compile(text(review), "net.py", "exec")
    assert review.do(act.Undo()).counts[Status.OPEN] == 5


@pytest.mark.parametrize("scope", act.Scope)
def test_what_is_counted_is_what_the_list_holds(begin: Begin, scope: act.Scope):
    review = begin()
    for action in (act.Suppress(), act.Reject(), act.AcceptAll(scope), act.Undo(), act.Redo(), act.AcceptAll(scope)):
        state = review.do(action)
        counted = {status: count for status, count in state.counts.items() if count}
        assert counted == Counter(entry.status for entry in state.all_entries())
    review.settle()
    assert review.state.counts == Counter(entry.status for entry in review.state.all_entries())


def test_accept_all_takes_only_what_the_list_shows(begin: Begin):
    review = begin()
    review.do(act.SetFilter("rule:GW310"))
    review.do(act.AcceptAll(act.Scope.FILE))
    assert [line for line, _, s in states(review) if s == "accepted"] == [8]


def test_undo_and_redo_without_limit(begin: Begin):
    review = begin()
    seen = [states(review)]
    for action in (act.Accept(), act.Reject(), act.Suppress(), act.Accept(), act.AcceptAll(act.Scope.FILE)):
        before = states(review)
        review.do(action)
        review.settle()
        if states(review) != before:
            seen.append(states(review))
    for expected in reversed(seen[:-1]):
        review.do(act.Undo())
        review.settle()
        assert states(review) == expected
    assert text(review) == NET
    assert "nothing to undo" in review.do(act.Undo()).message
    for expected in seen[1:]:
        review.do(act.Redo())
        review.settle()
        assert states(review) == expected
    assert "nothing to redo" in review.do(act.Redo()).message


def test_a_new_decision_ends_what_could_be_redone(begin: Begin):
    review = begin()
    review.do(act.Accept())
    review.do(act.Undo())
    review.do(act.Reject())
    assert "nothing to redo" in review.do(act.Redo()).message


def test_suppress_writes_a_comment_that_silences_the_rule(begin: Begin):
    review = begin()
    state = review.do(act.Suppress())
    assert state.counts[Status.SUPPRESSED] == 1
    review.settle()
    assert "x = x.transpose(0, 1)  # 转置  # graphward: ignore[GW110]\n" in text(review)
    assert review.state.files[PATH].fresh is not None
    assert not [i for i in review.state.files[PATH].fresh.items if i.line == 7]
    review.do(act.Select(at(review.state, 10)))
    review.do(act.Suppress())
    assert "np.abs(x.asnumpy())))  # graphward: ignore[GW101]\n" in text(review)


def test_next_and_previous_go_round_and_skip_what_is_decided(begin: Begin):
    review = begin()
    review.do(act.Reject())
    assert review.state.selected == at(review.state, 8)
    review.do(act.GoOpen(-1))
    assert review.state.selected == at(review.state, 11)
    review.do(act.GoOpen())
    assert review.state.selected == at(review.state, 8)
    review.do(act.Move(-1))
    assert review.state.selected == at(review.state, 7)
    review.do(act.Move(-100))
    assert review.state.selected == (PATH, "")
    for _ in range(5):
        review.do(act.GoOpen())
        review.do(act.Reject())
    assert "Nothing is left" in review.do(act.GoOpen()).message


@pytest.mark.parametrize(
    ("filter", "lines"),
    [
        ("rule:GW1", [7, 10, 10, 11]), ("rule:bool-xor", [8]), ("consequence:fallback", [10, 10]),
        ("fix:safe", [7, 8, 11]), ("state:open", [7, 8, 10, 10, 11]), ("state:rejected", []), ("tanh", [10]),
        ("rule:GW110 (1,", [11]), ("", [7, 8, 10, 10, 11]),
    ],
)  # fmt: skip
def test_filters(begin: Begin, filter: str, lines: list[int]):
    review = begin()
    state = review.do(act.SetFilter(filter))
    assert [state.files[p].entries[k].item.line for p, k in state.rows if k] == lines


def test_a_filter_that_cannot_be_understood_changes_nothing(begin: Begin):
    review = begin()
    state = review.do(act.SetFilter("state:wrong"))
    assert "state is one of open" in state.message
    assert len(state.rows) == 6


def test_with_a_filter_on_the_state_decided_findings_leave_the_list(begin: Begin):
    review = begin()
    review.do(act.SetFilter("state:open"))
    state = review.do(act.Accept())
    assert len([k for _, k in state.rows if k]) == 4
    assert state.entry is not None and state.entry.status is Status.OPEN


def test_fold_hides_the_findings_of_a_file(begin: Begin):
    review = begin()
    state = review.do(act.Fold())
    assert state.rows == [(PATH, "")]
    assert state.selected == (PATH, "")
    assert len(review.do(act.Fold()).rows) == 6


def test_an_edited_text_is_kept_if_it_parses(begin: Begin):
    review = begin()
    place = review.state.selected
    entry = review.state.entry
    assert entry is not None and place is not None
    proposal = draft(entry.item, review.state.shown(entry))
    assert proposal.document.startswith("#| net.py, lines 7 to 7: GW110 ")
    assert proposal.document.endswith("        x = x.swapaxes(0, 1)  # 转置\n")
    with pytest.raises(BadEdit, match="does not parse"):
        edited(proposal, "        x = x.swapaxes(0, 1\n")
    assert edited(proposal, "#| all comments\n\n") is None
    assert edited(proposal, proposal.document) is entry.item.fixes[0]
    fix = edited(proposal, proposal.document.replace("(0, 1)", "(1, 0)"))
    assert fix is not None and fix.applicability is Applicability.UNSAFE
    review.do(act.TakeText(place, fix))
    assert "        x = x.swapaxes(1, 0)  # 转置\n" in text(review)
    assert review.state.counts[Status.ACCEPTED] == 1


def test_an_edited_text_for_a_file_that_has_changed_since_is_not_taken(begin: Begin):
    review = begin()
    entry, place = review.state.entry, review.state.selected
    assert entry is not None and place is not None
    proposal = draft(entry.item, review.state.shown(entry))
    fix = edited(proposal, proposal.document.replace("(0, 1)", "(1, 0)"))
    assert fix is not None
    theirs = f"# theirs\n{NET}"
    PATH.write_text(theirs, encoding="utf-8")
    review.take(PATH, review.look_again(PATH))
    assert "has changed under this text" in review.do(act.TakeText(place, fix, entry.item.source)).message
    assert text(review) == theirs


def test_an_edited_text_keeps_what_only_looks_like_the_end_of_a_line(begin: Begin, project: Path):
    (project / "net.py").write_text(NET.replace("# 转置", "# a\x0cb\u2028c"), encoding="utf-8")
    review = begin()
    entry = review.state.entry
    assert entry is not None
    proposal = draft(entry.item, review.state.shown(entry))
    assert edited(proposal, proposal.document) is entry.item.fixes[0]
    fix = edited(proposal, proposal.document.replace("(0, 1)", "(1, 0)").replace("\n", "\r\n"))
    assert fix is not None and fix.edits[0].text == "        x = x.swapaxes(1, 0)  # a\x0cb\u2028c\n"


def test_lines_of_a_notebook_are_told_by_cell(begin: Begin, project: Path):
    cells = ["import numpy as np\nfrom mindspore import Tensor, nn\n", NET.partition("nn\n\n\n")[2]]
    book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell} for cell in cells
    ]}  # fmt: skip
    (project / "net.py").unlink()
    (project / "book.ipynb").write_text(json.dumps(book), encoding="utf-8")
    review = begin()
    entries = list(review.state.all_entries())
    assert [entry.item.line_shown for entry in entries] == ["2:3", "2:4", "2:6", "2:6", "2:7"]
    review.do(act.Accept())
    file = review.state.files[Path("book.ipynb")]
    item = entries[2].item
    found = hunks(file, item, item.fixes[0], 1)
    shown = [[(line.mark, line.shown) for line, _ in hunk.unified()] for hunk in found]
    assert shown == [
        [(" ", "1:1"), ("-", "1:2"), ("+", "1:2"), (" ", "1:3")],
        [(" ", "2:5"), ("-", "2:6"), ("+", "2:6"), (" ", "2:7")],
    ]


def test_work_in_the_background_that_comes_too_late_is_dropped(begin: Begin):
    review = begin()
    review.do(act.Accept())
    late = review.checker.settle(review.unsettled(), review.state.files)
    review.do(act.Undo())
    before = review.state.files
    for action in late:
        review.do(action)
    assert review.state.files is before


def test_a_thousand_decisions_can_be_undone(begin: Begin):
    review = begin()
    for _ in range(500):
        review.do(act.Select(at(review.state, 8)))
        review.do(act.Accept())
        review.do(act.Select(at(review.state, 8)))
        review.do(act.Reopen())
    for _ in range(1000):
        review.do(act.Undo())
    assert text(review) == NET
    assert "nothing to undo" in review.do(act.Undo()).message
