"""The full-screen review as users meet it: the real program in a pseudo-terminal, keys in, screens and files out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphward.review.screen.keys import KEYS

from .conftest import NET
from .terminal import COMMAND, Terminal


@pytest.fixture
def net(project: Path) -> Path:
    file = project / "net.py"
    file.write_text(NET, encoding="utf-8")
    return file


def test_from_start_to_written_files_and_back(net: Path, project: Path):
    terminal = Terminal("review", folder=project)
    screen = terminal.until("5 findings in 1 file", "Use swapaxes", "error: does not compile", "q quit")
    assert "net.py:7 GW110 torch-transpose · safe fix: Use swapaxes" in screen
    assert "7 -         x = x.transpose(0, 1)  # 转置" in screen
    assert "7 +         x = x.swapaxes(0, 1)  # 转置" in screen
    terminal.type("y")
    terminal.until("1 accepted", "Accepted: Use swapaxes.", "net.py:8 GW310")
    terminal.type("n")
    terminal.until("1 rejected", "numpy.tanh computes on the host", "fix 1 of 2 (Tab)")
    terminal.type("\t")
    terminal.until("fix 2 of 2 (Tab)")
    terminal.type("y")
    terminal.until("✓ 2", "= 1", "net.py:11 GW110", "the gradient cut as before")
    terminal.type("u")
    terminal.until("Undone: GW101 on line 10.")
    terminal.type("r")
    terminal.until("Done again: GW101 on line 10.", "✓ 2")
    terminal.resize(130, 40)
    terminal.until("· 1 open", "prevents")
    terminal.type("s")
    terminal.until("1 suppressed", "Silenced")
    assert net.read_text(encoding="utf-8") == NET
    terminal.type("q")
    terminal.until("Not written yet: 3 accepted fixes in 1 file.")
    terminal.type("w")
    assert terminal.end() == 1
    assert "Applied 3 fixes in 1 file; 1 finding is left." in terminal.text
    written = net.read_text(encoding="utf-8")
    assert "        x = x.swapaxes(0, 1)  # 转置\n" in written
    assert " ^ " in written
    assert "        z = ops.stop_gradient(ops.tanh(ops.abs(x)))\n" in written
    assert "        return x.transpose(1, 2) + z  # graphward: ignore[GW110]\n" in written
    assert "import numpy" not in written
    undone = subprocess.run([*COMMAND, "undo"], cwd=project, capture_output=True, text=True)
    assert (undone.returncode, undone.stdout) == (0, "restored net.py\n")
    assert net.read_text(encoding="utf-8") == NET


def test_a_window_that_was_too_small_shows_all_again(net: Path, project: Path):
    terminal = Terminal("review", folder=project)
    terminal.until("5 findings", "q quit")
    terminal.resize(30, 8)
    terminal.until_gone("error: does not compile")
    terminal.resize(150, 40)
    terminal.until("transpose with two axes is a full permutation in Graph Mode: it fails on three", "q quit")
    terminal.kill()


def test_all_keys_stand_in_the_footer_and_in_the_help(net: Path, project: Path):
    terminal = Terminal("review", folder=project)
    terminal.until("5 findings", *(f"{key.shown} {key.label}" for key in KEYS))
    terminal.resize(80, 45)
    terminal.type("?")
    terminal.until("Keys (Esc closes)", *(f"{key.shown:>7}  {key.help[:50]}" for key in KEYS))
    terminal.kill()


def test_a_killed_terminal_loses_no_decision(net: Path, project: Path):
    terminal = Terminal("review", folder=project)
    terminal.until("5 findings", "q quit")
    terminal.type("yn")
    terminal.until("1 accepted", "1 rejected")
    terminal.kill()
    again = Terminal("review", folder=project)
    again.until("2 earlier decisions hold", "· 3  ✓ 1  ✗ 1", "/ state:open")
    again.type("q")
    again.until("Not written yet: 1 accepted fix in 1 file.")
    again.type("k")
    assert again.end() == 1
    assert net.read_text(encoding="utf-8") == NET


def test_a_program_that_is_told_to_end_gives_the_terminal_back(net: Path, project: Path):
    terminal = Terminal("review", folder=project)
    terminal.until("5 findings", "q quit")
    terminal.type("y")
    terminal.until("1 accepted")
    terminal.process.terminate()
    assert terminal.end() == 1
    assert terminal.raw.count(b"\x1b[?1049l") == 1  # the screen of before
    assert "the review is not finished" in terminal.text


def test_a_program_that_does_not_hear_of_a_closed_terminal_ends(net: Path, project: Path):
    terminal = Terminal("review", folder=project, hangups=False)
    terminal.until("5 findings", "q quit")
    terminal.type("y")
    terminal.until("1 accepted")
    terminal.close()
    terminal.process.wait(timeout=30)
    again = Terminal("review", folder=project)
    again.until("1 earlier decision holds", "✓ 1")
    again.kill()


def test_a_terminal_killed_right_after_a_decision_on_many_files_loses_none(project: Path):
    for number in range(40):
        (project / f"net_{number:02}.py").write_text(NET, encoding="utf-8")
    terminal = Terminal("review", folder=project)
    terminal.until("200 findings in 40 files", "q quit")
    terminal.type("a")
    terminal.until("Accepted 120 findings in 40 files.")
    terminal.kill()
    again = Terminal("review", "--resume", folder=project)
    again.until("120 earlier decisions hold", "✓ 120")
    again.type("u")
    again.until("There is nothing to undo.")
    again.type("q")
    again.until("Not written yet: 120 accepted fixes in 40 files.")
    again.type("w")
    assert again.end() == 1
    for number in range(40):
        text = (project / f"net_{number:02}.py").read_text(encoding="utf-8")
        assert text.count("swapaxes") == 2 and " ^ " not in text


def test_two_reviews_of_one_project_keep_what_either_decides(net: Path, project: Path):
    (project / "other.py").write_text(NET, encoding="utf-8")
    first = Terminal("review", folder=project)
    first.until("10 findings", "q quit")
    first.type("y")
    first.until("1 accepted")
    second = Terminal("review", "--resume", folder=project, columns=160)
    second.until("Another review of this project is open: of a file that both decide on, the last decision counts.")
    first.type("n")
    first.until("1 rejected")
    second.type("/other\r")
    second.until("/ other")
    second.type("n")
    second.until("1 rejected")
    for terminal in (first, second):
        terminal.kill()
    third = Terminal("review", folder=project, columns=160)
    third.until("3 earlier decisions hold.", "1 accepted", "2 rejected")
    assert "Another review" not in third.text
    third.kill()


def test_a_terminal_killed_after_an_undo_behind_a_write_comes_back_to_the_undone_state(net: Path, project: Path):
    terminal = Terminal("review", folder=project)
    terminal.until("5 findings", "q quit")
    terminal.type("yn")
    terminal.until("1 accepted", "1 rejected")
    terminal.type("w")
    terminal.until("Wrote 1 file")
    written = net.read_text(encoding="utf-8")
    assert "swapaxes" in written
    terminal.type("uu")
    terminal.until("Undone: GW110 on line 7.", "5 open")
    terminal.kill()
    assert net.read_text(encoding="utf-8") == written
    again = Terminal("review", "--resume", folder=project)
    again.until("5 open", "1 written file holds fixes that were undone since: w takes them out.")
    again.type("q")
    again.until("Not written yet: 1 undone fix in 1 file.")
    again.type("w")
    assert again.end() == 1
    assert net.read_text(encoding="utf-8") == NET


def test_a_file_that_changes_under_the_review_is_noticed_and_not_overwritten(net: Path, project: Path):
    terminal = Terminal("review", folder=project)
    terminal.until("5 findings", "q quit")
    terminal.type("y")
    terminal.until("1 accepted")
    theirs = NET.replace("z = Tensor", "z = 1  # theirs\n        z = Tensor")
    net.write_text(theirs, encoding="utf-8")
    terminal.until("net.py has changed on disk and was read again: 1 accepted fix still fits")
    terminal.type("w")
    terminal.until("Wrote 1 file")
    assert net.read_text(encoding="utf-8") == theirs.replace("x.transpose(0, 1)", "x.swapaxes(0, 1)")
    terminal.kill()


def test_the_editor_the_filter_the_mouse_and_the_help(net: Path, project: Path, tmp_path: Path):
    editor = tmp_path / "editor"
    editor.write_text(
        f"#!{sys.executable}\nimport sys\nfrom pathlib import Path\npath = Path(sys.argv[-1])\n"
        f"Path({str(tmp_path / 'log')!r}).open('a').write(' '.join(sys.argv[1:]) + '\\n')\n"
        "if 'graphward-edit' in str(path):\n"
        "    path.write_text(path.read_text(encoding='utf-8').replace('(0, 1)', '(1, 0)'), encoding='utf-8')\n"
    )
    editor.chmod(0o755)
    terminal = Terminal("review", folder=project, VISUAL=str(editor))
    terminal.until("5 findings", "q quit")
    terminal.type("e")
    terminal.until("Accepted: Your own text.", "1 accepted")
    terminal.type("o")
    terminal.type("/")
    terminal.until("Filter (Enter takes it", "consequence:error | fallback", "any other word: in the path")
    terminal.type("state:wrong")
    terminal.until("state is one of open, accepted")
    terminal.type("\x7f" * 11)
    terminal.until("│ rule:GW1 fix:safe", "any other word: in the path")
    terminal.type("rule:GW101\r")
    terminal.until("The filter shows 2 findings.", "/ rule:GW101", "numpy.tanh computes")
    terminal.type("\x1b")
    terminal.until("x.transpose", "^ between")
    row = next(n for n, line in enumerate(terminal.text.splitlines()) if "^ between" in line)
    terminal.type(f"\x1b[<0;20;{row + 1}M\x1b[<0;20;{row + 1}m")
    terminal.until("net.py:8 GW310 bool-xor · safe fix")
    terminal.type("?")
    terminal.until("Keys (Esc closes)", "prove this region")
    terminal.type("\x1b")
    terminal.until_gone("Keys (Esc closes)")
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[0].endswith("net.py") and lines[1] == "+8 net.py"
    terminal.type("w")
    terminal.until("Wrote 1 file")
    assert "        x = x.swapaxes(1, 0)  # 转置\n" in net.read_text(encoding="utf-8")
    terminal.kill()


@pytest.mark.parametrize(
    ("editor", "said"),
    [
        ("/does/not/exist", "does not start"), ("false", "ended with status 1; nothing was taken over"),
        ("vim '", "VISUAL cannot be understood: No closing quotation"),
    ],
)  # fmt: skip
def test_after_an_editor_that_fails_the_review_goes_on(net: Path, project: Path, editor: str, said: str):
    terminal = Terminal("review", folder=project, columns=160, VISUAL=editor)
    terminal.until("5 findings", "q quit")
    for key in "eo":
        terminal.type(key)
        terminal.until(said, "5 findings", "q quit")
        terminal.type("n")
        terminal.until("Rejected.")
    terminal.kill()


def test_an_interrupt_ends_the_editor_alone(net: Path, project: Path, tmp_path: Path):
    editor = tmp_path / "editor"
    editor.write_text(
        f"#!{sys.executable}\nimport signal, time\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\n"
        "print('it waits', flush=True)\ntime.sleep(60)\n"
    )
    editor.chmod(0o755)
    terminal = Terminal("review", folder=project, VISUAL=str(editor), EDITOR="")
    terminal.until("5 findings", "q quit")
    terminal.type("e")
    terminal.until("it waits")
    terminal.type("\x03")
    terminal.until("the editor", "5 findings", "q quit")  # its path may be longer than the line
    terminal.kill()


def test_keys_that_are_typed_ahead_go_to_the_window_that_they_open(net: Path, project: Path):
    terminal = Terminal("review", folder=project)
    terminal.until("5 findings", "q quit")
    terminal.type("n/rule:GW101")
    terminal.until("│ rule:GW101", "1 rejected")
    terminal.type("\r")
    terminal.until("The filter shows 2 findings.")
    terminal.type("yqk")
    assert terminal.end() == 1
    assert "Nothing was changed" in terminal.text


def test_without_color_no_color_code_is_sent(net: Path, project: Path):
    terminal = Terminal("review", folder=project, NO_COLOR="1")
    terminal.until("5 findings", "q quit")
    codes = [code for part in terminal.raw.split(b"\x1b[")[1:] if b"m" in part
             for code in part.split(b"m")[0].split(b";") if code.isdigit()]  # fmt: skip
    assert b"7" in codes  # the selection is still to be seen
    assert not [c for c in codes if 30 <= int(c) <= 37 or 40 <= int(c) <= 47 or 90 <= int(c) <= 107 or int(c) == 38]
    terminal.kill()


def test_on_a_light_background_no_text_is_white_and_nothing_is_painted_dark(net: Path, project: Path):
    terminal = Terminal("review", folder=project, COLORFGBG="0;15")
    terminal.until("5 findings", "q quit")
    terminal.type("ynj?")
    terminal.until("Keys (Esc closes)")
    _, _, screen = terminal.raw.partition(b"\x1b[?1049h")  # the progress bar before it is Rich's
    parts = [part.split(b"m")[0] for part in screen.split(b"\x1b[")[1:] if b"m" in part]
    sent = [[int(code or 0) for code in part.split(b";")] for part in parts if part.replace(b";", b"").isdigit()]
    assert any(code in (31, 32) for codes in sent for code in codes)  # colors are used
    # The terminal knows its background: only its own sixteen colors go on it, but those that are lost on white.
    lost = {30, 37, 97, 38, 48, *range(40, 48), *range(100, 108)}
    assert not [codes for codes in sent if lost.intersection(codes)]
    terminal.kill()


@pytest.mark.skipif(not os.environ.get("GRAPHWARD_TEST_PYTHON"), reason="needs an interpreter with MindSpore")
def test_a_region_is_proven_in_the_background(project: Path):
    text = "from mindspore import Tensor, nn\n\n\nclass Net(nn.Cell):\n"
    text += "    def construct(self, x: Tensor, y=None, z=None):\n"
    text += "        if (y is None) ^ (z is not None):\n            x = x + 1\n        return x\n"
    (project / "net.py").write_text(text)
    terminal = Terminal("review", "--python", os.environ["GRAPHWARD_TEST_PYTHON"], folder=project, rows=30)
    terminal.until("1 finding in 1 file", "q quit")
    terminal.type("v")
    terminal.until("Proving")
    terminal.until("Net: verified", "proof verified Net")
    terminal.type("yV")
    terminal.until("Net: verified", "1 accepted")
    terminal.type("q")
    terminal.until("Not written yet")
    terminal.type("w")
    assert terminal.end() == 0


def test_plain_terminals_and_pipes_are_told_what_to_do(net: Path, project: Path):
    terminal = Terminal("review", folder=project, TERM="dumb")
    assert terminal.end() == 2
    assert "graphward review --plain" in terminal.text


def test_without_textual_it_says_how_to_install_it_and_plain_still_works(net: Path, project: Path):
    hide = "import sys; sys.modules['textual'] = None\nfrom graphward.cli.app import main; main()"
    run = subprocess.run([sys.executable, "-c", hide, "review"], cwd=project, capture_output=True, text=True)
    assert run.returncode == 2
    assert "pip install 'graphward[review]'" in run.stderr
    command = [sys.executable, "-c", hide, "review", "--plain"]
    run = subprocess.run(command, cwd=project, input="y\nq\n", capture_output=True, text=True)
    assert run.stdout.endswith("Applied 1 fix in 1 file; the review is not finished.\n")


def test_a_patch_and_a_report_instead_of_written_files(net: Path, project: Path):
    command = [*COMMAND, "review", "--plain", "--patch", "out.diff", "--report", "out.md"]
    run = subprocess.run(command, cwd=project, input="y\nn\nq\n", capture_output=True, text=True)
    assert run.stdout.endswith("out.diff holds 1 fix in 1 file; the review is not finished.\n")
    assert net.read_text(encoding="utf-8") == NET
    assert "- **rejected** line 8 `GW310`" in (project / "out.md").read_text(encoding="utf-8")
    subprocess.run(["git", "apply", "out.diff"], cwd=project, check=True)
    assert net.read_text(encoding="utf-8") == NET.replace("x.transpose(0, 1)", "x.swapaxes(0, 1)")


def test_a_patch_replaces_an_older_one(net: Path, project: Path):
    (project / "out.diff").write_text("an older patch\n" * 100, encoding="utf-8")
    command = [*COMMAND, "review", "--plain", "--patch", "out.diff"]
    subprocess.run(command, cwd=project, input="y\nq\n", capture_output=True, text=True)
    assert "an older patch" not in (project / "out.diff").read_text(encoding="utf-8")
    subprocess.run(["git", "apply", "out.diff"], cwd=project, check=True)
    assert "x.swapaxes(0, 1)" in net.read_text(encoding="utf-8")


def test_fresh_asks_everything_again(net: Path, project: Path):
    def asked(*arguments: str, answers: str) -> str:
        command = [*COMMAND, "review", "--plain", *arguments]
        return subprocess.run(command, cwd=project, input=answers, capture_output=True, text=True).stdout

    asked(answers="n\nn\nq\n")
    again = asked(answers="q\n")
    assert "2 earlier decisions hold." in again and "(3/5)" in again
    for arguments in (("--fresh",), ()):  # what is forgotten stays so
        told = asked(*arguments, answers="q\n")
        assert "earlier" not in told and "(1/5)" in told


def test_what_cannot_be_is_exit_status_2(net: Path, project: Path):
    for arguments, said in ((["review", "--plain", "--resume"], "no review of this project"), (["undo"], "no write")):
        run = subprocess.run([*COMMAND, *arguments], cwd=project, capture_output=True, text=True)
        assert run.returncode == 2
        assert said in run.stderr
