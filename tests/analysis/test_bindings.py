"""The names that a function binds, with Python's own symbol tables as the oracle."""

from __future__ import annotations

import argparse
import ast
import asyncio.base_events
import inspect
import subprocess
import symtable
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphward.analysis.bindings import bindings
from graphward.analysis.names import statements

EVERYTHING = """
def every(a, /, b, *c, d=1, **e):
    global far
    far = 1
    f = g = (h, [i, *j]) = 1
    k.attribute, l[m] = 1, 2
    n += 1
    o: int = 2
    for p, (q.attribute, r) in a: s = [t for t in a if (u := t)]
    with open(a) as (v, w), open(b): del x
    try: pass
    except OSError as y: import os.path as z, sys
    match a:
        case {"key": aa, **bb}: pass
        case [cc, *dd] | (Some(cc) as dd): pass
    def ee(ff=1):
        nonlocal f
        hh = 1
        class Inner:
            from a import b as deep
    async def ii(): jj = 1
    class KK: ll = 1
    return lambda mm: mm
"""
MODULES = [argparse, asyncio.base_events, inspect, subprocess, tarfile]


def functions(text: str) -> Iterator[tuple[ast.AST, symtable.Function]]:
    """Each function of a text with its symbol table: both are told by their name and the line of `def`."""
    nodes = {
        (node.name, node.lineno): node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    tables = [symtable.symtable(text, "text", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        node = nodes.get((table.get_name(), _def_line(table, nodes)))
        if isinstance(table, symtable.Function) and node is not None:
            yield node, table


def _def_line(table: symtable.SymbolTable, nodes: dict) -> int:
    """A table begins at the first decorator in some versions of Python, at `def` in others."""
    own = [line for name, line in nodes if name == table.get_name() and line >= table.get_lineno()]
    return min(own, default=0)


def bound(node: ast.AST, text: str) -> set[str]:
    return bindings(node, statements(node.body), walrus=":=" in text).names


@pytest.mark.parametrize("text", [EVERYTHING, *(inspect.getsource(m) for m in MODULES)],
                         ids=["everything", *(m.__name__ for m in MODULES)])  # fmt: skip
def test_names_are_those_of_pythons_symbol_table(text):
    seen = 0
    for node, table in functions(text):
        local = {s.get_name() for s in table.get_symbols() if s.is_local()}
        assert bound(node, text) == local, node.name
        seen += 1
    assert seen > 2


def test_imports_are_those_of_nested_scopes_too():
    (every,) = (node for node in ast.parse(EVERYTHING).body if isinstance(node, ast.FunctionDef))
    found = bindings(every, statements(every.body), walrus=True).imports
    assert [ast.unparse(node) for node in found] == ["import os.path as z, sys", "from a import b as deep"]


def test_every_function_of_this_project_agrees():
    import graphward

    for path in sorted(Path(graphward.__file__).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node, table in functions(text):
            assert bound(node, text) == {s.get_name() for s in table.get_symbols() if s.is_local()}, (path, node.name)
