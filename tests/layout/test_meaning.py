"""What a module does when it is imported, read, set and run stays as it was: plain Python, so that Python judges."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphward.errors import GraphwardError

from .conftest import TWO, put, python, same

PLAIN = "import os\n\n\ndef first():\n    return os.sep\n\n\ndef second():\n    return first() * 2\n"


def test_every_name_can_be_imported_from_the_old_path(laid):
    text = PLAIN + "\n\n_hidden = 3\nLIMIT: int = 4\na, (b, *c) = 1, (2, 3)\nclass Kept:\n    x = LIMIT\n"
    layout = laid(text, *TWO)
    program = "from model import os, first, second, _hidden, LIMIT, a, b, c, Kept; print(second(), _hidden, c, Kept.x)"
    assert same(layout, program)


def test_import_star_gives_what_all_says(laid):
    layout = laid("__all__ = ['second']\n" + PLAIN, *TWO)
    same(layout, "from model import *\nprint(sorted(n for n in dir() if not n.startswith('_')))")


def test_a_global_is_counted_where_it_lives(laid):
    text = (
        "count = 0\n\n\ndef first():\n    global count\n    count += 1\n\n\ndef second():\n    return 'count'\n\n\n"
        "def third():\n    return count\n"
    )
    layout = laid(text, *TWO)
    program = "import model\nmodel.first(); model.first()\nprint(model.count, model.third())\nmodel.count = 9\n"
    same(layout, program + "model.first(); print(model.count, model.third())")


def test_a_name_that_others_set_is_set_where_it_is_read(laid, tmp_path: Path):
    user = tmp_path / "user.py"
    user.write_text("import model\nmodel.LIMIT = 8\n")
    text = "LIMIT = 2\n\n\ndef first():\n    return LIMIT\n\n\ndef second():\n    return 1\n"
    layout = laid(text, *TWO, project=(user,))
    assert layout.live == ["LIMIT"] and any("user.py:2" in note for note in layout.notes)
    assert same(layout, "import user, model; print(model.first(), model.LIMIT)") == "8 8\n"


def test_names_that_may_be_missing_may_still_be_missing(laid):
    text = "import os\nif os.environ.get('NO_SUCH'):\n    extra = 1\n\n\n" + PLAIN
    layout = laid(text, *TWO)
    same(layout, "import model\nprint(hasattr(model, 'extra'), hasattr(model, 'first'))")


def test_file_name_and_package_mean_the_old_module(laid, tmp_path: Path):
    text = (
        "import importlib\nfrom . import other\nfrom .other import VALUE\nHERE = __file__\n\n\n"
        "def first():\n    from . import other as again\n    return __name__, __package__, again.VALUE\n\n\n"
        "def second():\n    return importlib.import_module('.other', __package__).VALUE, HERE\n"
    )
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "pack" / "other.py").write_text("VALUE = 5\n")
    layout = laid(text, *TWO, name="pack/model.py")
    printed = same(layout, "from pack import model; print(model.first(), model.second())", root=tmp_path)
    assert printed.startswith("('pack.model', 'pack', 5)")


def test_a_star_import_serves_the_parts(laid, tmp_path: Path):
    (tmp_path / "tools.py").write_text("def tool():\n    return 7\n")
    text = "from tools import *\n\n\ndef first():\n    return tool()\n\n\ndef second():\n    return first()\n"
    layout = laid(text, *TWO)
    same(layout, "import model; print(model.second(), model.tool())")


def test_statements_run_in_the_order_of_the_file(laid):
    text = (
        "import sys\nlog = []\nsys.setrecursionlimit(1234)\nfirst_limit = sys.getrecursionlimit()\n\n\n"
        "def register(f):\n    log.append(f.__name__)\n    return f\n\n\n"
        "@register\ndef first():\n    return 1\n\n\n@register\ndef second():\n    return first()\n\n\n"
        "print('loaded', log)\n"
    )
    layout = laid(text, *TWO)
    assert same(layout, "import model; print(model.log, model.first_limit)").startswith("loaded ['first', 'second']")


def test_an_order_that_cannot_be_kept_is_refused(laid):
    text = (
        "import random\n\n\ndef first():\n    return early\n\n\nearly = random.random()\n\n\n"
        "def second():\n    return late\n\n\nlate = early\nrandom.seed(3)\nlater = random.random()\n\n\n"
        "def third():\n    return later\n"
    )
    with pytest.raises(GraphwardError, match=r"random\.seed"):
        laid(text, "first=one.py", "early=one.py", "second=two.py", "late=two.py", "later=one.py", "third=one.py")


def test_what_reads_each_other_stays_together(laid):
    text = "def first(n):\n    return n and second(n - 1)\n\n\ndef second(n):\n    return n and first(n - 1)\n"
    layout = laid(text + "\n\ndef third():\n    return 1\n", "first=one.py", "third=two.py")
    assert {d.name: d.file for d in layout.decisions} == {"first": "one.py", "second": "one.py", "third": "two.py"}


def test_parts_that_would_import_each_other_are_refused(laid):
    text = "def a():\n    return 1\n\n\ndef b():\n    return a()\n\n\ndef c():\n    return b()\n"
    with pytest.raises(GraphwardError, match=r"circle: .*b \(two\.py\) reads a"):
        laid(text, "a=one.py", "b=two.py", "c=one.py")


def test_annotations_that_name_a_later_part_make_no_circle(laid):
    text = (
        "from __future__ import annotations\n\n\nclass First:\n    def make(self) -> Second:\n        return None\n\n\n"
        "class Second(First):\n    def other(self, first: 'First') -> First:\n        return first\n"
    )
    layout = laid(text, "First=one.py", "Second=two.py")
    one = layout.files[layout.package / "one.py"].text
    assert "if TYPE_CHECKING:\n    from .two import Second\n" in one
    same(layout, "import model; print(model.Second().make(), model.Second.__mro__[1].__name__)")


def test_the_block_of_a_script_runs_where_its_names_are_read(laid, tmp_path: Path):
    text = (
        "import sys\n\n\ndef first():\n    return args\n\n\ndef second():\n    return 2\n\n\n"
        "if __name__ == '__main__':\n    # what was given\n    args = sys.argv[1:]\n    print(first(), second())\n"
    )
    layout = laid(text, *TWO)
    before = python("model.py", "x", cwd=tmp_path)
    put(layout)
    assert before == "['x'] 2\n" and python("-m", "model", "x", cwd=tmp_path) == before
    assert "    # what was given\n" in layout.files[layout.package / "one.py"].text


def test_a_script_without_a_block_still_runs(laid, tmp_path: Path):
    layout = laid(PLAIN + "\n\nprint(second())\n", *TWO)
    before = python("model.py", cwd=tmp_path)
    put(layout)
    assert python("-c", "import model", cwd=tmp_path) == before


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_encoding_licence_comments_and_line_ends_stay(laid, newline: str):
    text = (
        "# -*- coding: latin-1 -*-\n# Copyright J\xfcrgen\n\"\"\"Doc.\"\"\"\nimport os  # noqa\n\n# --- one ---\n"
        "def first():  # f\n    # inside\n    return os.sep\n\n\n# --- zwei: \xe4 ---\n\n# about second\n"
        "def second():\n    return first()\n# the end\n"
    )
    layout = laid(text.replace("\n", newline).encode("latin-1"), *TWO)
    after = {path.name: source.to_bytes() for path, source in layout.files.items()}
    for data in after.values():
        assert data.startswith(f"# -*- coding: latin-1 -*-{newline}# Copyright J\xfcrgen{newline}".encode("latin-1"))
        assert data.count(b"\r") == (data.count(b"\n") if newline == "\r\n" else 0)
    everything = b"".join(after.values())
    comments = ("# noqa", "# --- one ---", "# f", "# inside", "# --- zwei: \xe4 ---", "# about second", "# the end")
    for comment in comments:
        assert comment.encode("latin-1") in everything
    same(layout, "import model; print(model.second(), model.__doc__)")


def test_conditional_imports_and_byte_order_marks(laid):
    text = (
        "\ufeffimport sys\n\nif sys.version_info >= (3, 0):\n    from os import sep\nelse:\n    sep = None\n"
        "try:\n    import no_such_module\n    HAS = True\nexcept ImportError:\n    HAS = False\n\n\n"
        "def first():\n    return sep, HAS\n\n\ndef second():\n    return first(), HAS\n"
    )
    layout = laid(text.encode(), *TWO)
    assert all(source.to_bytes().startswith(b"\xef\xbb\xbf") for source in layout.files.values())
    same(layout, "import model; print(model.second(), hasattr(model, 'no_such_module'), model.HAS)")


def test_a_definition_whose_decorator_looks_at_its_module_stays(laid, tmp_path: Path):
    registry = "NAMES = []\n\n\ndef register(f):\n    NAMES.append(f.__module__)\n    return f\n"
    (tmp_path / "registry.py").write_text(registry)
    text = "from registry import register\n\n\ndef first():\n    return 1\n\n\ndef second():\n    return 2\n\n\n"
    layout = laid(text + "@register\ndef build():\n    return first() + second()\n", *TWO)
    assert next(d for d in layout.decisions if d.name == "build").file == "__init__.py"
    assert same(layout, "import model, registry; print(registry.NAMES, model.build())") == "['model'] 3\n"


def test_a_part_does_not_hide_a_name_of_its_own(laid):
    text = "from mindspore import nn, ops\n\n\nclass Net(nn.Cell):\n    def construct(self, x):\n        return x\n\n\n"
    layout = laid(text + "def loss(x):\n    return ops.mse_loss(x, x)\n\n\ndef backbone():\n    return Net()\n")
    assert sorted(path.name for path in layout.files) == ["__init__.py", "backbones.py", "losses.py"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("model.py", "def f(:\n", "does not parse"),
        ("model.txt", "x = 1\n", "not a Python file"),
        ("__init__.py", "x = 1\n", "part of a package already"),
        ("my-model.py", PLAIN, "no name for a package"),
        ("model.py", "def f(name):\n    globals()[name] = 1\n", "globals()"),
        ("model.py", b"a = 1\nb = 2\nx = '\xff'\n", "valid UTF-8"),
    ],
)
def test_bad_files_are_refused(laid, name: str, text: str | bytes, words: str):
    with pytest.raises(GraphwardError, match=words.replace("(", r"\(").replace(")", r"\)")):
        laid(text, name=name)


@pytest.mark.parametrize(
    ("pin", "words"),
    [("first", "names no part"), ("gone=one.py", "defines no 'gone'"), ("first=a/b.py", "names no part")],
)
def test_bad_parts_are_refused(laid, pin: str, words: str):
    with pytest.raises(GraphwardError, match=words):
        laid(PLAIN, pin)


def test_a_part_imports_only_what_it_uses(laid):
    text = "import os\nimport sys\n\n\ndef first():\n    return os.sep\n\n\ndef second():\n    return sys.path\n"
    layout = laid(text, *TWO)
    put(layout)
    for stem, unused in (("one", "sys"), ("two", "os")):
        text = (layout.package / f"{stem}.py").read_text()
        assert f"import {unused}\n" not in text


def test_a_block_that_sets_what_looks_names_up_is_refused(laid):
    find = "\n\ndef find(name):\n    return globals()[name], mode\n\n\n"
    text = f"{PLAIN}{find}if __name__ == '__main__':\n    mode = 1\n"
    with pytest.raises(GraphwardError, match="the script's block sets"):
        laid(text, *TWO)
