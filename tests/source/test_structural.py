"""Structural rewrites come back as minimal spans."""

from __future__ import annotations

import ast
from pathlib import Path

import libcst as cst
import pytest

from graphward.source.edits import apply_edits
from graphward.source.structural import rewrite_definition
from graphward.source.text import SourceText

TEXT = '''class Net:
    @staticmethod
    def f(a):  # keep
        """Doc
  with odd indentation."""
        return a

    def g(self): return 1
'''


def rename(node: cst.FunctionDef) -> cst.FunctionDef:
    return node.with_changes(name=cst.Name("renamed"))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("index", [0, 1])
def test_only_what_changed_is_edited(newline, index):
    text = TEXT.replace("\n", newline)
    source = SourceText.from_str(Path("net.py"), text)
    node = ast.parse(text).body[0].body[index]
    edits = rewrite_definition(source, node, rename)
    assert len(edits) == 1 and edits[0].text == "renamed"
    old = f"def {node.name}("
    assert apply_edits(source.utf8, edits).decode() == text.replace(old, "def renamed(")


def test_a_definition_that_shares_its_line_is_refused():
    source = SourceText.from_str(Path("net.py"), "if x: \n  pass\nclass A: x = 1; y = 2\n")
    node = ast.parse("class A: pass").body[0]
    node.lineno, node.end_lineno = 2, 2
    with pytest.raises(ValueError, match="lines of its own"):
        rewrite_definition(source, node, rename)
