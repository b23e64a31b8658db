"""Hovers, code lenses, and proofs on command, with the real compiler."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from .conftest import FULL, Begin, Editor
from .test_documents import NOTEBOOKS, Notebook
from .test_server import cell, package

PYTHON = os.environ.get("GRAPHWARD_TEST_PYTHON", sys.executable)
SETTINGS = {"python": PYTHON}


async def hover(editor: Editor, uri: str, place: types.Position) -> types.Hover | None:
    asked = types.HoverParams(types.TextDocumentIdentifier(uri), place)
    return await editor.client.text_document_hover_async(asked)


async def region_lenses(editor: Editor, uri: str, title: str = "") -> list[types.CodeLens]:
    asked = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    found = await editor.client.text_document_code_lens_async(asked) or []
    return [lens for lens in found if title in lens.command.title]


async def lenses(editor: Editor, uri: str) -> list[tuple[int, str]]:
    return [(lens.range.start.line, lens.command.title) for lens in await region_lenses(editor, uri)]


async def test_a_hover_says_why_what_becomes_of_it_and_the_rewrite(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("return x.transpose(0, 1)"))
    (shown,) = await editor.found(uri, "GW110")
    said = await hover(editor, uri, shown.range.start)
    assert said.range == shown.range
    text = said.contents.value
    assert "Graph Mode refuses to compile it" in text
    assert "Because x is annotated Tensor" in text
    assert "-        return x.transpose(0, 1)\n+        return x.swapaxes(0, 1)" in text
    assert "Use swapaxes (safe)" in text
    assert "GW110.md" in text
    assert await hover(editor, uri, types.Position(0, 0)) is None


async def test_a_client_without_markdown_hovers_plain_text(begin: Begin):
    plain = types.HoverClientCapabilities(content_format=[types.MarkupKind.PlainText])
    editor = await begin(types.ClientCapabilities(text_document=types.TextDocumentClientCapabilities(hover=plain)))
    uri = editor.open("net.py", cell("return x.transpose(0, 1)"))
    (shown,) = await editor.found(uri, "GW110")
    contents = (await hover(editor, uri, shown.range.start)).contents
    assert contents.kind is types.MarkupKind.PlainText
    assert not [mark for mark in ("**", "`", "](") if mark in contents.value]


async def test_names_with_underscores_and_powers_are_shown_as_they_are_written(begin: Begin):
    body = cell("return nn.Dense(3 ** 2, 4)(x)")
    editor = await begin()
    uri = editor.open("net.py", body)
    (shown,) = await editor.found(uri, "GW201")
    text = (await hover(editor, uri, shown.range.start)).contents.value
    prose, _, code = text.partition("```diff")
    assert "\\_\\_init\\_\\_" in prose and "__init__" not in prose
    assert "self.dense = nn.Dense(3 ** 2, 4)" in code
    formats = types.HoverClientCapabilities(content_format=[types.MarkupKind.PlainText])
    editor = await begin(types.ClientCapabilities(text_document=types.TextDocumentClientCapabilities(hover=formats)))
    uri = editor.open("net.py", body)
    (shown,) = await editor.found(uri, "GW201")
    text = (await hover(editor, uri, shown.range.start)).contents.value
    assert "__init__" in text and "nn.Dense(3 ** 2, 4)" in text


async def test_each_region_has_its_state_over_it(begin: Begin):
    editor = await begin()
    text = cell("y = old(y)", "return old(x)") + (
        "\n\nclass Clean(nn.Cell):\n    def construct(self, x):\n        return x + 1\n\n\n"
        "def make():\n    class Inner(nn.Cell):\n        def construct(self, x):\n            return x\n"
        "    return Inner()\n"
    )
    uri = editor.open("net.py", text)
    await editor.found(uri, "GW991", "GW991")
    assert await lenses(editor, uri) == [
        (4, "Graph Mode: 2 findings"), (4, "Verify in Graph Mode"), (10, "Graph Mode: clean"),
        (10, "Verify in Graph Mode"), (16, "Graph Mode: clean"),
    ]  # fmt: skip
    said = await editor.execute("graphward.showState", uri, "Net.construct")
    assert said.startswith("Net.construct: Graph Mode: 2 findings\nGW991 ")
    assert editor.messages[-1].message == f"graphward: {said}"
    editor.settings = {"codeLens": False}
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    for _ in range(100):
        if not await lenses(editor, uri):
            break
        await asyncio.sleep(0.05)
    assert await lenses(editor, uri) == []


async def test_a_finding_in_a_helper_belongs_to_the_region_that_reaches_it(begin: Begin, tmp_path: Path):
    package(tmp_path)
    editor = await begin()
    uri = editor.open("pkg/helpers.py")
    (shown,) = await editor.found(uri, "GW110")
    assert "Reached by `Net.construct` → `swap`" in (await hover(editor, uri, shown.range.start)).contents.value


@pytest.mark.parametrize("saved", [True, False], ids=["saved", "unsaved"])
async def test_a_proof_says_on_the_users_own_lines_what_the_compiler_says(begin: Begin, tmp_path: Path, saved: bool):
    text = "import numpy as np\n" + cell("y = x + 1", "return Tensor(np.exp(y.asnumpy()))").replace(", y, z=None", "")
    (tmp_path / "net.py").write_text(text if saved else "from mindspore import nn\n")
    editor = await begin(settings=SETTINGS)
    uri = editor.open("net.py", text)
    await editor.found(uri, "GW101")
    verdict = await editor.execute("graphward.verify", uri, "Net.construct")
    assert verdict["verdict"] == "falls-back"
    await editor.until(lambda: "graph-mode" in [d.code for d in editor.shown(uri)])
    proven = [d for d in editor.shown(uri) if d.code == "graph-mode"]
    assert {d.range.start.line for d in proven} == {7}
    assert {d.severity for d in proven} == {types.DiagnosticSeverity.Warning}
    assert all("runs in the Python interpreter" in d.message for d in proven)
    assert any("asnumpy" in editor.text_of(uri, d.range) for d in proven)
    assert (5, "Graph Mode: 1 finding, falls-back") in await lenses(editor, uri)
    kinds = [getattr(value, "get", {}.get)("kind") for _, value in editor.progress if value is not None]
    assert kinds[0] == "begin"
    assert kinds[-1] == "end"
    assert "falls-back" in editor.messages[-1].message
    editor.change(uri, text.replace("x + 1", "x + 2"))
    await editor.found(uri, "GW101")  # the verdict is about another text now
    assert (5, "Graph Mode: 1 finding, falls-back before the last edit") in await lenses(editor, uri)
    editor.change(uri, text)
    await editor.until(lambda: "graph-mode" in [d.code for d in editor.shown(uri)])


async def test_the_cells_of_a_notebook_are_proven_together(begin: Begin, tmp_path: Path):
    head, _, body = cell("return Tensor(np.exp(x.asnumpy()))").replace(", y, z=None", "").partition("\n\n\n")
    (tmp_path / "1 book.ipynb").write_text("{}")
    (tmp_path / "_1_book.py").write_text("raise SystemExit('a module of the user')")
    editor = await begin(NOTEBOOKS, settings=SETTINGS)
    notebook = Notebook(editor, "1 book.ipynb", f"%pip list\nimport numpy as np\n{head}", body)
    last = notebook.cells[1]
    await editor.found(last, "GW101")
    (arguments,) = [lens.command.arguments for lens in await region_lenses(editor, last, "Verify in Graph Mode")]
    verdict = await editor.execute("graphward.verify", *arguments)
    assert verdict["verdict"] == "falls-back"
    await editor.until(lambda: "graph-mode" in [d.code for d in editor.shown(last)])
    proven = [d for d in editor.shown(last) if d.code == "graph-mode"]
    assert any("asnumpy" in editor.text_of(last, d.range) for d in proven)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["1 book.ipynb", "_1_book.py"]


async def test_a_proof_can_be_cancelled(begin: Begin, tmp_path: Path):
    text = "import time\ntime.sleep(600)\n" + cell("return x")
    (tmp_path / "net.py").write_text(text)
    editor = await begin(settings=SETTINGS)
    uri = editor.open("net.py", text)
    await editor.found(uri)
    running = asyncio.ensure_future(editor.execute("graphward.verify", uri, "Net.construct"))
    await editor.until(lambda: any(value is not None for _, value in editor.progress))
    with pytest.raises(JsonRpcException, match="being proven already"):
        await editor.execute("graphward.verify", uri, "Net.construct")
    token = editor.progress[0][0]
    editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    assert await asyncio.wait_for(running, 60) is None
    assert [d.code for d in editor.shown(uri)] == []


async def test_nothing_is_run_where_the_workspace_is_not_trusted(begin: Begin, tmp_path: Path):
    mark = tmp_path / "was_run"
    text = f"open({str(mark)!r}, 'w')\n" + cell("return old(x)")
    (tmp_path / "net.py").write_text(text)
    editor = await begin(FULL, settings={**SETTINGS, "trusted": False})
    uri = editor.open("net.py", text)
    await editor.found(uri, "GW991")
    with pytest.raises(JsonRpcException, match="not trusted"):
        await editor.execute("graphward.verify", uri, "Net.construct")
    assert [title for _, title in await lenses(editor, uri)] == ["Graph Mode: 1 finding"]
    assert not mark.exists()


async def test_a_proof_of_what_is_not_there_is_refused_with_the_reason(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("return old(x)"))
    await editor.found(uri, "GW991")
    for arguments, reason in (
        ((uri, "Other.construct"), "no graph region Other.construct"),
        ((uri, "Net.construct"), "save it first"),
        ((), "takes 2 texts"),
        ((uri, 5), "takes 2 texts"),
    ):
        with pytest.raises(JsonRpcException, match=reason):
            await editor.execute("graphward.verify", *arguments)


async def test_an_error_of_mindspore_is_explained_and_its_place_shown(begin: Begin, tmp_path: Path):
    (tmp_path / "net.py").write_text(cell("return (x is None) ^ (y is None)"))
    editor = await begin()
    log = (
        "TypeError: Unsupported input type. For BitXor, only integer types are supported, but got type of x:Bool\n\n"
        "----------------------------------------------------\n- The Traceback of Net Construct Code:\n"
        "----------------------------------------------------\n"
        f"# 0 In file {tmp_path}/net.py:6, 15~39\n        return (x is None) ^ (y is None)\n               ^\n"
    )
    (found, *_) = await editor.execute("graphward.explainError", log)
    assert "GW310" in found["rules"]
    assert found["uri"] == editor.uri("net.py")
    assert editor.shown_documents == [editor.uri("net.py")]
    assert found["cause"] in editor.messages[-1].message
