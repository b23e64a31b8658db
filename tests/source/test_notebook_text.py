"""Notebooks on disk: their code as one module, and the way back that touches nothing but the sources that changed."""

from __future__ import annotations

import ast
import json
import random
from pathlib import Path
from typing import Any

import pytest

from graphward.engine.apply import DoesNotParse, apply_fixes, drop_unused_imports
from graphward.engine.silencing import in_file
from graphward.source.edits import Edit
from graphward.source.fixes import Applicability, Fix, ImportRequest
from graphward.source.notebook_text import NotebookText
from graphward.source.text import NotText, SourceText

PATH = Path("book.ipynb")
PYTHON = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def code(source: str | list[str], **more: Any) -> dict[str, Any]:
    lines = source.splitlines(keepends=True) if isinstance(source, str) else source
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines, **more}


def prose(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def book(*cells: dict[str, Any], metadata: Any = PYTHON, **more: Any) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5, **more}


def jupyter(notebook: dict[str, Any]) -> bytes:
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def read(data: bytes) -> NotebookText:
    source = SourceText.from_bytes(PATH, data)
    assert isinstance(source, NotebookText)
    return source


def replaced(source: SourceText, old: str, new: str) -> SourceText:
    assert source.text.count(old) == 1, source.text
    return source.with_utf8(source.text.replace(old, new).encode())


MANNERS = {
    "Jupyter": jupyter,
    "two spaces, no final newline": lambda n: json.dumps(n, indent=2, ensure_ascii=False).encode(),
    "four spaces, escaped": lambda n: (json.dumps(n, indent=4) + "\n").encode(),
    "one line": lambda n: json.dumps(n, separators=(",", ":"), ensure_ascii=False).encode(),
    "keys in order, tabs": lambda n: json.dumps(n, indent="\t", sort_keys=True).encode(),
    "a BOM": lambda n: b"\xef\xbb\xbf" + jupyter(n),
    "CRLF in the file": lambda n: jupyter(n).replace(b"\n", b"\r\n"),
    "text, no lists": lambda n: jupyter(
        {**n, "cells": [{**c, "source": "".join(c["source"])} for c in n["cells"]]}
    ),
}  # fmt: skip
WHOLE = book(
    prose("# Größe 图\n\ntext"),
    code("%matplotlib inline\n!pip install \\\n  mindspore\nimport mindspore as ms\nfrom mindspore import nn",
         execution_count=3, outputs=[{"output_type": "stream", "name": "stdout", "text": ["transpose\n"]}]),
    code("%%bash\n\nls class ("),
    prose("x.transpose(0, 1)"),
    code("files = !ls\nn = %time f()\nnet.construct??\nif n:\n    !nvidia-smi\n    pass"),
    code("%%time\ny = x.transpose(0, 1)  # 图层\n", id="a1"),
    {"cell_type": "raw", "metadata": {}, "source": ["x.transpose(0, 1)"]},
    code("a = 1\r\nb = 2\r\n"),
    code(""),
    code("\n\nlast = 1", metadata={"transpose": [1.0, 1e5, True]}),
)  # fmt: skip


@pytest.mark.parametrize("manner", MANNERS)
def test_a_notebook_without_edits_gives_back_its_bytes(manner: str):
    data = MANNERS[manner](WHOLE)
    source = read(data)
    assert source.to_bytes() == data
    assert source.with_utf8(source.utf8).to_bytes() == data
    ast.parse(source.text)


@pytest.mark.parametrize("manner", MANNERS)
def test_an_edit_changes_nothing_but_its_line(manner: str):
    data = MANNERS[manner](WHOLE)
    source = read(data)
    after = replaced(source, "y = x.transpose(0, 1)", "y = x.swapaxes(0, 1)")
    wanted = json.loads(data.decode("utf-8-sig"))
    wanted["cells"][5]["source"] = json.loads(
        json.dumps(wanted["cells"][5]["source"]).replace("transpose", "swapaxes")
    )
    assert after.to_bytes() == MANNERS[manner](wanted)


def test_whatever_is_written_between_the_marks_comes_back_in_its_cell():
    chance = random.Random(7)
    source = read(jupyter(WHOLE))
    for _ in range(100):
        bodies = {number: "".join(f"v{n} = 'ö'\n" for n in range(chance.randrange(4))) for number in (9, 10)}
        head, text = source.text.split("# %% cell 9\n")[0], ""
        for number, body in bodies.items():
            text += f"# %% cell {number}\n{body}"
        result = source.with_utf8((head + text).encode()).to_bytes()
        cells = [*WHOLE["cells"][:8]]
        for number, body in bodies.items():
            lines = body.removesuffix("\n").splitlines(keepends=True)
            cells.append({**WHOLE["cells"][number - 1], "source": lines})
        assert json.loads(result) == {**WHOLE, "cells": cells}
        assert jupyter(json.loads(result)) == result


def test_magics_are_comments_and_come_back():
    source = read(jupyter(WHOLE))
    lines = source.text.splitlines()
    assert lines[:4] == [
        "# %% cell 2", "# %% magic 1: %matplotlib inline", "# %% magic 2: !pip install \\",
        "# %% magic 3:   mindspore",
    ]  # fmt: skip
    assert "files = None  # %% magic 7: files = !ls" in lines
    assert "    pass  # %% magic 10: !nvidia-smi" not in lines
    assert "    pass  # %% magic 10:     !nvidia-smi" in lines
    assert not any(line.startswith("ls class") for line in lines)


def test_marks_that_stand_in_the_code_already_are_no_marks():
    data = jupyter(book(code("# %% cell 2\nx = 1"), code("%pip list\n# %%% magic 1: %pip list\ny = 2")))
    source = read(data)
    assert source.text.startswith("# %%%% cell 1\n# %% cell 2\n")
    assert json.loads(replaced(source, "x = 1", "x = 3").to_bytes())["cells"][0]["source"] == ["# %% cell 2\n", "x = 3"]


def test_line_ends_in_a_cell_stay():
    data = jupyter(book(code("x = 1\ny = 2"), code("a = 1\r\nb = 2\r\nc = 3")))
    after = replaced(read(data), "b = 2\r\n", "b = 2\r\nb = 4\r\n")
    assert json.loads(after.to_bytes())["cells"][1]["source"] == ["a = 1\r\n", "b = 2\r\n", "b = 4\r\n", "c = 3"]
    shorter = replaced(read(data), "c = 3\r\n", "")
    assert json.loads(shorter.to_bytes())["cells"][1]["source"] == ["a = 1\r\n", "b = 2"]


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        # Beside the imports that are there, also at the end of their cell.
        ([prose("t"), code("from mindspore import nn"), code("y = f()")], {1: "from mindspore import nn, ops"}),
        ([code("import mindspore"), code("%%bash\nls")], {0: "import mindspore\nfrom mindspore import ops"}),
        ([code('"""What it is."""'), code("y = f()")], {0: '"""What it is."""\nfrom mindspore import ops'}),
        # Never in front of the first mark, nor into a cell of another language.
        ([code("%matplotlib inline\ny = f()")], {0: "%matplotlib inline\nfrom mindspore import ops\ny = f()"}),
        ([code("%%bash\nls"), code("y = f()")], {1: "from mindspore import ops\ny = f()"}),
        ([code("%%time\ny = f()")], {0: "%%time\nfrom mindspore import ops\ny = f()"}),
        ([prose("t"), code("y = f()")], {1: "from mindspore import ops\ny = f()"}),
    ],
)  # fmt: skip
def test_an_import_lands_in_a_cell(cells: list[dict[str, Any]], wanted: dict[int, str]):
    source = read(jupyter(book(*cells, code("last = 1"))))
    start = source.utf8.index(b"last")
    request = ImportRequest("mindspore", "ops", "ops")
    fix = Fix("Use ops", (Edit(start, start + 4, "ops"),), Applicability.SAFE, imports=(request,))
    result = json.loads(apply_fixes(source, [fix]).to_bytes())["cells"]
    expected = [*cells, code("ops = 1")]
    for number, text in wanted.items():
        expected[number] = {**expected[number], "source": text.splitlines(keepends=True)}
    assert result == expected


def test_an_import_that_a_magic_uses_is_kept():
    imports, magic, last = "import numpy as np\nimport math", "%timeit np.ones(3)", "np.e, math.e"
    source = read(jupyter(book(code(imports), code(magic), code(last))))
    after = replaced(source, "np.e, math.e", "2.71")
    result = json.loads(drop_unused_imports(source, after).to_bytes())
    assert result["cells"][0]["source"] == ["import numpy as np"]


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ([code("x = 1")], ["# graphward: ignore-file[GW101]\n", "x = 1"]),
        ([code("%%time\nx = 1")], ["%%time\n", "# graphward: ignore-file[GW101]\n", "x = 1"]),
        ([code("\n%%time\nx = 1")], ["\n", "%%time\n", "# graphward: ignore-file[GW101]\n", "x = 1"]),
        ([code("%%bash\nls"), code("x = 1")], ["# graphward: ignore-file[GW101]\n", "x = 1"]),
    ],
)
def test_a_comment_for_the_file_stands_in_the_first_cell_of_python(cells: list[dict[str, Any]], wanted: list[str]):
    source = read(jupyter(book(*cells)))
    after = apply_fixes(source, [Fix("Silence", (in_file(source, "GW101"),), Applicability.SAFE)])
    assert json.loads(after.to_bytes())["cells"][-1]["source"] == wanted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# %% cell 2\n", ""),
        ("# %% cell 2\n", "x = 0\n# %% cell 2\n"),
        ("# %% cell 6\n", ""),
        ("# %% cell 6\n", "# %% cell 9\n"),
        ("# %% cell 9\n", "# %% cell 9\n# %% cell 9\n"),
        ("# %% magic 1: %matplotlib inline\n", ""),
        ("# %% magic 1: %matplotlib inline\n", "# %% magic 1: %matplotlib\n"),
        ("# %% magic 1: %matplotlib inline\n", "# %% magic 1: %matplotlib inline\n" * 2),
        ("files = None  #", "names = None  #"),
        ("# %% magic 11: %%time", "# first\n# %% magic 11: %%time"),
        ("# %% magic 6: ls class (\n", "# %% magic 6: ls class (\nx = 1\n"),
    ],
)
def test_what_damages_the_marks_is_refused(old: str, new: str):
    source = read(jupyter(WHOLE))
    start = source.utf8.index(old.encode())
    fix = Fix("Damage", (Edit(start, start + len(old), new),), Applicability.SAFE)
    with pytest.raises(DoesNotParse, match="Damage"):
        apply_fixes(source, [fix])
    with pytest.raises(NotText):
        replaced(source, old, new).to_bytes()


@pytest.mark.parametrize(
    ("data", "reason", "line"),
    [
        (b"", "not JSON", 1),
        (b'{\n "cells": [\n', "not JSON", 3),
        (jupyter(WHOLE)[:-40], "not JSON", None),
        (b"[]", "no notebook", 1),
        (b"{}", "no notebook", 1),
        (b'"x"', "no notebook", 1),
        (b'{"cells": 3, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', "no notebook", 1),
        (b'{"metadata": {}, "nbformat": 4, "nbformat_minor": 5}', "no notebook", 1),
        (jupyter(book({"cell_type": "code", "source": [3]})), "no notebook", 1),
        (jupyter(book({"source": ["x = 1"]})), "no notebook", 1),
        (b'{"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}', "format 3", 1),
        (b'{"nbformat": 9, "nbformat_minor": 0, "metadata": {}, "cells": []}', "no notebook", 1),
        (b'{"cells": "\xff"}', "UTF-8", 1),
        (jupyter(book(metadata={"language_info": {"name": "R"}})), "is R, not Python", 1),
        (json.dumps(book(code(["x = '\ud800'"]))).encode(), "half of a character", 1),
    ],
)
def test_what_is_no_notebook_is_left_alone(data: bytes, reason: str, line: int | None):
    with pytest.raises(NotText, match=reason) as raised:
        SourceText.from_bytes(PATH, data)
    assert line is None or raised.value.line == line


@pytest.mark.parametrize("notebook", [book(), book(prose("only text")), book(code("")), book(code([]), code("\n"))])
def test_an_empty_notebook_is_an_empty_module(notebook: dict[str, Any]):
    source = read(jupyter(notebook))
    assert ast.parse(source.text).body == [] and source.to_bytes() == jupyter(notebook)
    assert source.top <= len(source.utf8)


def test_a_cell_that_was_empty_gets_the_manner_of_the_others():
    source = read(jupyter(book(code([]), code("x = 1\ny = 2"))))
    after = source.with_utf8(source.utf8.replace(b"cell 1\n\n", b"cell 1\nz = 3\nw = 4\n"))
    assert after.to_bytes() == jupyter(book(code("z = 3\nw = 4"), code("x = 1\ny = 2")))
    assert read(after.to_bytes()).with_utf8(source.utf8).to_bytes() == source.to_bytes()


def test_escapes_stay_escapes_and_characters_characters():
    notebook = book(code("a = 'é'\nb = 1"))
    for data in (json.dumps(notebook).encode(), json.dumps(notebook, ensure_ascii=False).encode()):
        after = replaced(read(data), "b = 1", "b = 'ü'")
        wanted = book(code("a = 'é'\nb = 'ü'"))
        assert after.to_bytes() == json.dumps(wanted, ensure_ascii=data.isascii()).encode()


def test_places_are_those_of_cells():
    source = read(jupyter(WHOLE))
    text = source.utf8

    def place(what: str) -> tuple[int | None, int, int]:
        return tuple(source.place(text.index(what.encode())))

    assert place("import mindspore as ms") == (2, 4, 1)
    assert place("x.transpose") == (6, 2, 5)
    assert place("# 图层") == (6, 2, 24)
    assert place("last") == (10, 3, 1)
    # What is put between two cells is added to the first of them.
    assert place("# %% cell 3") == (2, 6, 1)
    assert source.line_named(text[: text.index(b"last")].count(b"\n") + 1) == "line 3 of cell 10"


@pytest.mark.parametrize("manner", ["Jupyter", "two spaces, no final newline", "text, no lists", "one line"])
def test_the_line_on_disk_is_that_of_the_json(manner: str):
    data = MANNERS[manner](WHOLE)
    source = read(data)
    for what in ("import mindspore as ms", "y = x.transpose", "b = 2", "last = 1"):
        line = source.text[: source.text.index(what)].count("\n") + 1
        shown = data.decode().split("\n")[source.line_on_disk(line) - 1]
        assert what in shown
        cell, _, _ = source.place(source.utf8.index(what.encode()))
        assert cell in source.cells_on_disk(source.line_on_disk(line))
        assert manner == "one line" or len(source.cells_on_disk(source.line_on_disk(line))) == 1
