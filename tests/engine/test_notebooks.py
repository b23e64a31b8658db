"""A module cut into the cells of a notebook: the same is found in it, and the same is made of it."""

from __future__ import annotations

import ast
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from graphward.config import Config
from graphward.engine.fixpoint import FixResult, fix, within
from graphward.engine.run import rules_of
from graphward.engine.workspace import Workspace
from graphward.source.fixes import Applicability

FIXTURES = Path(__file__).parents[2] / "fixtures"
# One of every thirtieth, so that most families are there.
MODULES = sorted(FIXTURES.glob("GW*/*/before.py"))[::30]
MAGIC = "%timeit net(x)\n"
PLACE = re.compile(r"line \d+( of cell \d+)?|before\.(py|ipynb):(cell \d+:)?\d+")


def cut(text: str) -> list[str]:
    """The statements at the top, with the comments before them, as cells."""
    nodes = ast.parse(text).body
    lines = text.splitlines(keepends=True)
    firsts = [min([n.lineno, *(d.lineno for d in getattr(n, "decorator_list", ()))]) - 1 for n in nodes]
    bounds = [0, *(line for before, line in pairwise(firsts) if line > before), len(lines)]
    return ["".join(lines[a:b]) for a, b in pairwise(bounds)]


def fixed(path: Path) -> tuple[FixResult, bytes]:
    config = Config()
    result = fix(Workspace([path]), rules_of(config), config, within(Applicability.UNSAFE))
    return result, result.changes[path].after.to_bytes() if path in result.changes else path.read_bytes()


def said(result: FixResult) -> list[tuple[str, str]]:
    return sorted((f.code, PLACE.sub("", f.message)) for _, f in result.first.all_findings())


@pytest.mark.parametrize("module", MODULES, ids=lambda path: f"{path.parts[-3]}-{path.parts[-2]}")
def test_a_notebook_is_treated_like_the_module_of_its_cells(module: Path, tmp_path: Path):
    text = module.read_text(encoding="utf-8")
    cells = []
    for source in cut(text):
        code = (source if "__future__" in source else MAGIC + source).splitlines(keepends=True)
        cells.append({"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": code})
        cells.append({"cell_type": "markdown", "metadata": {}, "source": ["and then"]})
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    plain, notebook = tmp_path / "plain/before.py", tmp_path / "cells/before.ipynb"
    for path, data in ((plain, text), (notebook, json.dumps(book, indent=1, ensure_ascii=False) + "\n")):
        path.parent.mkdir()
        path.write_text(data, encoding="utf-8")
    (expected, wanted), (result, written) = fixed(plain), fixed(notebook)
    assert said(result) == said(expected) and result.refused == []
    after = json.loads(written)
    assert json.dumps(after, indent=1, ensure_ascii=False) + "\n" == written.decode()
    sources = ["".join(cell["source"]) for cell in after["cells"] if cell["cell_type"] == "code"]
    code = "".join(source if source.endswith("\n") else f"{source}\n" for source in sources).replace(MAGIC, "")
    assert ast.dump(ast.parse(code)) == ast.dump(ast.parse(wanted))
    for cell in (*book["cells"], *after["cells"]):
        cell.pop("source")
    assert after == book
