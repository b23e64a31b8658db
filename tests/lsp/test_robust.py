"""What the server survives: odd messages, large files, cancelled requests, processes that die or hang."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from graphward.lsp.documents import Session, carried, text_of
from graphward.lsp.process import CheckerDied, CheckerProcess, News, Question
from graphward.rules.finding import Consequence, Finding, Span

from .conftest import COMMAND, SPECIMENS, Begin, Editor
from .test_server import EVERYWHERE, cell, message, spoken

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                found.append(int(folder.name))
    return found


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended may wait for somebody to ask how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def server_of(editor: Editor) -> int:
    return editor.client._server.pid


@needs_proc
async def test_checkers_that_are_killed_are_started_again(begin: Begin, tmp_path: Path):
    (tmp_path / "net.py").write_text(cell("return old(x)"))
    editor = await begin()
    uri = editor.open("net.py")
    other = editor.open("other.py", cell("return x.transpose(0, 1)"))
    await editor.found(uri, "GW991")
    await editor.found(other, "GW110")
    for text, code in ((cell("return x.transpose(0, 1)"), "GW110"), (cell("return old(y)"), "GW991")):
        for pid in children(server_of(editor)):
            os.kill(pid, signal.SIGKILL)
        editor.change(uri, text)
        await editor.found(uri, code)
    (action, *_) = await editor.fixes(other, editor.shown(other)[0].range)
    editor.apply((await editor.resolve(action)).edit)
    await editor.found(other)


@needs_proc
async def test_no_process_outlives_a_server_that_is_killed(tmp_path: Path):
    editor = Editor(tmp_path)
    await editor.start(types.ClientCapabilities())
    uri = editor.open("net.py", cell("return old(x)"))
    await editor.found(uri, "GW991")
    started = children(server_of(editor))
    assert started
    os.kill(server_of(editor), signal.SIGKILL)
    for _ in range(200):
        if not any(map(alive, started)):
            break
        await asyncio.sleep(0.05)
    assert not [pid for pid in started if alive(pid)]


def test_a_checker_that_hangs_is_killed_and_another_answers(tmp_path: Path):
    process = CheckerProcess("test")
    path = tmp_path / "net.py"
    session = Session()
    slow = session.put(path.as_uri(), path, 1, text_of(path, cell("return x")))
    try:
        assert process.ask(Question(News((slow,)), "quick", (slow.uri,))).findings == ()
        os.kill(process.pid or 0, signal.SIGSTOP)
        with pytest.raises(CheckerDied):
            process.ask(Question(News(), "quick", (slow.uri,)), limit=0.5)
        assert process.ask(Question(News((slow,)), "quick", (slow.uri,))).findings == ()
        assert process.starts == 2
        with pytest.raises(Exception, match="unknown"):
            process.ask(Question(News(), "quick", ("unknown",)))
    finally:
        process.kill()
    assert process.pid is None


async def test_cancelled_requests_are_answered_as_such_and_the_next_ones_served(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("return x"))
    await editor.found(uri)
    editor.change(uri, cell("return slow(x)"))
    asked = types.CodeActionParams(types.TextDocumentIdentifier(uri), EVERYWHERE, types.CodeActionContext([]))
    requests = [editor.client.protocol.send_request("textDocument/codeAction", asked, msg_id=f"c{i}") for i in range(5)]
    await asyncio.sleep(0.1)
    for i in range(5):
        editor.client.protocol.notify("$/cancelRequest", types.CancelParams(f"c{i}"))
    for request in requests:
        with pytest.raises(JsonRpcException, match="cancel"):
            await asyncio.wait_for(asyncio.wrap_future(request), 10)
    editor.change(uri, cell("return old(x)"))
    first, *_ = await editor.fixes(uri, EVERYWHERE)
    assert first.title == "Use new [safe]"


async def test_a_huge_file_is_refused_with_the_reason_and_blocks_nothing(begin: Begin):
    editor = await begin()
    huge = editor.open("huge.py", cell("return old(x)") + "# " + "x" * 3_000_000 + "\n")
    small = editor.open("small.py", cell("return old(x)"))
    await editor.found(small, "GW991")
    (shown,) = await editor.found(huge, None)
    assert "larger than 2000000 bytes" in shown.message


@pytest.mark.parametrize(
    "text",
    ["", "\n", "\ufeff", "(" * 5_000, "x = " + "-" * 20_000 + "1\n", "def construct(" * 300, "jit\x00", "\r\r\r",
     "if x:\n\tjit\n        y"],
    ids=["empty", "newline", "mark", "brackets", "minuses", "defs", "null", "returns", "tabs"],
)  # fmt: skip
async def test_texts_that_are_no_program_are_borne(begin: Begin, text: str):
    editor = await begin()
    uri = editor.open("net.py", text)
    await editor.until(lambda: editor.shown(uri) is not None)
    await editor.actions(uri, EVERYWHERE)
    editor.change(uri, cell("return old(x)"))
    await editor.found(uri, "GW991")


def test_messages_that_are_none_are_borne_and_nothing_else_is_said(tmp_path: Path):
    uri = (tmp_path / "net.py").as_uri()
    item = {"uri": uri, "languageId": "python", "version": 1, "text": cell("return loud(x)")}
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    action = {"textDocument": {"uri": uri}, "range": place, "context": {"diagnostics": []}}
    odd = {"start": {"line": 70_000, "character": 5}, "end": {"line": 0, "character": 2**31 - 1}}
    stream = [
        message(id=1, method="initialize", params={"capabilities": {}, "processId": None, "rootUri": None}),
        message(method="initialized", params={}),
        message(method="textDocument/didOpen", params={"textDocument": item}),
        message(method="textDocument/didOpen", params={"textDocument": {"uri": 7}}),
        message(method="textDocument/didChange", params={}),
        message(method="textDocument/didChange", params=None),
        message(method="textDocument/didClose", params={"textDocument": {"uri": "file:///never/opened.py"}}),
        message(id=2, method="textDocument/hover", params={"textDocument": {"uri": uri}, "position": odd["end"]}),
        message(id=3, method="textDocument/codeLens", params={"textDocument": {"uri": "no address at all"}}),
        message(id=4, method="workspace/executeCommand", params={"command": "graphward.nonsense"}),
        message(id=5, method="workspace/executeCommand", params={"command": "graphward.verify", "arguments": [None]}),
        message(id=6, method="codeAction/resolve", params={"title": "x", "data": {"uri": uri, "version": 9,
                                                                                  "does": "y", "name": 1, "fix": "z"}}),
        message(id=7, method="no/such/method", params=[]),
        message(id=8, method="workspace/didChangeConfiguration", params={"settings": 5}),
        b"Content-Length: 3\r\n\r\n[1]",
        b"Content-Length: 2\r\n\r\n{}",
        message(method="textDocument/didChange", params={
            "textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"range": odd, "text": "# end\n"}]}),
        message(id=9, method="textDocument/codeAction", params={**action, "range": odd}),
        message(id=10, method="textDocument/codeAction", params=action),
        message(id=11, method="shutdown"),
        message(method="exit"),
    ]  # fmt: skip
    server = subprocess.run(
        COMMAND, input=b"".join(stream), capture_output=True, cwd=tmp_path, timeout=120,
        env={"PYTHONPATH": str(SPECIMENS), "PATH": "", "HOME": str(tmp_path)},
    )  # fmt: skip
    heard = spoken(server.stdout)
    answers = {m["id"]: m for m in heard if "id" in m and "method" not in m}
    assert set(answers) >= {1, 2, 3, 4, 5, 6, 7, 9, 10, 11}, server.stderr.decode()[-3000:]
    refused = {i: m["error"]["code"] for i, m in answers.items() if "error" in m and i not in (4, 5, 7)}
    assert set(refused.values()) <= {-32800}, refused  # what was not answered yet when the client said good-bye
    assert all("error" in answers[i] for i in (4, 5, 7))
    assert b"loud" not in b"".join(line for line in server.stdout.splitlines() if not line.startswith(b"{"))
    assert server.returncode == 0


def test_a_server_starts_whatever_modules_the_users_folder_holds(tmp_path: Path):
    for name in ("ast.py", "typing.py", "graphward.py", "queue.py", "pickle.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong module')\n")
    stream = message(id=1, method="initialize", params={"capabilities": {}, "processId": None, "rootUri": None})
    program = [sys.executable, "-I", "-c", f"import sys; sys.path[:] = {sys.path!r}\n" + COMMAND[2]]
    server = subprocess.run(
        program, input=stream + message(id=2, method="shutdown") + message(method="exit"), capture_output=True,
        cwd=tmp_path, timeout=60,
    )  # fmt: skip
    assert server.returncode == 0, server.stderr.decode()
    assert json.dumps(spoken(server.stdout)[0]).count("quickfix") >= 1
    assert b"wrong module" not in server.stderr


def found(start: int, end: int) -> Finding:
    return Finding("GW991", "x", "x", Consequence.ERROR, Span(start, end), "x")


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        (b"aa\nbb\ncc\n", b"aa\nbb\ncc\n", ["aa", "bb", "cc"]),
        (b"aa\nbb\ncc\n", b"aa\nb(b\ncc\n", ["aa", "cc"]),
        (b"aa\nbb\ncc\n", b"aa\nxx\nyy(\nbb\ncc\n", ["aa", "bb", "cc"]),
        (b"aa\nbb\ncc\n", b"aa\ncc\n", ["aa", "cc"]),
        (b"aa\nbb\ncc\n", b"(aa\nbb\ncc\n", ["bb", "cc"]),
        (b"aa\nbb\ncc", b"aa\nbb\ncc(", ["aa", "bb"]),
        (b"aa\naa\naa\n", b"aa\naa(\naa\naa\n", None),
        (b"aa\nbb\ncc\n", b"", []),
        (b"aa\nbb\ncc\n", b"zz", []),
    ],
)
def test_what_is_carried_over_stands_on_the_same_words(before: bytes, after: bytes, kept: list[str] | None):
    findings = [found(i, i + 2) for i in range(0, len(before), 3)]
    moved = [after[f.span.start : f.span.end].decode() for f in carried(before, findings, after)]
    if kept is None:
        assert set(moved) == {"aa"}
    else:
        assert moved == kept
