"""Fixes on top of fixes: a third party's rule whose fixes overlap, in a process of its own that has it installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SPECIMENS = Path(__file__).parent / "data" / "specimens"
PROGRAM = """
from pathlib import Path
from graphward.config import Config
from graphward.review import actions as act
from graphward.review.checking import Checker, final
from graphward.review.session import Review, Ways
from graphward.review.status import Status
from graphward.review.store import Store

TEXT = '''from mindspore import Tensor, nn


class Net(nn.Cell):
    def construct(self, x: Tensor):
        return old(old(old(x)))
'''
PATH = Path("net.py")


def begin():
    review = Review(Checker([Path()], Config(root=Path())), Store(Path()), Ways())
    review.begin(review.checker.first()[0])
    return review


def line(review):
    return final(review.state.files[PATH]).text.splitlines()[-1].strip()


def states(review):
    return [e.status.value for e in review.state.all_entries()]


PATH.write_text(TEXT)
review = begin()
"""


def run(program: str, folder: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(SPECIMENS), "XDG_STATE_HOME": str(folder / "state"),
           "XDG_CACHE_HOME": str(folder / "cache")}  # fmt: skip
    command = [sys.executable, "-c", PROGRAM + program]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


ACCEPT_ALL_THREE = """
outer = review.state.selected
for expected in ("return new(old(old(x)))", "return new(new(old(x)))", "return new(new(new(x)))"):
    review.do(act.Accept())
    assert line(review) == expected, line(review)
    assert review.state.counts[Status.OPEN] == 0
    review.settle()
assert states(review) == ["accepted"] * 3
assert len(review.state.files[PATH].layers) == 3
"""


def test_what_waits_is_decided_on_the_text_that_the_others_leave(tmp_path: Path):
    run(ACCEPT_ALL_THREE, tmp_path)


def test_the_list_says_at_once_what_waits(tmp_path: Path):
    program = """
state = review.do(act.Accept())
assert states(review) == ["accepted", "waiting", "waiting"]
assert "It overlaps 2 other findings" in state.message
review.settle()
assert states(review) == ["accepted", "open", "open"]
assert "2 findings that overlapped can be decided now" in review.state.message
"""
    run(program, tmp_path)


def test_taking_one_back_takes_those_on_top_of_it_too(tmp_path: Path):
    program = """
review.do(act.Select(outer))
state = review.do(act.Reopen())
assert "2 findings accepted on top of it went with it." in state.message, state.message
review.settle()
assert states(review) == ["open"] * 3
assert final(review.state.files[PATH]).text == TEXT
for _ in range(4):
    review.do(act.Undo())
    review.settle()
assert states(review) == ["open"] * 3
review.do(act.Redo())
review.settle()
review.do(act.Redo())
assert line(review) == "return new(new(old(x)))"
"""
    run(ACCEPT_ALL_THREE + program, tmp_path)


def test_layers_are_found_again_the_next_time(tmp_path: Path):
    program = """
review.end()
again = begin()
assert states(again) == ["accepted"] * 3
assert line(again) == "return new(new(new(x)))"
"""
    run(ACCEPT_ALL_THREE + program, tmp_path)


def test_all_safe_ones_are_accepted_layer_by_layer(tmp_path: Path):
    program = """
for _ in range(3):
    review.do(act.AcceptAll(act.Scope.SAFE))
    review.settle()
assert line(review) == "return new(new(new(x)))"
"""
    run(program, tmp_path)


def test_a_fix_that_breaks_the_file_is_refused_and_said(tmp_path: Path):
    program = """
PATH.write_text(TEXT.replace("old(old(old(x)))", "broken(old(x))"))
review = begin()
review.do(act.AcceptAll(act.Scope.FILE))
review.settle()
entries = list(review.state.all_entries())
assert states(review)[0] == "open", states(review)
broken = entries[0]
assert "does not parse" in broken.note
assert "does not parse" in review.state.message
review.do(act.AcceptAll(act.Scope.SAFE))
review.settle()
assert line(review) == "return broken(new(x))", line(review)
"""
    run(program, tmp_path)


def test_fixes_that_parse_alone_but_not_together_are_taken_one_after_the_other(tmp_path: Path):
    program = """
PATH.write_text(TEXT.replace("old(old(old(x)))", "listed(x + seen(x)[0])"))
review = begin()
assert states(review) == ["open"] * 2
review.do(act.AcceptAll(act.Scope.SAFE))
review.settle()
assert states(review) == ["accepted", "open"], states(review)
assert "does not go together with the others" in review.state.message, review.state.message
review.do(act.AcceptAll(act.Scope.SAFE))
review.settle()
assert states(review) == ["accepted"] * 2
assert line(review) == "return listed([x + tuple(seen(x)[0])])", line(review)
assert states(begin()) == ["accepted"] * 2
for expected in (["accepted", "open"], ["open"] * 2):
    review.do(act.Undo())
    review.settle()
    assert states(review) == expected, states(review)
assert final(review.state.files[PATH]).text == PATH.read_text()
"""
    run(program, tmp_path)
