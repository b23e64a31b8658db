"""After each edit of a large file the quick check finds what a check of all of it would."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphward.lsp import checker
from graphward.lsp.checker import Checker
from graphward.lsp.documents import Found, Session, text_of

HEAD = "import numpy as np\nfrom mindspore import Tensor, nn, ops\n\n\ndef swap(t):\n    return t.transpose(0, 1)\n\n\n"
LATE = "\n\nclass Late(nn.Cell):\n    def construct(self, x: Tensor):\n        {}return swap(x)\n"


def block(i: int) -> str:
    return f'''
class Block{i}(nn.Cell):
    """A block among many, with a docstring as long as those of real ones, so that the file becomes as large."""

    def __init__(self):
        super().__init__()
        self.scale = {i}
        self.buffer = None

    def inner(self, x):
        def twice(y):
            return y * self.scale

        return twice(x)

    def construct(self, x: Tensor):
        act = nn.ReLU()
        y = Tensor(np.exp(x.asnumpy()))  # block {i}
        if x.sum() > 0:
            late = y
        return act(self.inner(late)) + y.transpose(0, 1)
'''


TEXT = HEAD + "\n".join(block(i) for i in range(60)) + LATE.format("")
EDITS = {
    "a statement with a finding": ("# block 7\n", "# block 7\n        z = np.log(x.asnumpy())\n"),
    "a finding that goes": ("y = Tensor(np.exp(x.asnumpy()))  # block 9\n", "y = x + 9\n"),
    "lines that go": (
        "        if x.sum() > 0:\n            late = y\n        return act(self.inner(late))", "        return act(y)"
    ),
    "in __init__": ("        self.scale = 30\n", "        self.scale = Tensor(30)\n        self.other = []\n"),
    "an attribute that is written": ("# block 11\n", "# block 11\n        self.buffer = y\n"),
    "in a helper": ("    return t.transpose(0, 1)\n", "    t = t.asnumpy()\n    return t\n"),
    "in a nested function": ("            return y * self.scale\n", "            return np.exp(y.asnumpy())\n"),
    "a function that comes": (
        "# block 12\n", "# block 12\n\n        def more(z):\n            return z.transpose(0, 1)\n"
    ),
    "an import": ("import numpy as np\n", "import numpy as np\nimport math\n"),
    "a decorator": ("    def inner(self, x):\n", "    @staticmethod\n    def inner(self, x):\n"),
    "a comment that silences": ("# block 13\n", "# graphward: ignore[GW101]\n"),
    "a caller of a helper": (LATE.format("")[-30:], LATE.format("x = swap(x)\n        ")[-50:]),
    "a global name": ("# block 14\n", "# block 14\n        global cache\n        cache = y\n"),
    "a class name": ("class Block20(", "class Other20("),
}  # fmt: skip


def told(found: Found) -> list[object]:
    """All that is shown of the findings and done by their fixes."""
    return [
        (f.code, f.message, f.span, f.region, f.call_path, f.evidence,
         [(x.title, x.reason, x.applicability, x.imports) for x in f.fixes],
         [[(e.start, e.end, e.text) for e in x.edits] for x in f.fixes])
        for f in found.findings
    ]  # fmt: skip


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each check took a shortcut."""
    taken: list[bool] = []
    real = checker.findings_after_edit

    def watched(*arguments: object) -> object:
        found = real(*arguments)  # type: ignore[arg-type]
        taken.append(found is not None)
        return found

    monkeypatch.setattr(checker, "findings_after_edit", watched)
    return taken


def test_edits_one_after_the_other(tmp_path: Path, quickly: list[bool]):
    session, mine = Session(), Checker()
    path, text = tmp_path / "net.py", TEXT
    assert len(text) > 30_000
    steps = [("nothing", "", "")]
    for name, (old, new) in EDITS.items():
        assert old in TEXT, name
        steps += [(name, old, new), (f"{name}, undone", new, old)]
    anew: dict[str, object] = {}
    for name, old, new in steps:
        text = text.replace(old, new, 1) if old else text
        document = session.put(path.as_uri(), path, 1, text_of(path, text))
        mine.documents[document.uri] = document
        if text not in anew:  # each undone edit leaves the text that the first step had
            fresh = Checker()
            fresh.documents[document.uri] = document
            anew[text] = told(fresh.quick(document.uri))
        assert told(mine.quick(document.uri)) == anew[text], name
    assert text == TEXT
    assert sum(quickly) >= 12
    assert not all(quickly)


def test_other_settings_and_other_files_are_not_taken_for_the_same(tmp_path: Path, quickly: list[bool]):
    session, mine = Session(), Checker()
    (tmp_path / "helpers.py").write_text("def swap(t):\n    return t.asnumpy()\n")
    path = tmp_path / "net.py"
    text = "from helpers import swap\n" + TEXT.replace("def swap(t):\n    return t.transpose(0, 1)\n", "")
    codes = []
    for step in range(4):
        if step == 2:
            (tmp_path / "pyproject.toml").write_text('[tool.graphward]\nignore = ["GW201"]\n')
        if step == 3:
            (tmp_path / "helpers.py").write_text("def swap(t):\n    return t\n\n\n# longer than before\n")
        edited = text.replace("# block 7\n", f"# block 7, {step}\n")
        document = session.put(path.as_uri(), path, step, text_of(path, edited))
        mine.documents[document.uri] = document
        codes.append({f.code for f in mine.quick(document.uri).findings})
    assert quickly == [True, False, False]
    assert codes[1] - codes[2] == {"GW201"}
