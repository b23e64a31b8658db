"""What outlives a run: decisions, the journal of writes, the patch and the report."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from graphward.errors import GraphwardError
from graphward.review import actions as act
from graphward.review import outcome
from graphward.review.checking import final
from graphward.review.editing import draft, edited
from graphward.review.journal import Journal
from graphward.review.outcome import report
from graphward.review.session import Review, Ways
from graphward.review.status import Status
from graphward.review.store import folder_of

from .conftest import NET, Begin
from .terminal import COMMAND

PATH = Path("net.py")


def states(review: Review) -> list[str]:
    return [e.status.value for e in review.state.all_entries()]


def take_back(project: Path) -> list[Path]:
    return Journal(project).undo()


# Decisions


def test_decisions_are_there_again_without_a_word_of_farewell(begin: Begin):
    first = begin()
    first.do(act.Accept())
    first.do(act.Reject())
    first.do(act.ShowNext())
    first.do(act.Accept())
    first.do(act.Suppress())  # and then the terminal is killed
    again = begin()
    again.settle()
    assert states(again) == ["accepted", "rejected", "accepted", "unnecessary", "suppressed"]
    assert final(again.state.files[PATH]).text == final(first.state.files[PATH]).text
    assert "4 earlier decisions hold" in again.state.message


def test_coming_back_shows_what_is_open_and_resume_goes_on_as_it_was(begin: Begin):
    first = begin()
    first.do(act.Accept())
    first.do(act.Reject())
    first.do(act.SetFilter("GW1"))
    first.do(act.SetFilter("rule:GW110"))
    first.do(act.Move(10))
    place = first.state.selected
    first.end()
    again = begin()
    assert [again.state.files[p].entries[k].item.line for p, k in again.state.rows if k] == [10, 10, 11]
    resumed = begin(as_left=True)
    assert str(resumed.state.filter) == "rule:GW110"
    assert resumed.state.selected == place


def test_fresh_forgets(begin: Begin, project: Path):
    first = begin()
    first.do(act.Accept())
    assert first.store is not None
    first.store.forget()
    assert states(begin()) == ["open"] * 5


def test_a_changed_file_keeps_the_decisions_that_fit_and_marks_what_is_new(begin: Begin, project: Path):
    first = begin()
    first.do(act.Accept())
    first.do(act.Reject())
    changed = NET.replace("        x = x.tr", "        # a new line\n        x = x.tr").replace(
        "return x.", "y = x.transpose(2, 3)\n        return y + x.")  # fmt: skip
    (project / "net.py").write_text(changed, encoding="utf-8")
    again = begin()
    assert states(again)[:2] == ["accepted", "rejected"]
    assert [e.item.line for e in again.state.all_entries() if e.item.new] == [12]
    assert "2 earlier decisions hold; 1 new." in again.state.message
    assert "# a new line\n        x = x.swapaxes(0, 1)" in final(again.state.files[PATH]).text


def test_a_message_that_names_a_line_is_known_again_when_the_line_has_moved(begin: Begin, project: Path):
    text = "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def construct(self, x):\n"
    text += "        x = nn.LayerNorm((4,))(x)\n        return nn.LayerNorm((4,))(x)\n"
    (project / "net.py").write_text(text, encoding="utf-8")
    first = begin()
    assert "in line 7" in next(first.state.all_entries()).item.finding.message
    first.do(act.Reject())
    first.do(act.Accept())
    (project / "net.py").write_text(f"# moved\n{text}", encoding="utf-8")
    again = begin()
    assert states(again) == ["rejected", "accepted"]
    assert again.state.message == "2 earlier decisions hold."


def test_an_edited_text_is_found_again(begin: Begin, project: Path):
    first = begin()
    entry, place = first.state.entry, first.state.selected
    assert entry is not None and place is not None
    proposal = draft(entry.item, first.state.shown(entry))
    fix = edited(proposal, "        x = x.swapaxes(1, 0)\n")
    assert fix is not None
    first.do(act.TakeText(place, fix))
    (project / "net.py").write_text(f"# moved\n{NET}", encoding="utf-8")
    assert "        x = x.swapaxes(1, 0)\n" in final(begin().state.files[PATH]).text


def test_undone_decisions_are_not_there_again(begin: Begin):
    first = begin()
    first.do(act.Accept())
    first.do(act.Undo())
    assert states(begin()) == ["open"] * 5


@pytest.mark.parametrize("lines", [0, 1], ids=["alone", "after others"])
def test_half_a_line_at_the_end_of_the_log_is_ignored_and_said(begin: Begin, project: Path, lines: int):
    first = begin()
    if lines:
        first.do(act.Accept())
    log = folder_of(project) / "decisions.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        file.write(b'{"format": 1, "file": "/half')
    again = begin()
    assert "cut short and is left out" in again.state.message
    assert states(again)[0] == ("accepted" if lines else "open")
    again.do(act.Reject())
    assert "rejected" in states(begin())
    assert "cut short" not in begin().state.message


def many(project: Path, count: int) -> None:
    """Files beside `net.py`, which comes first."""
    for number in range(1, count):
        (project / f"net_{number:02}.py").write_text(NET, encoding="utf-8")


def test_a_decision_on_many_files_is_one_write(begin: Begin, project: Path):
    many(project, 40)
    first = begin()
    log = folder_of(project) / "decisions.jsonl"
    writes = []

    def note(event: str, arguments: tuple) -> None:
        if event == "open" and str(arguments[0]) == str(log) and "w" not in str(arguments[1]) and listening:
            writes.append(arguments)

    listening = True
    sys.addaudithook(note)
    first.do(act.AcceptAll(act.Scope.SAFE))
    listening = False
    assert len(writes) == 1
    assert len(log.read_text(encoding="utf-8").splitlines()) == 40
    assert states(begin()) == states(first)


def test_a_write_that_is_torn_costs_the_file_of_the_torn_line_alone(begin: Begin, project: Path):
    many(project, 12)
    first = begin()
    first.do(act.Accept())
    first.do(act.AcceptAll(act.Scope.SAFE))
    log = folder_of(project) / "decisions.jsonl"
    data = log.read_bytes()
    log.write_bytes(data[:-200])  # within the line of the last file
    again = begin()
    assert "cut short" in again.state.message
    counts = {path.name: file.counts[Status.ACCEPTED] for path, file in again.state.files.items()}
    assert counts == {"net.py": 3} | {f"net_{n:02}.py": 3 if n < 11 else 0 for n in range(1, 12)}


def test_a_log_that_cannot_be_written_is_told_and_stops_nothing(begin: Begin, project: Path):
    folder_of(project).parent.mkdir(parents=True)
    folder_of(project).write_text("in the way")
    review = begin()
    review.do(act.Accept())
    assert review.store is not None and "cannot be kept" in review.store.problem


def test_after_a_write_what_is_in_the_file_is_not_asked_again(begin: Begin):
    first = begin()
    first.do(act.Accept())
    first.do(act.Reject())
    first.write(first.unwritten(), first.begin_write())
    again = begin()
    assert states(again) == ["rejected", "open", "open", "open"]
    assert again.unwritten() == []


def test_what_was_decided_after_a_write_is_there_again_and_nothing_else(begin: Begin, project: Path):
    (project / "net.py").write_text(NET.replace("x.transpose(1, 2)", "x.transpose(0, 1)"), encoding="utf-8")
    first = begin()
    first.do(act.Accept())
    first.write(first.unwritten(), first.begin_write())
    assert first.unwritten() == []
    first.do(act.Accept())  # the xor, and then the terminal is killed
    for _ in range(2):  # the second time, with what the first has kept
        again = begin()
        # The last finding reads as the one that was written did; nobody has decided on it.
        assert states(again) == ["accepted", "open", "open", "open"]
        assert len(again.unwritten()) == 1
        again.do(act.Select(next(p for p in again.state.rows if p[1])))
        again.do(act.Reject())
        again.do(act.Undo())
    again.write(again.unwritten(), again.begin_write())
    text = (project / "net.py").read_text(encoding="utf-8")
    assert " ^ " not in text and text.count("swapaxes") == 1
    assert states(begin()) == ["open", "open", "open"]


def test_a_file_edited_after_a_write_is_asked_only_what_is_open(begin: Begin, project: Path):
    (project / "net.py").write_text(NET.replace("x.transpose(1, 2)", "x.transpose(0, 1)"), encoding="utf-8")
    review = begin()
    review.do(act.Accept())
    review.write(review.unwritten(), review.begin_write())
    PATH.write_text("# theirs\n" + PATH.read_text(encoding="utf-8"), encoding="utf-8")
    review.take(PATH, review.look_again(PATH))
    assert states(review) == ["open"] * 4


# Writing


def test_written_bytes_and_their_restoration(begin: Begin, project: Path):
    data = b"\xef\xbb\xbf" + NET.replace("\n", "\r\n").encode()
    (project / "net.py").write_bytes(data)
    review = begin()
    review.do(act.AcceptAll(act.Scope.SAFE))
    review.settle()
    done = review.write(review.unwritten(), review.begin_write())
    assert list(done.files) == [PATH]
    expected = data.replace(b"transpose", b"swapaxes").replace(b"^", b"!=")
    assert PATH.read_bytes() == expected
    assert review.unwritten() == []
    assert take_back(project) == [project / "net.py"]
    assert PATH.read_bytes() == data
    with pytest.raises(GraphwardError, match="no write to take back"):
        take_back(project)


def test_each_write_is_taken_back_by_itself(begin: Begin, project: Path):
    review = begin()
    review.do(act.Accept())
    review.write(review.unwritten(), review.begin_write())
    once = PATH.read_bytes()
    review.do(act.Accept())
    review.write(review.unwritten(), review.begin_write())
    assert PATH.read_bytes() != once
    take_back(project)
    assert PATH.read_bytes() == once
    take_back(project)
    assert PATH.read_text(encoding="utf-8") == NET


def test_undo_in_the_review_reaches_behind_a_write(begin: Begin):
    review = begin()
    review.do(act.Accept())
    review.write(review.unwritten(), review.begin_write())
    review.do(act.Undo())
    assert len(review.unwritten()) == 1
    review.write(review.unwritten(), review.begin_write())
    assert PATH.read_text(encoding="utf-8") == NET


def test_what_was_undone_behind_a_write_is_undone_the_next_time(begin: Begin):
    first = begin()
    first.do(act.Accept())
    first.do(act.Accept())
    first.write(first.unwritten(), first.begin_write())
    written = PATH.read_bytes()
    first.do(act.Undo())  # and then the terminal is killed
    for _ in range(2):  # the second time, with what the first has kept
        again = begin()
        assert states(again) == ["accepted", "open", "open", "open", "open"]
        assert "1 written file holds fixes that were undone since: w takes them out." in again.state.message
        assert [file.path for file in again.unwritten()] == [PATH]
        assert PATH.read_bytes() == written
        again.do(act.Select(next(p for p in again.state.rows if p[1])))
        again.do(act.Reject())
        again.do(act.Undo())
    again.write(again.unwritten(), again.begin_write())
    assert PATH.read_text(encoding="utf-8") == NET.replace("x.transpose(0, 1)", "x.swapaxes(0, 1)")
    assert begin().unwritten() == []


def test_a_file_that_was_written_clean_comes_back_when_that_was_undone(begin: Begin, project: Path):
    text = "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def construct(self, x, y=None):\n"
    text += "        return x if (x is None) ^ (y is None) else y\n"
    (project / "net.py").write_text(text)
    first = begin()
    first.do(act.AcceptAll(act.Scope.FILE))
    first.write(first.unwritten(), first.begin_write())
    assert " ^ " not in PATH.read_text()
    assert list(begin().state.files) == []
    first.do(act.Undo())
    again = begin()
    assert states(again) == ["open"]
    again.write(again.unwritten(), again.begin_write())
    assert PATH.read_text() == text


def test_another_fix_than_the_written_one_is_there_again(begin: Begin):
    first = begin()
    first.do(act.Move(2))
    first.do(act.Accept())
    place = next(p for p in first.state.rows if first.state.files[PATH].decisions.get(p[1]))
    first.write(first.unwritten(), first.begin_write())
    first.do(act.Select(place))
    first.do(act.ShowNext())
    first.do(act.Accept())
    assert "stop_gradient" in final(first.state.files[PATH]).text  # and then the terminal is killed
    again = begin()
    assert final(again.state.files[PATH]).text == final(first.state.files[PATH]).text
    assert len(again.unwritten()) == 1


def test_a_file_that_changed_since_is_not_restored_and_neither_are_the_others(begin: Begin, project: Path):
    (project / "net.py").write_text(NET, encoding="utf-8")
    (project / "other.py").write_text(NET, encoding="utf-8")
    review = begin()
    review.do(act.AcceptAll(act.Scope.SAFE))
    review.settle()
    review.write(review.unwritten(), review.begin_write())
    written = PATH.read_bytes()
    Path("other.py").write_text("mine\n")
    with pytest.raises(GraphwardError, match=r"changed since it was written: other\.py"):
        take_back(project)
    assert PATH.read_bytes() == written
    assert Path("other.py").read_text() == "mine\n"


def test_a_file_that_changed_on_disk_is_not_overwritten_while_others_are(begin: Begin, project: Path):
    (project / "net.py").write_text(NET, encoding="utf-8")
    (project / "other.py").write_text(NET, encoding="utf-8")
    review = begin()
    review.do(act.AcceptAll(act.Scope.SAFE))
    review.settle()
    theirs = "# theirs\n" + NET
    PATH.write_text(theirs, encoding="utf-8")
    done = review.write(review.unwritten(), review.begin_write())
    assert done.changed == [PATH]
    assert list(done.files) == [Path("other.py")]
    assert PATH.read_text(encoding="utf-8") == theirs
    assert review.changed_on_disk() == [PATH]
    review.take(PATH, review.look_again(PATH))
    assert "3 accepted fixes still fit" in review.state.message
    review.write(review.unwritten(), review.begin_write())
    assert PATH.read_text(encoding="utf-8").startswith("# theirs\n")
    assert "swapaxes" in PATH.read_text(encoding="utf-8")


def look(review: Review) -> None:
    """What the screen does every other second."""
    for path in review.changed_on_disk():
        review.take(path, review.look_again(path))


@pytest.mark.parametrize("meanwhile", [None, "def construct(:\n"], ids=["removed", "no Python"])
def test_a_file_that_comes_back_brings_its_decisions_back(begin: Begin, project: Path, meanwhile: str | None):
    (project / "a.py").write_text(NET, encoding="utf-8")
    (project / "net.py").write_text(NET, encoding="utf-8")
    review = begin()
    review.do(act.Accept())
    review.do(act.Reject())
    file = Path("a.py")
    if meanwhile is None:
        file.unlink()
    else:
        file.write_text(meanwhile, encoding="utf-8")
    look(review)
    assert list(review.state.files) == [Path("net.py")]
    assert "a.py is left alone" in review.state.message
    review.do(act.Say(""))
    look(review)
    assert review.state.message == ""  # it is told once
    file.write_text(f"# theirs\n{NET}", encoding="utf-8")
    look(review)
    assert "a.py has changed on disk and was read again: 1 accepted fix still fits." in review.state.message
    assert states(review)[:3] == ["accepted", "rejected", "open"]
    assert list(review.state.files) == [file, Path("net.py")]
    review.do(act.Undo())
    assert "Undone: GW310 on line 8." in review.state.message
    assert states(review)[:3] == ["accepted", "open", "open"]
    review.write(review.unwritten(), review.begin_write())
    assert file.read_text(encoding="utf-8") == f"# theirs\n{NET}".replace("x.transpose(0, 1)", "x.swapaxes(0, 1)")


def test_what_is_decided_while_a_file_is_read_again_is_not_lost(begin: Begin, project: Path):
    review = begin()
    PATH.write_text(f"# theirs\n{NET}", encoding="utf-8")
    late = review.look_again(PATH)
    review.do(act.Accept())
    review.take(PATH, late)
    assert states(review)[0] == "accepted"
    look(review)
    assert "1 accepted fix still fits" in review.state.message
    assert states(review)[0] == "accepted"


def test_undo_and_redo_reach_behind_a_change_on_disk(begin: Begin, project: Path):
    review = begin()
    review.do(act.Accept())
    review.do(act.Reject())
    review.do(act.ShowNext())
    review.do(act.Accept())
    review.settle()
    seen = [states(review)]
    PATH.write_text(f"# theirs\n{NET}", encoding="utf-8")
    look(review)
    review.settle()
    assert states(review) == seen[0]
    for _ in range(3):
        review.do(act.Undo())
        assert "Undone" in review.state.message
        review.settle()
        seen.append(states(review))
    assert seen[1:] == [["accepted", "rejected", *["open"] * 3], ["accepted", *["open"] * 4], ["open"] * 5]
    for expected in seen[-2::-1]:
        review.do(act.Redo())
        review.settle()
        assert states(review) == expected
    assert final(review.state.files[PATH]).text.startswith("# theirs\n")
    assert "stop_gradient" in final(review.state.files[PATH]).text


def test_what_cannot_be_undone_any_more_is_said(begin: Begin, project: Path):
    review = begin()
    review.do(act.Reject())
    review.do(act.Accept())
    review.write(review.unwritten(), review.begin_write())
    PATH.write_text(f"# theirs\n{PATH.read_text(encoding='utf-8')}", encoding="utf-8")
    look(review)  # the accepted fix is in their file now
    review.do(act.Undo())
    assert review.state.message == "GW310 on line 8 cannot be undone: it has changed on disk since."
    review.do(act.Undo())
    assert review.state.message == "Undone: GW110 on line 7."
    PATH.unlink()
    look(review)
    assert "cannot be done again" in review.do(act.Redo()).message


def test_a_file_that_changes_before_its_turn_is_left_alone_and_the_others_are_whole(begin: Begin, project: Path):
    names = ["a.py", "b.py", "c.py"]
    (project / "net.py").unlink()
    for name in names:
        (project / name).write_text(NET, encoding="utf-8")
    review = begin()
    review.do(act.AcceptAll(act.Scope.SAFE))
    theirs = NET.replace("+ z", "- z")

    def somebody_writes() -> None:
        if Path("a.py").read_text(encoding="utf-8") != NET:
            Path("b.py").write_text(theirs, encoding="utf-8")

    review.checker.between = somebody_writes
    done = review.write(review.unwritten(), review.begin_write())
    review.checker.between = lambda: None
    wanted = {path: final(file).text for path, file in review.state.files.items()}
    assert (list(done.files), done.changed) == ([Path("a.py"), Path("c.py")], [Path("b.py")])
    for name in ("a.py", "c.py"):
        assert Path(name).read_text(encoding="utf-8") == wanted[Path(name)]
    assert Path("b.py").read_text(encoding="utf-8") == theirs
    assert review.changed_on_disk() == [Path("b.py")]
    assert [file.path for file in review.unwritten()] == [Path("b.py")]
    take_back(project)  # what was not written is not taken back either
    assert [Path(name).read_text(encoding="utf-8") for name in names] == [NET, theirs, NET]


def test_a_write_that_failed_is_nothing_to_take_back(begin: Begin, project: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("net.py", "other.py"):
        (project / name).write_text(NET, encoding="utf-8")
    whole = outcome.write_atomic

    def write(path: Path, data: bytes) -> None:
        if path.name == "other.py":
            raise GraphwardError("cannot be written: Permission denied", path=path)
        whole(path, data)

    monkeypatch.setattr(outcome, "write_atomic", write)
    review = begin()
    review.do(act.AcceptAll(act.Scope.SAFE))
    done = review.write(review.unwritten(), review.begin_write())
    assert (list(done.files), done.problems) == ([PATH], ["other.py: cannot be written: Permission denied"])
    assert review.write(review.unwritten(), review.begin_write()).files == {}
    assert take_back(project) == [project / "net.py"]
    with pytest.raises(GraphwardError, match="no write to take back"):
        take_back(project)


def test_a_journal_that_cannot_be_written_stops_the_write(begin: Begin, project: Path):
    review = begin(keep=False)
    review.do(act.Accept())
    folder_of(project).parent.mkdir(parents=True)
    folder_of(project).write_text("in the way")
    with pytest.raises(GraphwardError, match="journal"):
        review.write(review.unwritten(), review.begin_write())
    assert PATH.read_text(encoding="utf-8") == NET


# Patch and report


def test_the_patch_applies_with_git(begin: Begin, project: Path):
    (project / "net.py").write_bytes(NET.replace("\n", "\r\n").encode())
    (project / "other.py").write_text(NET.rstrip("\n"), encoding="utf-8")
    git = ["git", "-c", "core.autocrlf=false"]
    subprocess.run([*git, "init", "-q"], check=True)
    review = begin(ways=Ways(patch=project / "out.diff"))
    before = {p: p.read_bytes() for p in review.state.files}
    review.do(act.AcceptAll(act.Scope.FILE))
    review.settle()
    for path in review.state.files:
        review.do(act.Select((path, "")))
        review.do(act.AcceptAll(act.Scope.FILE))
        review.settle()
    review.write(review.unwritten(), review.begin_write())
    assert {p: p.read_bytes() for p in review.state.files} == before
    subprocess.run([*git, "apply", "--check", "out.diff"], check=True)
    subprocess.run([*git, "apply", "out.diff"], check=True)
    assert {p: p.read_bytes() for p in review.state.files} == {
        p: final(file).to_bytes() for p, file in review.state.files.items()
    }
    assert {p: p.read_bytes() for p in before} != before


def test_what_is_in_the_patch_is_written(begin: Begin, project: Path):
    review = begin(ways=Ways(patch=project / "out.diff"))
    review.do(act.Accept())
    assert len(review.unwritten()) == 1
    review.write(review.unwritten(), review.begin_write())
    assert review.unwritten() == []
    review.do(act.Accept())
    assert review.to_write(review.unwritten()) == (2, 0)
    review.do(act.Undo())
    assert review.unwritten() == []
    review.do(act.Undo())
    assert len(review.unwritten()) == 1  # the patch still holds it


def test_a_patch_of_files_outside_of_the_working_folder_applies_in_the_folder_that_is_told(project: Path):
    inner = project / "inner"
    inner.mkdir()
    (project / "net.py").write_text(NET, encoding="utf-8")
    command = [*COMMAND, "review", "--accept-safe", "--patch", "out.diff"]
    for paths, base in (([".."], project), ([str(project / "net.py")], project), (["."], None)):
        if base is None:
            (inner / "net.py").write_text(NET, encoding="utf-8")
        run = subprocess.run([*command, *paths], cwd=inner, capture_output=True, text=True)
        said = f"out.diff holds 3 fixes in 1 file; git apply takes it in {base}; 2 findings are left.\n"
        assert run.stdout.endswith(said if base else "out.diff holds 3 fixes in 1 file; 2 findings are left.\n")
        subprocess.run(["git", "apply", "--check", str(inner / "out.diff")], cwd=base or inner, check=True)


def test_a_patch_of_what_was_undone_behind_a_write_applies_to_the_written_file(begin: Begin, project: Path):
    first = begin()
    first.do(act.Accept())
    first.do(act.Accept())
    first.write(first.unwritten(), first.begin_write())
    first.do(act.Undo())
    again = begin(ways=Ways(patch=project / "out.diff"))
    again.write(again.unwritten(), again.begin_write())
    subprocess.run(["git", "apply", "out.diff"], check=True)
    assert PATH.read_text(encoding="utf-8") == NET.replace("x.transpose(0, 1)", "x.swapaxes(0, 1)")


def test_the_report_says_what_became_of_each_finding(begin: Begin, project: Path):
    review = begin(ways=Ways(report=project / "out.json"))
    review.do(act.Accept())
    review.do(act.Reject())
    review.end()
    rows = json.loads((project / "out.json").read_text(encoding="utf-8"))
    assert [(row["line"], row["state"]) for row in rows] == [
        (7, "accepted"), (8, "rejected"), (10, "open"), (10, "open"), (11, "open"),
    ]  # fmt: skip
    assert rows[0]["fix"] == {"title": "Use swapaxes", "applicability": "safe", "reason": "", "by_hand": False}
    text = report(review.state, as_json=False)
    assert "5 findings in 1 file: 3 open, 1 accepted, 1 rejected." in text
    assert "- **accepted** line 7 `GW110`" in text
    assert review.state.counts[Status.OPEN] == 3
