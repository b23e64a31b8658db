"""Code actions beyond the quick fixes of single findings."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from .conftest import FULL, Begin, Editor
from .test_server import EVERYWHERE, MINIMAL, cell

FIXTURES = Path(__file__).parents[2] / "fixtures"


def titles(actions: list[types.CodeAction]) -> list[str]:
    return [a.title for a in actions]


async def chosen(editor: Editor, uri: str, place: types.Range, title: str, *only: str) -> types.WorkspaceEdit:
    """The edit of the action of that title."""
    actions = await editor.actions(uri, place, *only)
    (action,) = [a for a in actions if a.title == title]
    return action.edit or (await editor.resolve(action)).edit


async def test_all_findings_of_a_rule_are_fixed_at_once(begin: Begin):
    editor = await begin()
    text = cell("y = old(y)", "z = x.transpose(0, 1)", "return old(z), x.transpose(1, 2), knotty(x)")
    uri = editor.open("net.py", text)
    shown = await editor.found(uri, "GW991", "GW110", "GW991", "GW110", "GW992")
    rule = [t for t in titles(await editor.actions(uri, shown[0].range)) if t.startswith("Fix all GW")]
    assert rule == ["Fix all GW991 in this file [safe]"]
    editor.apply(await chosen(editor, uri, shown[0].range, rule[0]))
    assert editor.texts[uri] == text.replace("old(", "new(")
    await editor.found(uri, "GW110", "GW110", "GW992")


async def test_one_finding_of_a_rule_needs_no_action_for_all(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("return old(y)"))
    await editor.found(uri, "GW991")
    assert not [t for t in titles(await editor.actions(uri, EVERYWHERE)) if t.startswith("Fix all GW")]


async def test_only_fixes_that_are_not_safe_ask_for_confirmation(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("return old(x) + y"))
    (shown,) = await editor.found(uri, "GW991")
    safe, unsafe = [(await editor.resolve(a)).edit for a in await editor.fixes(uri, shown.range)]
    assert safe.change_annotations is None
    assert all(type(e) is types.TextEdit for c in safe.document_changes for e in c.edits)
    ((name, annotation),) = unsafe.change_annotations.items()
    assert annotation.needs_confirmation is True
    assert (annotation.label, annotation.description) == ("GW991: Use newer", "newer rounds differently")
    assert {e.annotation_id for c in unsafe.document_changes for e in c.edits} == {name}


async def test_a_rule_is_silenced_on_a_line_and_in_a_file(begin: Begin):
    editor = await begin()
    marked = "return old(x)  # graphward: ignore[GW1]"
    uri = editor.open("net.py", cell("y = old(y)", 'z = """', '""" + old(y)', marked))
    first, *_ = await editor.found(uri, "GW991", "GW991", "GW991")
    editor.apply(await chosen(editor, uri, first.range, "Silence GW991 here"))
    assert "y = old(y)  # graphward: ignore[GW991]\n" in editor.texts[uri]
    _, last = await editor.found(uri, "GW991", "GW991")
    editor.apply(await chosen(editor, uri, last.range, "Silence GW991 here"))
    assert "return old(x)  # graphward: ignore[GW1, GW991]\n" in editor.texts[uri]
    (middle,) = await editor.found(uri, "GW991")
    editor.apply(await chosen(editor, uri, middle.range, "Silence GW991 in this file"))
    assert editor.texts[uri].startswith("# graphward: ignore-file[GW991]\n")
    await editor.found(uri)


async def test_a_comment_for_the_file_stands_below_what_must_come_first(begin: Begin):
    editor = await begin(MINIMAL)
    head = "#!/usr/bin/env python3\r\n# -*- coding: utf-8 -*-\r\n"
    uri = editor.open("net.py", head + cell("return old(x)").replace("\n", "\r\n"))
    (shown,) = await editor.found(uri, "GW991")
    editor.apply(await chosen(editor, uri, shown.range, "Silence GW991 in this file"))
    assert editor.texts[uri].startswith(f"{head}# graphward: ignore-file[GW991]\r\nfrom mindspore")


async def test_a_selection_that_makes_a_layer_can_be_moved_to_init(begin: Begin):
    editor = await begin()
    uri = editor.open("net.py", cell("act = nn.ReLU()", "return act(x)"))
    await editor.found(uri, "GW201")
    line = types.Range(types.Position(5, 8), types.Position(5, 20))
    (move,) = await editor.actions(uri, line, "refactor.rewrite")
    assert move.title.startswith("Move to `__init__`: ")
    assert move.kind == "refactor.rewrite.graphward"
    editor.apply((await editor.resolve(move)).edit)
    before, _, construct = editor.texts[uri].partition("def construct")
    assert "nn.ReLU()" in before
    assert "nn.ReLU" not in construct
    await editor.found(uri)
    cursor = types.Range(types.Position(5, 8), types.Position(5, 8))
    assert not [a for a in await editor.actions(uri, cursor) if (a.kind or "").startswith("refactor")]


async def test_fix_all_on_save_comes_complete_to_a_client_that_resolves_nothing(begin: Begin):
    editor = await begin(MINIMAL)
    uri = editor.open("net.py", cell("return old(x)"))
    await editor.found(uri, "GW991")
    automatic = types.CodeActionTriggerKind.Automatic
    (action,) = await editor.actions(uri, EVERYWHERE, "source.fixAll", trigger=automatic)
    editor.apply(action.edit)
    assert editor.texts[uri] == cell("return new(x)")


async def test_explain_is_a_command_that_shows_the_page(begin: Begin):
    editor = await begin(FULL)
    uri = editor.open("net.py", cell("return x.transpose(0, 1)"))
    (shown,) = await editor.found(uri, "GW110")
    actions = await editor.actions(uri, shown.range)
    (explain,) = [a for a in actions if a.title == "Explain GW110"]
    assert shown.code_description.href.endswith("GW110.md")
    assert "graphward.explainRule" in explain.command  # the client takes an action with a command for a command
    page = await editor.execute("graphward.explainRule", "GW110")
    assert "## Why" in page
    assert editor.shown_documents == [shown.code_description.href]


async def test_a_selected_jit_function_can_be_split_into_compile_units(begin: Begin):
    editor = await begin(settings={"ignore": ["GW601"]})
    text = (FIXTURES / "GW601" / "method" / "before.py").read_text(encoding="utf-8")
    uri = editor.open("net.py", text)
    await editor.found(uri)
    line = text[: text.index("@jit")].count("\n") + 2
    inside = types.Range(types.Position(line, 8), types.Position(line, 20))
    split, *_ = await editor.actions(uri, inside, "refactor.extract")
    assert split.title.startswith("Split this jit function into compile units: ")
    edit = (await editor.resolve(split)).edit
    assert edit.change_annotations is not None
    editor.apply(edit)
    assert editor.texts[uri] == (FIXTURES / "GW601" / "method" / "after.py").read_text(encoding="utf-8")
    outside = types.Range(types.Position(0, 0), types.Position(0, 6))
    assert await editor.actions(uri, outside, "refactor.extract") == []
