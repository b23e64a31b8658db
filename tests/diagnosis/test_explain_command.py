"""`graphward explain` as a user meets it: arguments, standard input, languages, JSON, exit status."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from graphward.diagnosis.texts import texts
from graphward.rules.registry import all_rules

from .test_logs import ERROR

GRAPHWARD = Path(sys.executable).with_name("graphward")


def explain(*arguments: str, stdin: str | bytes = "", cwd: Path | None = None, **env: str) -> tuple[int, str, str]:
    data = stdin.encode() if isinstance(stdin, str) else stdin
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG"))}
    run = subprocess.run(
        [GRAPHWARD, "explain", *arguments], input=data, capture_output=True, cwd=cwd, env={**clean, **env}
    )
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def test_a_pasted_traceback():
    status, out, err = explain("-", stdin=ERROR)
    assert (status, err) == (0, "")
    assert out.startswith("ME101 unsupported-try: `try` does not compile\n")
    for said in (
        "    MindSpore says: RuntimeError: Unsupported statement 'Try'.\n",
        "    Your line: /home/me/net.py:18:13\n        y = self.inner(x)\n",
        "    Cause: ", "    Cure: ", "        GW301 try-statement: ",
        "    Run: graphward fix /home/me/net.py --select GW301 --unsafe-fixes\n",
        "graphward migrate /home/me/net.py\n",
    ):  # fmt: skip
        assert said in out


def test_without_arguments_standard_input_is_read():
    assert explain(stdin=ERROR) == explain("-", stdin=ERROR)


def test_a_file(tmp_path: Path):
    (tmp_path / "train.log").write_text(ERROR, encoding="utf-8")
    assert explain("train.log", cwd=tmp_path) == explain("-", stdin=ERROR)


def test_a_message_in_quotes():
    status, out, _ = explain("RuntimeError: Unsupported statement 'Try'.")
    assert status == 0 and out.startswith("ME101 ") and "Your line" not in out


@pytest.mark.parametrize("spelling", ["ME101", "me101", "unsupported-try"])
def test_the_page_of_an_error(spelling: str):
    status, out, err = explain(spelling)
    assert (status, err) == (0, "")
    assert out.startswith("# ME101 unsupported-try\n") and "\n## Cause\n" in out and "GW301" in out


def test_the_page_of_an_error_in_chinese():
    status, out, _ = explain("ME101", "--lang", "zh")
    assert status == 0 and "\n## 原因\n" in out


def test_the_page_of_a_rule_begins_in_chinese():
    status, out, _ = explain("GW701", "--lang", "zh")
    line = out.splitlines()[2]
    assert status == 0 and "PyNative" in line and "模式" in line and line.endswith("。")
    assert "模式" not in explain("GW701", "--lang", "en")[1]


def test_every_rule_has_a_chinese_summary():
    words = texts("zh")
    plain = [known.code for known in all_rules() if words.of_rule(known.code, known.summary()).isascii()]
    assert plain == []


@pytest.mark.parametrize(
    ("arguments", "env", "chinese"),
    [
        ((), {}, False),
        (("--lang", "zh"), {}, True),
        ((), {"LANG": "zh_CN.UTF-8"}, True),
        ((), {"LANG": "en_US.UTF-8", "LC_ALL": "zh_CN.UTF-8"}, True),
        (("--lang", "en"), {"LANG": "zh_CN.UTF-8"}, False),
        ((), {"LANG": "de_DE.UTF-8"}, False),
        ((), {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, False),
    ],
)
def test_the_language(arguments: tuple[str, ...], env: dict[str, str], chinese: bool):
    status, out, _ = explain("-", *arguments, stdin=ERROR, PYTHONIOENCODING="utf-8", **env)
    assert status == 0
    assert ("原因: " in out) is chinese and ("Cause: " in out) is not chinese


def test_chinese_on_a_terminal_that_cannot_show_it():
    status, _, err = explain("-", "--lang", "zh", stdin=ERROR, PYTHONIOENCODING="ascii")
    assert (status, err) == (0, "")


def test_json():
    status, out, err = explain("-", "--output-format", "json", stdin=ERROR + ERROR.replace("Try", "Delete"))
    assert (status, err) == (0, "")
    first, second = json.loads(out)["diagnoses"]
    assert (first["entry"], second["entry"]) == ("ME101", "ME103")
    assert first["place"] == {
        "path": "/home/me/net.py", "line": 18, "column": 13, "end_column": 23, "code": "y = self.inner(x)",
    }  # fmt: skip
    assert first["rules"] == ["GW301"] and first["raised"] == ["compile"] and first["exception"] == "RuntimeError"
    assert set(first) == set(second) and "project" not in first


def test_json_of_nothing():
    status, out, _ = explain("-", "--output-format", "json", stdin="all went well\n" * 100)
    assert status == 1 and json.loads(out) == {"diagnoses": []}


def test_an_unknown_error_leaves_with_status_1():
    status, out, _ = explain("-", stdin="RuntimeError: For 'make_range', something else is odd\n")
    assert status == 1 and "not in the registry" in out and "Nearest entries:" in out and "ME404" in out


def test_a_log_without_an_error():
    status, out, err = explain("-", stdin="epoch 1\n" * 200)
    assert (status, out) == (1, "No error found in 200 lines.\n") and "Paste" in err


def test_many_errors_are_counted():
    status, out, _ = explain("-", stdin=ERROR + ERROR.replace("Try", "Delete") + "ValueError: my own\n")
    assert status == 1 and out.startswith("3 different errors\n") and out.index("ME101") < out.index("ME103")


def test_markup_in_a_message_is_no_markup():
    status, out, _ = explain("ValueError: The key [bold]b[/bold] does not exist in the dict:{}[/]")
    assert status == 0 and "[bold]b[/bold]" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("nowhere.log",), "there is no such file"), (("GW999",), "there is no rule"), (("ME999",), "there is no error"),
     (("-", "--project", "nowhere"), "nowhere")],
)  # fmt: skip
def test_what_cannot_be(arguments: tuple[str, ...], said: str):
    status, out, err = explain(*arguments, stdin=ERROR)
    assert (status, out) == (2, "") and said in err


def test_a_terminal_is_told_to_paste_and_an_empty_call_how():
    """On a terminal nothing comes by itself."""
    leader, terminal = pty.openpty()
    run = subprocess.run([GRAPHWARD, "explain"], stdin=terminal, capture_output=True, encoding="utf-8")
    assert run.returncode == 2 and "nothing to explain" in run.stderr
    os.write(leader, b"RuntimeError: Unsupported statement 'Try'.\n\x04")
    run = subprocess.run([GRAPHWARD, "explain", "-"], stdin=terminal, capture_output=True, encoding="utf-8")
    assert run.returncode == 0 and run.stdout.startswith("ME101 ") and "Ctrl-D" in run.stderr
    os.close(leader)
    os.close(terminal)
