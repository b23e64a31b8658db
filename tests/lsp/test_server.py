"""The language server as editors meet it: a process on stdio with a real client at the other end."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import client_capabilities

from .conftest import COMMAND, FULL, SPECIMENS, Begin, Editor

HEAD = "from mindspore import Tensor, nn\n\n\nclass Net(nn.Cell):\n    def construct(self, x: Tensor, y, z=None):\n"
MINIMAL = types.ClientCapabilities()
EVERYWHERE = types.Range(types.Position(0, 0), types.Position(10_000, 0))


def cell(*lines: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in lines)


def numpy_cell(*lines: str) -> str:
    return "import numpy as np\n" + cell(*lines)


async def test_a_finding_appears_on_open_and_vanishes_after_its_quick_fix(begin: Begin):
    editor = await begin()
    text = cell("return x.transpose(0, 1)")
    uri = editor.open("net.py", text)
    (shown,) = await editor.found(uri, "GW110")
    assert shown.source == "graphward"
    assert shown.severity is types.DiagnosticSeverity.Error
    assert editor.text_of(uri, shown.range) == "x.transpose(0, 1)"
    assert "does not compile" in shown.message
    assert "because x is annotated Tensor" in shown.message
    assert shown.data["fingerprint"]
    (action,) = await editor.fixes(uri, shown.range)
    assert (action.title, action.kind, action.is_preferred) == ("Use swapaxes [safe]", "quickfix.graphward", True)
    assert list(action.diagnostics or ()) == [shown]
    assert action.edit is None
    editor.apply((await editor.resolve(action)).edit)
    assert editor.texts[uri] == cell("return x.swapaxes(0, 1)")
    await editor.found(uri)
    assert editor.published[-1].version == 2


async def test_each_alternative_is_a_quick_fix_that_says_how_far_it_can_be_trusted(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("return old(x) + y"))
    (shown,) = await editor.found(uri, "GW991")
    assert shown.severity is types.DiagnosticSeverity.Hint
    assert list(shown.tags or ()) == [types.DiagnosticTag.Deprecated]
    safe, unsafe = await editor.fixes(uri, shown.range)
    assert (safe.title, safe.is_preferred) == ("Use new [safe]", True)
    assert (unsafe.title, unsafe.is_preferred) == ("Use newer [unsafe: newer rounds differently]", None)
    editor.apply((await editor.resolve(unsafe)).edit)
    assert editor.texts[uri] == cell("return newer(x) + y")


async def test_a_fix_brings_its_imports_and_takes_those_it_makes_needless(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", numpy_cell("return Tensor(np.exp(x.asnumpy()))"))
    (shown,) = await editor.found(uri, "GW101")
    assert shown.severity is types.DiagnosticSeverity.Warning
    action, *_ = await editor.fixes(uri, shown.range)
    editor.apply((await editor.resolve(action)).edit)
    after = editor.texts[uri]
    assert "numpy" not in after
    assert "ops" in after.splitlines()[0]
    compile(after, "net.py", "exec")
    await editor.found(uri)


async def test_quick_fixes_are_those_of_the_findings_in_the_range(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("y = y.transpose(0, 1)", "return x.transpose(0, 1)"))
    first, second = await editor.found(uri, "GW110", "GW110")
    cursor = types.Range(second.range.end, second.range.end)
    (action,) = await editor.fixes(uri, cursor)
    assert list(action.diagnostics or ()) == [second]
    assert first.data != second.data
    assert len(await editor.fixes(uri, EVERYWHERE)) == 2
    top = types.Range(types.Position(0, 0), types.Position(1, 0))
    assert await editor.fixes(uri, top) == []


async def test_fix_all_takes_the_safe_fixes_to_the_fixpoint(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("y = old(old(old(y)))", "z = knotty(x)", "return x.transpose(0, 1)"))
    await editor.found(uri, "GW991", "GW991", "GW991", "GW992", "GW110")
    for only in (("source.fixAll.graphward",), ("source.fixAll",), ("source",)):
        (action,) = await editor.actions(uri, EVERYWHERE, *only)
        assert action.kind == "source.fixAll.graphward"
    assert await editor.actions(uri, EVERYWHERE, "source.organizeImports") == []
    assert await editor.actions(uri, EVERYWHERE, "refactor") == []
    editor.apply((await editor.resolve(action)).edit)
    assert editor.texts[uri] == cell("y = new(new(new(y)))", "z = knotty(x)", "return x.swapaxes(0, 1)")
    await editor.found(uri, "GW992")
    assert await editor.actions(uri, EVERYWHERE, "source.fixAll") == []


async def test_what_must_be_done_by_hand_is_disabled_and_says_why(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("return knotty(x)"))
    (shown,) = await editor.found(uri, "GW992")
    (action,) = await editor.fixes(uri, shown.range)
    assert action.disabled == types.CodeActionDisabled("to be done by hand: only you know the knot")
    assert action.edit is None


async def test_a_fix_whose_result_is_no_python_cannot_be_resolved(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("return broken(x)"))
    (shown,) = await editor.found(uri, "GW993")
    (action,) = await editor.fixes(uri, shown.range)
    with pytest.raises(JsonRpcException, match="cannot be applied"):
        await editor.resolve(action)


async def test_a_client_that_can_nothing_gets_complete_plain_edits(begin: Begin):
    editor = await begin(MINIMAL)
    uri = editor.open("net.py", cell("y = old(y)", "w = knotty(y)", "v = broken(y)", "return x.transpose(0, 1)"))
    shown = await editor.found(uri, "GW991", "GW992", "GW993", "GW110")
    assert all(d.tags is None and d.related_information is None for d in shown)
    assert all(p.version is None for p in editor.published)
    actions = await editor.actions(uri, EVERYWHERE)
    mending = [a for a in actions if isinstance(a, types.CodeAction)]
    assert all(a.data is None and a.disabled is None and a.edit.document_changes is None for a in mending)
    assert [a.title for a in mending] == [
        "Use new [safe]", "Use newer [unsafe: newer rounds differently]", "Use swapaxes [safe]",
        *(f"Silence {code} here" for code in ("GW991", "GW992", "GW993", "GW110")),
        *(f"Silence {code} in this file" for code in ("GW991", "GW992", "GW993", "GW110")),
        "Fix all that Graphward can fix safely",
    ]  # fmt: skip
    quiet = await editor.actions(uri, EVERYWHERE, trigger=types.CodeActionTriggerKind.Automatic)
    kinds = [a.kind for a in quiet if isinstance(a, types.CodeAction)]
    assert [k for k in kinds if k.startswith("quickfix.graphward") and "silence" not in k] == ["quickfix.graphward"] * 3
    editor.apply(actions[-1].edit)
    assert editor.texts[uri] == cell("y = new(y)", "w = knotty(y)", "v = broken(y)", "return x.swapaxes(0, 1)")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
async def test_columns_are_right_behind_chinese_and_emoji(begin: Begin, encoding: str, newline: str):
    general = types.GeneralClientCapabilities(position_encodings=["utf-7", encoding])
    editor = await begin(types.ClientCapabilities(general=general), encoding=encoding)
    line = 'return ("汉字😀", x.transpose(0, 1), "🧮", old(y))  # 完 😀'
    uri = editor.open("net.py", cell(line).replace("\n", newline))
    first, second = await editor.found(uri, "GW110", "GW991")
    assert editor.text_of(uri, first.range) == "x.transpose(0, 1)"
    assert editor.text_of(uri, second.range) == "old(y)"
    (action,) = await editor.fixes(uri, first.range)
    editor.apply(action.edit)
    middle = types.Position(second.range.start.line, second.range.start.character - 1)
    action, _ = await editor.fixes(uri, types.Range(middle, middle))
    editor.apply(action.edit)
    expected = line.replace("x.transpose", "x.swapaxes").replace("old", "new")
    assert editor.texts[uri] == cell(expected).replace("\n", newline)


async def test_form_feeds_and_a_byte_order_mark_do_not_shift_places(begin: Begin):
    editor = await begin(MINIMAL)
    uri = editor.open("net.py", "\ufeff" + cell("y = '\x0c\u2028'", "return Tensor(1), old(y)"))
    (shown,) = await editor.found(uri, "GW991")
    assert editor.text_of(uri, shown.range) == "old(y)"
    marked = "\ufeff" + numpy_cell("return Tensor(np.exp(x.asnumpy()))")
    editor.change(uri, marked)
    (shown,) = await editor.found(uri, "GW101")
    action, *_ = await editor.fixes(uri, shown.range)
    editor.apply(action.edit)
    assert editor.texts[uri].startswith("\ufefffrom mindspore import")


async def test_a_file_that_is_being_typed_says_that_it_is_not_checked(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("return x.transpose(0, 1)"))
    await editor.found(uri, "GW110")
    editor.change(uri, cell("return x.transpose(0, 1"))
    await editor.until(lambda: editor.published[-1].version == 2)
    (shown,) = editor.shown(uri)
    assert (shown.code, shown.severity) == (None, types.DiagnosticSeverity.Information)
    assert shown.message.startswith("not checked for Graph Mode: does not parse")
    assert shown.range.start.line == 5
    assert await editor.actions(uri, EVERYWHERE) == []
    editor.change(uri, cell("return x.transpose(0, 1)"))
    await editor.found(uri, "GW110")
    other = editor.open("other.py", "def f(:\n")  # no graph code: none of our business
    await editor.found(other)


async def test_what_is_published_is_that_of_its_version_however_fast_one_types(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("return x"))
    await editor.found(uri)
    for i in range(40):
        editor.change(uri, cell(f"a = {i}", "return x.transpose(0, 1)"))
        await asyncio.sleep(0.005)
    latest = editor.change(uri, cell("return old(x)"))
    await editor.found(uri, "GW991")
    await asyncio.sleep(0.5)
    versions = [p.version for p in editor.published if p.uri == uri]
    assert versions == sorted(versions)
    assert versions[-1] == latest
    for params in editor.published:
        wanted = {1: [], latest: ["GW991"]}.get(params.version, ["GW110"])
        assert [d.code for d in params.diagnostics] == wanted


async def test_a_check_that_the_text_has_overtaken_is_not_published_and_blocks_nothing(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("return x"))
    await editor.found(uri)
    editor.change(uri, cell("return slow(x)"))
    await asyncio.sleep(0.8)  # the check of version 2 is running now, for two seconds
    assert await editor.actions(editor.uri("unknown.py"), EVERYWHERE) == []
    assert [p.version for p in editor.published] == [1]
    editor.change(uri, cell("return old(x)"))
    await editor.found(uri, "GW991")
    assert [p.version for p in editor.published] == [1, 3]


async def test_actions_are_those_of_the_text_as_it_is_not_as_it_was_last_checked(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("return x.transpose(0, 1)"))
    (shown,) = await editor.found(uri, "GW110")
    (stale,) = await editor.fixes(uri, shown.range)
    editor.change(uri, cell("y = 1", "return x + old(y)"))
    titles = [a.title for a in await editor.fixes(uri, EVERYWHERE)]
    assert titles == ["Use new [safe]", "Use newer [unsafe: newer rounds differently]"]
    with pytest.raises(JsonRpcException, match="the text has changed"):
        await editor.resolve(stale)


def package(root: Path) -> None:
    (root / "pkg").mkdir()
    (root / "pkg" / "__init__.py").write_text("")
    (root / "pkg" / "helpers.py").write_text("def swap(t):\n    return t.transpose(0, 1)\n")
    net = cell("return swap(x)").replace("\n\n\n", "\nfrom .helpers import swap\n\n\n", 1)
    (root / "pkg" / "net.py").write_text(net)


async def test_a_finding_in_a_helper_says_which_region_reaches_it(begin: Begin, tmp_path: Path):
    package(tmp_path)
    editor = await begin()
    uri = editor.open("pkg/helpers.py")
    (shown,) = await editor.found(uri, "GW110")
    region, step = shown.related_information
    assert region.location.uri == editor.uri("pkg/net.py")
    assert "pkg.net:Net.construct" in region.message
    assert step.location.uri == uri
    assert editor.text_of(uri, step.location.range) == "swap"


async def test_without_a_folder_a_file_is_checked_with_its_package(begin: Begin, tmp_path: Path):
    package(tmp_path)
    editor = await begin(workspace_folders=None)
    uri = editor.open("pkg/helpers.py")
    await editor.found(uri, "GW110")


async def test_unsaved_texts_of_other_files_count(begin: Begin, tmp_path: Path):
    package(tmp_path)
    editor = await begin()
    helpers = editor.open("pkg/helpers.py")
    await editor.found(helpers, "GW110")
    net = editor.open("pkg/net.py")
    await editor.found(net)
    editor.change(net, editor.texts[net].replace("swap(x)", "x"))  # nothing compiles the helper any more
    await editor.found(helpers)
    editor.change(net, editor.texts[net].replace("return x", "return swap(x)"))
    await editor.found(helpers, "GW110")
    editor.change(net, editor.texts[net].replace("swap(x)", "x"))
    await editor.found(helpers)
    editor.close(net)  # the file on disk counts again
    await editor.found(helpers, "GW110")
    assert editor.shown(net) == []


async def test_a_file_that_changes_on_disk_is_read_again(begin: Begin, tmp_path: Path):
    package(tmp_path)
    editor = await begin()
    helpers = editor.open("pkg/helpers.py")
    await editor.found(helpers, "GW110")
    net = tmp_path / "pkg" / "net.py"
    net.write_text(net.read_text().replace("swap(x)", "x"))
    event = types.FileEvent(editor.uri("pkg/net.py"), types.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    await editor.found(helpers)
    (tmp_path / "pkg" / "more.py").write_text(cell("return swap(x)").replace("\n", "\nfrom .helpers import swap\n", 1))
    event = types.FileEvent(editor.uri("pkg/more.py"), types.FileChangeType.Created)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    await editor.found(helpers, "GW110")


async def test_settings_come_from_pyproject_and_are_read_again(begin: Begin, tmp_path: Path):
    project = tmp_path / "pyproject.toml"
    project.write_text('[tool.graphward]\nignore = ["GW110"]\n')
    editor = await begin()
    uri = editor.open("net.py", cell("y = old(y)", "return x.transpose(0, 1)"))
    await editor.found(uri, "GW991")
    assert types.WORKSPACE_DID_CHANGE_WATCHED_FILES in editor.registered

    def changed() -> None:
        event = types.FileEvent(editor.uri("pyproject.toml"), types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    project.write_text('[tool.graphward]\nignore = ["GW99"]\n')
    changed()
    await editor.found(uri, "GW110")
    project.write_text("[tool.graphward\n")
    changed()
    await editor.until(lambda: [d.code for d in editor.shown(uri)] == [None])
    assert "pyproject.toml:1: this is not valid TOML" in editor.shown(uri)[0].message
    project.write_text('[tool.graphward]\nexclude = ["net.py"]\n')
    changed()
    await editor.found(uri)
    project.unlink()
    changed()
    await editor.found(uri, "GW991", "GW110")


async def test_settings_come_from_the_client_by_request(begin: Begin):
    editor = await begin(settings={"select": ["GW99"], "docsUrl": "https://docs.example/rules/"})
    uri = editor.open("net.py", cell("y = old(y)", "return x.transpose(0, 1)"))
    await editor.found(uri, "GW991")
    await editor.until(lambda: editor.shown(uri)[0].code_description is not None)
    assert editor.shown(uri)[0].code_description.href == "https://docs.example/rules/GW991"
    editor.settings = {"ignore": ["GW99"]}
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    await editor.found(uri, "GW110")


async def test_settings_come_from_the_client_by_notification(begin: Begin):
    editor = await begin(MINIMAL, initialization_options={"targetVersion": "2.10", "select": ["specimen-nested"]})
    uri = editor.open("net.py", cell("y = old(y)", "return x.transpose(0, 1)"))
    await editor.found(uri, "GW991")

    def send(settings: object) -> None:
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))

    send({"graphward": {"ignore": ["GW99"]}})
    await editor.found(uri, "GW110")
    send({"graphward": {"slect": ["GW1"]}})
    await editor.until(lambda: bool(editor.messages))
    assert "unknown setting 'slect' from the editor" in editor.messages[0].message
    send({"graphward": {"select": ["GW0"]}})
    await editor.until(lambda: [d.code for d in editor.shown(uri)] == [None])
    assert "no rule matches 'GW0'" in editor.shown(uri)[0].message


async def test_codemods_that_print_or_crash_do_no_harm(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("return loud(x)"))
    await editor.found(uri, "GW994")
    editor.change(uri, cell("return loud(x, 1)"))
    await editor.until(lambda: [d.code for d in editor.shown(uri)] == [None])
    assert "the check failed: ZeroDivisionError: the codemod is wrong" in editor.shown(uri)[0].message
    editor.change(uri, cell("return loud(x)"))
    await editor.found(uri, "GW994")


async def test_odd_documents_and_requests_are_borne(begin: Begin, tmp_path: Path):
    editor = await begin()
    assert await editor.actions(editor.uri("unknown.py"), EVERYWHERE) == []
    foreign = types.CodeAction("someone else's", data={"uri": 1})
    assert (await editor.resolve(foreign)).edit is None
    editor.client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(7, editor.uri("unknown.py")),
            [types.TextDocumentContentChangeWholeDocument("x = 1")],
        )
    )
    editor.close(editor.uri("unknown.py"))
    item = types.TextDocumentItem("untitled:Untitled-1", "python", 1, cell("return old(x)"))
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    (tmp_path / "notes.txt").write_text("old(x)")
    editor.open("notes.txt")
    editor.client.protocol.notify("graphward/nonsense", {"a": [1, 2]})
    with pytest.raises(JsonRpcException):
        await editor.client.protocol.send_request_async("graphward/nonsense", {})
    strange = editor.open("strange.py", cell("return 'a\x00b', old(x)"))
    await editor.until(lambda: [d.code for d in editor.shown(strange) or ()] == [None])
    uri = editor.open("net.py", cell("return old(x)"))
    await editor.found(uri, "GW991")
    assert {p.uri for p in editor.published} == {uri, strange}
    assert editor.messages == []


@pytest.mark.parametrize("name", ["visual-studio-code@1.65.2", "neovim@0.11.0", "emacs@29.1"])
async def test_recorded_clients(begin: Begin, name: str):
    capabilities = client_capabilities(name)
    preferred = (capabilities.general and capabilities.general.position_encodings) or ["utf-16"]
    encoding = next(e for e in preferred if e in ("utf-8", "utf-16", "utf-32"))
    editor = await begin(capabilities, encoding=str(getattr(encoding, "value", encoding)))
    uri = editor.open("net.py", cell("return '😀汉', x.transpose(0, 1)"))
    (shown,) = await editor.found(uri, "GW110")
    (action,) = await editor.fixes(uri, shown.range)
    if action.edit is None:
        action = await editor.resolve(action)
    editor.apply(action.edit)
    assert editor.texts[uri] == cell("return '😀汉', x.swapaxes(0, 1)")
    await editor.found(uri)


def message(**fields: object) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def spoken(data: bytes) -> list[dict]:
    """The messages in a stream that holds nothing else."""
    found = []
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n"))
        size = int(fields[b"Content-Length"])
        found.append(json.loads(rest[:size]))
        data = rest[size:]
    return found


def test_stdout_holds_the_protocol_alone_and_a_client_that_is_gone_ends_the_server(tmp_path: Path):
    uri = (tmp_path / "net.py").as_uri()
    item = {"uri": uri, "languageId": "python", "version": 1, "text": cell("return loud(x)")}
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    action = {"textDocument": {"uri": uri}, "range": place, "context": {"diagnostics": []}}
    server = subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
        env={"PYTHONPATH": str(SPECIMENS), "PATH": ""},
    )  # fmt: skip
    assert server.stdin and server.stdout
    server.stdin.write(
        message(id=1, method="initialize", params={"capabilities": {}, "processId": None, "rootUri": None})
        + message(method="initialized", params={})
        + b"Content-Length: 9\r\n\r\n{not json"
        + message(id=2, method="textDocument/codeAction", params={"textDocument": 5})
        + message(method="textDocument/didOpen", params={"textDocument": item})
        + message(id=3, method="textDocument/codeAction", params=action)
    )
    server.stdin.flush()
    seen = b""
    while b'"id": 3' not in seen and b'"id":3' not in seen:
        chunk = server.stdout.read1(65536)
        assert chunk, "the server left"
        seen += chunk
    server.stdin.close()  # the editor was killed: no shutdown, no exit
    assert server.wait(timeout=30) == 1
    heard = spoken(seen + server.stdout.read())
    published = [m for m in heard if m.get("method") == "textDocument/publishDiagnostics"]
    assert [d["code"] for d in published[-1]["params"]["diagnostics"]] == ["GW994"]
    assert b"this is not a message" in server.stderr.read()


def test_without_pygls_the_way_out_is_named():
    program = (
        "import sys\n"
        "sys.modules['pygls'] = None\n"
        "from graphward.errors import GraphwardError\n"
        "from graphward.lsp.command import run_server\n"
        "try:\n    run_server()\nexcept GraphwardError as error:\n    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert run.stdout == "the language server needs pygls\n  pip install 'graphward[lsp]'\n"


def test_editor_counts_units_as_the_protocol_says():
    """The yardstick of the tests above."""
    text = "a\r\n😀b\rc\n"
    for encoding, column in (("utf-8", 4), ("utf-16", 2), ("utf-32", 1)):
        editor = Editor(Path(), encoding)
        assert text[editor.index(text, types.Position(1, column))] == "b"
        assert text[editor.index(text, types.Position(2, 0))] == "c"
    assert FULL.text_document is not None
