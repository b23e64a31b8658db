"""`graphward review --plain` as users meet it: a process with pipes, and one on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

SPECIMENS = Path(__file__).parent / "data" / "specimens"
PROGRAM = """
import sys
from pathlib import Path
from graphward.config import load_config
from graphward.errors import GraphwardError
from graphward.review.command import run_review
try:
    paths = [Path(a) for a in sys.argv[1:] if not a.startswith("--")] or [Path()]
    sys.exit(run_review(paths, load_config(Path.cwd()), plain="--plain" in sys.argv,
                        safe="--accept-safe" in sys.argv))
except GraphwardError as error:
    sys.stderr.write(f"graphward: {error}\\n")
    sys.exit(2)
"""
HEAD = "from mindspore import Tensor, nn\n\n\nclass Net(nn.Cell):\n    def construct(self, x: Tensor, y, z=None):\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, and the odd third-party codemods installed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(SPECIMENS))
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return tmp_path


def cell(*lines: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in lines)


def write(path: str, text: str) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


def review(answers: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, *(arguments or ("--plain",))]
    return subprocess.run(command, input=answers, capture_output=True, encoding="utf-8", timeout=60)


def test_shows_place_reason_and_diff_and_writes_what_was_accepted():
    file = write("net.py", cell("x = x.transpose(0, 1)  # 转置", "return x.transpose(1, 2)"))
    run = review("y\nn\n")
    assert run.returncode == 1
    assert file.read_text(encoding="utf-8") == cell("x = x.swapaxes(0, 1)  # 转置", "return x.transpose(1, 2)")
    shown = run.stdout
    assert "net.py:6:13 GW110 torch-transpose\n" in shown
    assert "error: does not compile\n" in shown
    assert "    in Net.construct\n    because x is annotated Tensor\n" in shown
    assert "Fix, safe: Use swapaxes\n--- a/net.py\n+++ b/net.py\n" in shown
    assert "-        x = x.transpose(0, 1)  # 转置\n+        x = x.swapaxes(0, 1)  # 转置\n" in shown
    assert "(1/2) Apply this fix [y,n,t,a,d,e,s,j,k,v,/,q,?]? y\n" in shown
    assert shown.endswith("Applied 1 fix in 1 file; 1 finding is left.\n")
    assert "\x1b" not in shown


def test_nothing_left_is_exit_status_0():
    write("net.py", cell("return x.transpose(0, 1)"))
    assert review("y\n").returncode == 0
    again = review("")
    assert (again.returncode, again.stdout) == (0, "Nothing was changed; no finding is left.\n")


def test_help_unknown_answers_and_empty_lines_ask_again():
    file = write("net.py", cell("return x.transpose(0, 1)"))
    run = review("?\nwhat\n\nt\ny\n")
    assert run.stdout.count("y - accept this fix\n") == 2
    assert "There is no other fix.\n" in run.stdout
    assert run.stdout.count("(1/1) Apply this fix") == 5
    assert "swapaxes" in file.read_text()


def test_t_cycles_through_the_alternatives_and_y_takes_the_one_shown():
    file = write("net.py", cell("return old(x)"))
    run = review("t\nt\nt\ny\n")
    titles = [line for line in run.stdout.splitlines() if line.startswith("Fix ")]
    safe, unsafe = "Fix 1 of 2, safe: Use new", "Fix 2 of 2, unsafe: Use newer"
    assert titles == [safe, unsafe, safe, unsafe]
    assert "Use newer\n    newer rounds differently\n---" in run.stdout
    assert "return newer(x)" in file.read_text()


def test_a_takes_this_one_and_all_later_safe_ones_of_this_file_only():
    first = write("a.py", cell("v = knotty(x) + old(x) + old(y) + x.foo", "z = w = 1", "return y.transpose(0, 1)"))
    second = write("b.py", cell("return old(x)"))
    run = review("t\na\nn\n")
    assert "newer(x) + new(y)" in first.read_text()
    assert "y.swapaxes(0, 1)" in first.read_text()
    assert "accepted a.py:6:34 GW991 safe: Use new\n" in run.stdout
    assert "old(x)" in second.read_text()
    assert run.stdout.endswith("Applied 3 fixes in 1 file; 2 findings are left.\n")


def test_a_asks_for_what_has_no_safe_fix():
    body = ("y = old(y)", "a = Tensor(np.exp(x.asnumpy()))", "return a + old(x)")
    text = "import numpy as np\n" + cell(*body)
    file = write("net.py", text)
    run = review("a\nn\nn\nn\n")
    assert "GW101" in run.stdout
    assert file.read_text() == text.replace("old(", "new(")


def test_d_skips_the_rest_of_the_file_and_keeps_what_was_accepted():
    first = write("a.py", cell("y = old(y)", "return old(x)"))
    second = write("b.py", cell("return old(x)"))
    run = review("y\nd\ny\n")
    assert first.read_text() == cell("y = new(y)", "return old(x)")
    assert second.read_text() == cell("return new(x)")
    assert run.returncode == 1


@pytest.mark.parametrize("ending", ["q\n", ""], ids=["q", "end of input"])
def test_leaving_keeps_what_was_accepted_and_goes_no_further(ending: str):
    first = write("a.py", cell("y = old(y)", "return old(x)"))
    second = write("b.py", cell("return old(x)"))
    run = review(f"y\n{ending}")
    assert first.read_text() == cell("y = new(y)", "return old(x)")
    assert second.read_text() == cell("return old(x)")
    assert run.returncode == 1
    assert run.stdout.endswith("Applied 1 fix in 1 file; the review is not finished.\n")


def test_what_overlaps_waits_and_is_asked_again_on_the_new_text():
    file = write("net.py", cell("return old(old(old(x)))"))
    run = review("y\ny\ny\n")
    assert file.read_text() == cell("return new(new(new(x)))")
    assert run.returncode == 0
    assert "-        return old(old(old(x)))\n+        return new(old(old(x)))\n" in run.stdout
    assert "-        return new(old(old(x)))\n+        return new(new(old(x)))\n" in run.stdout


def test_what_an_accepted_fix_made_needless_is_not_asked():
    text = "import mindspore as ms\nimport numpy as np\n" + cell("return Tensor(np.tanh(np.abs(x.asnumpy())))")
    file = write("net.py", text)
    run = review("y\n")  # the two calls are one island: one fix mends both
    assert run.returncode == 0
    assert "numpy" not in file.read_text()


def test_a_rejected_finding_is_not_asked_again_after_the_file_was_written():
    write("net.py", cell("y = old(y)", "return old(old(x))"))
    run = review("n\ny\ny\n")
    assert run.stdout.count("net.py:6:13") == 1
    assert run.stdout.endswith("Applied 2 fixes in 1 file; 1 finding is left.\n")


def test_what_must_be_done_by_hand_is_shown_and_passed_over():
    write("net.py", cell("return knotty(x)"))
    run = review("")
    assert run.returncode == 1
    assert "manual: Untie it\n    only you know the knot\n" in run.stdout
    assert "    6 |         return knotty(x)\n" in run.stdout
    assert "Apply this fix" not in run.stdout


def test_a_fix_whose_result_is_no_python_is_refused_and_the_rest_is_written():
    file = write("net.py", cell("y = broken(y)", "return old(x)"))
    run = review("y\nn\ny\n")
    assert "This fix cannot be accepted: the result of Fall in does not parse" in run.stdout
    assert file.read_text() == cell("y = broken(y)", "return new(x)")


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + cell("return old(x)").replace("\n", "\r\n").encode(),
        b"# coding: gbk\n" + cell("return old(x)  # \u4e2d\u6587").encode("gbk"),
        cell("return old(x)").replace("    ", "\t").rstrip("\n").encode(),
    ],
    ids=["BOM and CRLF", "gbk", "tabs, no final newline"],
)
def test_bytes_outside_the_edit_stay(data: bytes):
    file = Path("net.py")
    file.write_bytes(data)
    assert review("y\n").returncode == 0
    assert file.read_bytes() == data.replace(b"old(x)", b"new(x)")


def test_a_file_that_does_not_parse_is_named_and_the_others_are_reviewed():
    write("bad.py", "def construct(:\n")
    file = write("net.py", cell("return old(x)"))
    run = review("y\n")
    assert "left alone bad.py:1: does not parse" in run.stderr
    assert "new(x)" in file.read_text()


def test_accept_safe_asks_nothing():
    text = cell("y = old(old(y))", "z = knotty(x)", "return x.transpose(0, 1)")
    file = write("net.py", text)
    run = review("", "--accept-safe")
    assert file.read_text() == cell("y = new(new(y))", "z = knotty(x)", "return x.swapaxes(0, 1)")
    assert run.returncode == 1
    assert "Apply this fix" not in run.stdout
    assert "accepted net.py:6:13 GW991 safe: Use new\n" in run.stdout
    assert run.stdout.endswith("Applied 3 fixes in 1 file; 1 finding is left.\n")


def test_code_cannot_steer_the_terminal():
    write("net.py", cell("return old(x)  # \x1b[2J"))
    run = review("q\n")
    assert "\x1b" not in run.stdout
    assert "\\x1b[2J" in run.stdout


def test_a_stdout_that_lacks_characters_shows_them_escaped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    file = write("net.py", cell("return old(x)  # 转置"))
    assert review("y\n").returncode == 0
    assert file.read_text(encoding="utf-8") == cell("return new(x)  # 转置")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--plain", "missing.py"), "no such file or folder"),
        (("--plain", "empty"), "holds no Python files"),
        ((), "graphward review --plain"),
    ],
)
def test_what_cannot_be_is_exit_status_2(arguments: tuple[str, ...], said: str):
    Path("empty").mkdir()
    run = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, timeout=60)
    assert run.returncode == 2
    assert said in run.stderr


class Terminal:
    """The review on a pseudo-terminal."""

    def __init__(self, *arguments: str, term: str = "xterm-256color"):
        self.master, slave = pty.openpty()
        environment = {**os.environ, "TERM": term}
        environment.pop("NO_COLOR", None)
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "--plain", *arguments], stdin=slave, stdout=slave, stderr=slave,
            env=environment, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C reaches it
        )  # fmt: skip
        os.close(slave)
        self.text = ""
        self._read = 0

    def until(self, wanted: str) -> str:
        """What came since the last call, up to and with `wanted`."""
        deadline = time.monotonic() + 60
        while wanted not in self.text[self._read :]:
            assert time.monotonic() < deadline, self.text
            if select.select([self.master], [], [], 1)[0]:
                try:
                    self.text += os.read(self.master, 65536).decode(errors="replace")
                except OSError:  # the other side is closed
                    break
        start = self._read
        found = self.text.find(wanted, start)
        assert found >= 0, self.text
        self._read = found + len(wanted)
        return self.text[start : self._read]

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def end(self) -> int:
        code = self.process.wait(timeout=60)
        os.close(self.master)
        return code


def test_on_a_terminal_with_colors_from_start_to_written_file():
    file = write("net.py", cell("y = old(y)", "return old(x)"))
    terminal = Terminal()
    shown = terminal.until("]? ")
    assert "\x1b[" in shown
    terminal.type("y\r")
    terminal.until("]? ")
    terminal.type("y\r")
    terminal.until("no finding is left.")
    assert terminal.end() == 0
    assert file.read_text() == cell("y = new(y)", "return new(x)")


def test_a_dumb_terminal_gets_no_escape_codes():
    write("net.py", cell("return old(x)"))
    terminal = Terminal(term="dumb")
    assert "\x1b" not in terminal.until("]? ")
    terminal.type("q\r")
    terminal.until("Nothing was changed; the review is not finished.")
    assert terminal.end() == 1
    assert "\x1b" not in terminal.text


@pytest.mark.parametrize("keys", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_an_interrupt_keeps_what_was_accepted(keys: str):
    file = write("net.py", cell("y = old(y)", "return old(x)"))
    terminal = Terminal()
    terminal.until("(1/2) ")
    terminal.type("y\r")
    terminal.until("(2/2) ")
    terminal.until("]? ")
    terminal.type(keys)
    terminal.until("Applied 1 fix in 1 file; the review is not finished.")
    assert terminal.end() == 1
    assert "Traceback" not in terminal.text
    assert file.read_text() == cell("y = new(y)", "return old(x)")


def test_a_file_that_changes_meanwhile_is_not_overwritten_and_keeps_the_decisions_that_fit():
    file = write("net.py", cell("y = old(y)", "return old(x)"))
    terminal = Terminal()
    terminal.until("]? ")
    terminal.type("y\r")
    terminal.until("(2/2) ")
    terminal.until("]? ")
    theirs = cell("y = old(y) + 1", "return old(z)")
    file.write_text(theirs)
    terminal.type("y\r")
    terminal.until("changed on disk meanwhile: nothing is written.")
    terminal.until("1 accepted fix still fits, 1 no longer does.")
    assert file.read_text() == theirs
    assert "return new(z)" in terminal.until("]? ")
    terminal.type("y\r")
    terminal.until("no finding is left.")
    assert terminal.end() == 0
    assert file.read_text() == cell("y = new(y) + 1", "return new(z)")


def test_a_file_that_vanishes_meanwhile_is_not_made_again():
    file = write("net.py", cell("return old(x)"))
    terminal = Terminal()
    terminal.until("]? ")
    file.unlink()
    terminal.type("y\r")
    terminal.until("changed on disk meanwhile: nothing is written.")
    terminal.until("left alone net.py: it cannot be read")
    terminal.end()
    assert not file.exists()


def editor(tmp_path: Path, program: str) -> str:
    """An editor that runs `program` on `path`."""
    file = tmp_path / "editor"
    file.write_text(f"#!{sys.executable}\nimport sys\nfrom pathlib import Path\npath = Path(sys.argv[-1])\n{program}\n")
    file.chmod(0o755)
    return str(file)


def test_e_takes_an_edited_text_if_it_parses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    change = "path.write_text(path.read_text().replace('new(x)', 'mine(x)') if 'mine' not in path.read_text() else '')"
    monkeypatch.setenv("VISUAL", editor(tmp_path, change))
    file = write("net.py", cell("return old(x)"))
    assert review("e\n").returncode == 0
    assert "return mine(x)" in file.read_text()


def test_e_refuses_what_does_not_parse_and_an_editor_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("VISUAL", editor(tmp_path, "path.write_text('        return ((')"))
    file = write("net.py", cell("return old(x)"))
    run = review("e\nn\nq\n")
    assert "This cannot be taken: the result of Your own text does not parse" in run.stdout
    monkeypatch.setenv("VISUAL", str(tmp_path / "missing"))
    run = review("e\nq\n")
    assert "does not start" in run.stdout
    assert "old(x)" in file.read_text()


def test_s_silences_the_rule_with_a_comment():
    file = write("net.py", cell("return old(x)  # why"))
    run = review("s\n")
    assert file.read_text() == cell("return old(x)  # why  # graphward: ignore[GW991]")
    assert run.returncode == 0
    assert review("").stdout == "Nothing was changed; no finding is left.\n"


def test_j_leaves_it_open_and_k_goes_back():
    file = write("net.py", cell("y = old(y)", "return old(x)"))
    run = review("k\nj\nk\ny\nj\n")
    assert "There is no earlier finding to decide in this file." in run.stdout
    assert file.read_text() == cell("y = new(y)", "return old(x)")
    assert run.stdout.endswith("Applied 1 fix in 1 file; 1 finding is left.\n")
    assert "(1/1) Apply this fix" in review("q\n").stdout


def test_a_filter_asks_only_what_fits():
    file = write("net.py", cell("y = old(y)", "return x.transpose(0, 1)"))
    run = review("/rule:GW110\ny\n")
    assert "The filter shows 1 finding." in run.stdout
    assert file.read_text() == cell("y = old(y)", "return x.swapaxes(0, 1)")


def test_without_a_filter_all_is_asked_again_also_in_files_before(tmp_path: Path):
    first = write("a.py", cell("return old(x)"))
    second = write("b.py", cell("y = old(y)", "return x.transpose(0, 1)"))
    run = review("/rule:GW110\n/\nn\nn\ny\n")
    asked = [line.split()[0] for line in run.stdout.splitlines() if line[:1] in "ab" and "GW" in line]
    assert asked == ["a.py:6:16", "b.py:7:16", "b.py:6:13", "b.py:7:16", "a.py:6:16"]
    assert (first.read_text(), second.read_text()) == (
        cell("return new(x)"),
        cell("y = old(y)", "return x.transpose(0, 1)"),
    )


def test_a_filter_that_means_nothing_says_what_would():
    write("net.py", cell("return old(x)"))
    run = review("/state:what\nq\n")
    assert "state is one of open, accepted" in run.stdout


def test_a_rejected_finding_is_not_asked_the_next_time_unless_asked_for():
    write("net.py", cell("y = old(y)", "return old(x)"))
    review("n\nq\n")
    again = review("q\n")
    assert "1 earlier decision holds" in again.stdout
    assert "net.py:7:16" in again.stdout and "net.py:6:13" not in again.stdout
