"""What is shown of texts as they change: while they are typed, in notebooks, to clients that ask, in projects."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from .conftest import FULL, Begin, Editor
from .test_server import cell, package

PULLING = types.ClientCapabilities(
    general=FULL.general,
    workspace=types.WorkspaceClientCapabilities(
        diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    ),
    text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
)


def spot(line: int, start: int, end: int | None = None) -> types.Range:
    return types.Range(types.Position(line, start), types.Position(line, start if end is None else end))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_single_changes_are_applied_where_they_are_meant(begin: Begin, encoding: str):
    general = types.GeneralClientCapabilities(position_encodings=[encoding])
    editor = await begin(types.ClientCapabilities(general=general), encoding=encoding)
    units = {"utf-8": (6, 4), "utf-16": (2, 2), "utf-32": (2, 1)}[encoding]
    uri = editor.open("net.py", cell('y = "汉字😀", y', "return x\r\n").replace("\r\n\n", "\r\n"))
    await editor.found(uri)
    behind = 8 + len('y = "') + units[0] + units[1]
    editor.type(uri, spot(5, behind), "\u2028é")
    more = {"utf-8": 5, "utf-16": 2, "utf-32": 2}[encoding]
    editor.type(uri, spot(5, behind + more + 3, behind + more + 4), "old(y)")
    (shown,) = await editor.found(uri, "GW991")
    assert '"汉字😀\u2028é", old(y)\n' in editor.texts[uri]
    assert editor.text_of(uri, shown.range) == "old(y)"
    editor.type(uri, types.Range(types.Position(6, 15), types.Position(7, 0)), "x.transpose(0, 1)\r\n")
    _, shown = await editor.found(uri, "GW991", "GW110")
    assert editor.text_of(uri, shown.range) == "x.transpose(0, 1)"
    editor.type(uri, spot(0, 0), "# 😀\n")
    await editor.until(lambda: editor.shown(uri)[-1].range.start.line == 7)
    _, shown = await editor.found(uri, "GW991", "GW110")
    assert shown.range.start.line == 7


async def test_what_was_found_outside_the_line_being_typed_stays_and_moves(begin: Begin):
    editor = await begin()
    text = cell("y = old(y)", "z = old(x)", "return x.transpose(0, 1)")
    uri = editor.open("net.py", text)
    await editor.found(uri, "GW991", "GW991", "GW110")
    editor.change(uri, text.replace("z = old(x)", "z = old(\n"))
    broken, first, last = await editor.found(uri, None, "GW991", "GW110")
    assert broken.message.startswith("not checked for Graph Mode: does not parse")
    assert editor.text_of(uri, first.range) == "old(y)"
    assert editor.text_of(uri, last.range) == "x.transpose(0, 1)"
    assert await editor.actions(uri, first.range) == []
    editor.change(uri, text)
    await editor.found(uri, "GW991", "GW991", "GW110")


async def test_a_client_that_asks_is_not_sent_diagnostics_and_hears_of_changes_elsewhere(begin: Begin, tmp_path: Path):
    package(tmp_path)
    editor = await begin(PULLING)
    assert editor.pulls
    helpers = editor.open("pkg/helpers.py")
    await editor.found(helpers, "GW110")
    net = editor.open("pkg/net.py")
    await editor.found(net)
    editor.change(net, editor.texts[net].replace("swap(x)", "x"))
    await editor.found(helpers)
    assert "diagnostics" in editor.refreshed
    asked = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(helpers))
    first = await editor.client.text_document_diagnostic_async(asked)
    again = types.DocumentDiagnosticParams(asked.text_document, previous_result_id=first.result_id)
    assert (await editor.client.text_document_diagnostic_async(again)).kind == "unchanged"
    unknown = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(editor.uri("unknown.py")))
    assert list((await editor.client.text_document_diagnostic_async(unknown)).items) == []


async def test_a_whole_project_is_reported_in_parts_with_progress(begin: Begin, tmp_path: Path):
    package(tmp_path)
    (tmp_path / "alone.py").write_text(cell("return old(x)"))
    editor = await begin(PULLING)
    net = editor.open("pkg/net.py")
    await editor.found(net)
    asked = types.WorkspaceDiagnosticParams([], work_done_token="work", partial_result_token="part")
    answer = await editor.client.workspace_diagnostic_async(asked)
    assert list(answer.items) == []
    items = [item for token, value in editor.progress if token == "part" for item in value["items"]]
    codes = {item["uri"]: [d["code"] for d in item["items"]] for item in items}
    assert codes[editor.uri("alone.py")] == ["GW991"]
    assert codes[editor.uri("pkg/helpers.py")] == ["GW110"]
    assert codes[net] == []
    kinds = [value["kind"] for token, value in editor.progress if token == "work"]
    assert kinds[0] == "begin"
    assert kinds[-1] == "end"
    assert "report" in kinds
    ids = [types.PreviousResultId(i["uri"], i["resultId"]) for i in items if i.get("resultId")]
    editor.change(net, editor.texts[net].replace("swap(x)", "x"))  # not saved, and it counts
    again = await editor.client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(ids))
    reports = {item.uri: item for item in again.items}
    assert reports[editor.uri("alone.py")].kind == "unchanged"
    assert list(reports[editor.uri("pkg/helpers.py")].items) == []


async def test_several_folders_have_settings_of_their_own(begin: Begin, tmp_path: Path):
    for name, ignored in (("one", "GW110"), ("two", "GW99")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text(f'[tool.graphward]\nignore = ["{ignored}"]\n')
        (tmp_path / name / "net.py").write_text(cell("y = old(y)", "return x.transpose(0, 1)"))
    folders = [types.WorkspaceFolder((tmp_path / name).as_uri(), name) for name in ("one", "two")]
    editor = await begin(workspace_folders=folders)
    await editor.found(editor.open("one/net.py"), "GW991")
    await editor.found(editor.open("two/net.py"), "GW110")


NOTEBOOKS = types.ClientCapabilities(
    general=FULL.general, text_document=FULL.text_document, workspace=FULL.workspace, window=FULL.window,
    notebook_document=types.NotebookDocumentClientCapabilities(types.NotebookDocumentSyncClientCapabilities()),
)  # fmt: skip


class Notebook:
    """A notebook in an editor: its cells as documents."""

    def __init__(self, editor: Editor, name: str, *cells: str):
        self.editor, self.uri = editor, editor.uri(name)
        self.cells = [f"vscode-notebook-cell:{editor.root}/{name}#c{i}" for i in range(len(cells))]
        for uri, text in zip(self.cells, cells):
            editor.texts[uri] = text
        kinds = [types.NotebookCell(types.NotebookCellKind.Code, uri) for uri in self.cells]
        items = [types.TextDocumentItem(uri, "python", 1, editor.texts[uri]) for uri in self.cells]
        document = types.NotebookDocument(self.uri, "jupyter-notebook", 1, kinds)
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, items))
        self.version = 1

    def change(self, **parts: object) -> None:
        self.version += 1
        event = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(**parts))
        identifier = types.VersionedNotebookDocumentIdentifier(self.version, self.uri)
        self.editor.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(identifier, event))

    def rewrite(self, number: int, text: str) -> None:
        uri = self.cells[number]
        self.editor.texts[uri] = text
        whole = types.TextDocumentContentChangeWholeDocument(text)
        content = types.NotebookDocumentCellContentChanges(types.VersionedTextDocumentIdentifier(2, uri), [whole])
        self.change(text_content=[content])


async def test_the_cells_of_a_notebook_are_one_module(begin: Begin):
    editor = await begin(NOTEBOOKS)
    imports = "%matplotlib inline\nimport numpy as np\n!pip list"
    head, _, body = cell("return Tensor(np.exp(x.asnumpy())), old(y)").partition("\n\n\n")
    notebook = Notebook(editor, "book.ipynb", f"{imports}\n{head}", "%%bash\nclass (", body)
    first, shell, last = notebook.cells
    await editor.found(shell)
    exp, old = await editor.found(last, "GW101", "GW991")
    assert editor.text_of(last, old.range) == "old(y)"
    assert exp.range.start.line == 2
    (fix, *_) = await editor.fixes(last, exp.range)
    edit = (await editor.resolve(fix)).edit
    changed = {c.text_document.uri: c for c in edit.document_changes}
    assert set(changed) == {first, last}
    assert all(c.text_document.version is None for c in changed.values())
    for uri, change in changed.items():
        editor.texts[uri] = editor._edited(uri, change.edits)
    assert "numpy" not in editor.texts[first]
    assert "ops" in editor.texts[first]
    assert editor.texts[first].startswith("%matplotlib inline\n")
    notebook.rewrite(0, editor.texts[first])
    notebook.rewrite(2, editor.texts[last])
    await editor.found(last, "GW991")
    hover = await editor.client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(last), old.range.start)
    )
    assert hover is None or "GW991" in hover.contents.value
    gone = types.NotebookCellArrayChange(2, 1, [])
    closed = [types.TextDocumentIdentifier(last)]
    notebook.change(structure=types.NotebookDocumentCellChangeStructure(gone, did_close=closed))
    await editor.found(last)
    editor.client.notebook_document_did_close(
        types.DidCloseNotebookDocumentParams(types.NotebookDocumentIdentifier(notebook.uri), closed)
    )
    assert await editor.actions(first, spot(0, 0)) == []


async def test_many_edits_one_after_the_other_leave_the_last_text(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("return x"))
    await editor.found(uri)
    for i, character in enumerate("old(x), x.transpose(0, 1), "):
        editor.type(uri, spot(5, 15 + i), character)
        await asyncio.sleep(0.002)
    await editor.found(uri, "GW991", "GW110")
    assert editor.texts[uri] == cell("return old(x), x.transpose(0, 1), x")


async def test_a_check_of_a_project_can_be_given_up(begin: Begin, tmp_path: Path):
    for i in range(6):
        (tmp_path / f"part{i}").mkdir()
        (tmp_path / f"part{i}" / "net.py").write_text(cell("return slow(x)"))
    editor = await begin(PULLING)
    asked = types.WorkspaceDiagnosticParams([], work_done_token="work", partial_result_token="part")
    request = editor.client.protocol.send_request("workspace/diagnostic", asked, msg_id="all")
    await editor.until(lambda: any(token == "part" for token, _ in editor.progress))
    editor.client.protocol.notify("$/cancelRequest", types.CancelParams("all"))
    with pytest.raises(JsonRpcException, match="cancel"):
        await asyncio.wait_for(asyncio.wrap_future(request), 10)
    parts = [token for token, _ in editor.progress].count("part")
    assert parts < 6
    uri = editor.open("net.py", cell("return old(x)"))
    await editor.found(uri, "GW991")
    await asyncio.sleep(0.3)
    assert [token for token, _ in editor.progress].count("part") == parts
