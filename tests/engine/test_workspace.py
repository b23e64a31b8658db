"""Where the texts of a run come from, and which files must be checked together."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from graphward.config import Config
from graphward.engine.check import check
from graphward.engine.shards import shards
from graphward.engine.workspace import Workspace
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.text import SourceText

NET = "from .base import Base\n\n\nclass Net(Base):\n    def construct(self, x):\n        return x + 1\n"
PLAIN_BASE = "from torch import nn\n\n\nclass Base(nn.Module):\n    pass\n"
CELL_BASE = "from mindspore import nn\n\n\nclass Base(nn.Cell):\n    pass\n"


class Sums(Rule):
    """Finds sums in what a graph region compiles."""

    code = "GW190"
    name = "sums"
    consequence = Consequence.INFO
    triggers = (b"+",)
    nodes = (ast.BinOp,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        yield context.finding(self, node, context.text(node))


def write(folder: Path, files: Mapping[str, str]) -> list[Path]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [folder / name for name in files]


def overlay(path: Path, text: str) -> dict[Path, SourceText]:
    return {path: SourceText.from_bytes(path, text.encode())}


def sums(workspace: Workspace, root: Path) -> list[tuple[str, str]]:
    result = check(workspace, [Sums()], Config(root=root))
    return [(path.name, f.message) for path, f in result.all_findings()]


def test_an_overlay_counts_instead_of_the_disk(tmp_path):
    (path,) = write(tmp_path, {"net.py": CELL_BASE})
    edited = CELL_BASE.replace("pass", "def construct(self, x):\n        return x + 2")
    assert sums(Workspace([path]), tmp_path) == []
    assert sums(Workspace([path], overlay(path, edited)), tmp_path) == [("net.py", "x + 2")]
    assert path.read_text() == CELL_BASE


def test_an_overlay_counts_for_a_base_class_in_another_file(tmp_path):
    files = write(tmp_path, {"pkg/__init__.py": "", "pkg/base.py": PLAIN_BASE, "pkg/net.py": NET})
    assert sums(Workspace(files), tmp_path) == []
    assert sums(Workspace(files, overlay(files[1], CELL_BASE)), tmp_path) == [("net.py", "x + 1")]


def test_an_overlay_takes_a_base_class_away(tmp_path):
    files = write(tmp_path, {"pkg/__init__.py": "", "pkg/base.py": CELL_BASE, "pkg/net.py": NET})
    assert sums(Workspace(files), tmp_path) == [("net.py", "x + 1")]
    assert sums(Workspace(files, overlay(files[1], PLAIN_BASE)), tmp_path) == []


def test_a_replaced_file_is_parsed_again_and_a_fork_changes_alone(tmp_path):
    files = write(tmp_path, {"pkg/__init__.py": "", "pkg/base.py": CELL_BASE, "pkg/net.py": NET})
    workspace = Workspace(files)
    assert sums(workspace, tmp_path) == [("net.py", "x + 1")]
    fork = workspace.fork()
    fork.replace(files[2], SourceText.from_bytes(files[2], NET.replace("x + 1", "x + 3").encode()))
    assert sums(fork, tmp_path) == [("net.py", "x + 3")]
    assert sums(workspace, tmp_path) == [("net.py", "x + 1")]


def test_files_that_do_not_parse_are_problems_with_their_line(tmp_path):
    texts = {
        "plain.py": "x = 1\n\ny = (\n\nif:\n",
        "graph.py": CELL_BASE + "\ndef (:\n",
        "good.py": CELL_BASE.replace("pass", "def construct(self, x):\n        return x + 2"),
    }
    files = write(tmp_path, texts)
    result = check(Workspace(files), [Sums()], Config(root=tmp_path))
    problems = {p.path.name: p for p in result.problems}
    assert set(problems) == {"plain.py", "graph.py"}
    for name, problem in problems.items():
        try:
            ast.parse(texts[name])
        except SyntaxError as error:
            assert problem.line == error.lineno
        assert "does not parse" in problem.message
    assert [path.name for path, _ in result.all_findings()] == ["good.py"]


def test_a_file_that_is_mended_is_a_problem_no_longer(tmp_path):
    (path,) = write(tmp_path, {"net.py": CELL_BASE + "def (:\n"})
    workspace = Workspace([path])
    assert len(check(workspace, [Sums()], Config(root=tmp_path)).problems) == 1
    workspace.replace(path, SourceText.from_bytes(path, CELL_BASE.encode()))
    assert check(workspace, [Sums()], Config(root=tmp_path)).problems == []


def test_module_names_count_from_the_outermost_package(tmp_path):
    files = write(tmp_path, {
        "src/pkg/__init__.py": "", "src/pkg/sub/__init__.py": "", "src/pkg/sub/net.py": CELL_BASE, "src/loose.py": "",
    })  # fmt: skip
    workspace = Workspace(files)
    modules = [workspace.module(path) for path in files]
    assert [m and m.name for m in modules] == ["pkg", "pkg.sub", "pkg.sub.net", "loose"]


def test_an_import_leads_to_the_rest_of_the_package(tmp_path):
    files = write(tmp_path, {"pkg/__init__.py": "", "pkg/base.py": CELL_BASE, "pkg/net.py": NET})
    workspace = Workspace(files[2:])
    module = workspace.load("pkg.base")
    assert module is not None and module.path == files[1]
    assert workspace.read_beyond(files[2:]) == [files[1]]
    assert workspace.load("numpy") is None


def test_unrelated_packages_are_two_shards(tmp_path):
    files = write(tmp_path, {"a/__init__.py": "", "a/m.py": "x = 1\n", "b/__init__.py": "", "b/m.py": "import os\n"})
    parts = shards(files)
    assert [part.files for part in parts] == [files[:2], files[2:]]
    assert [part.size for part in parts] == [6, 10]


def test_packages_that_import_each_other_are_one_shard(tmp_path):
    texts = {
        "a/__init__.py": "", "a/m.py": "from b.m import x\n",
        "b/__init__.py": "", "b/m.py": "x = 1\n\n\ndef f():\n    import a\n",
        "c/__init__.py": "",
    }  # fmt: skip
    files = write(tmp_path, texts)
    assert sorted(sorted(part.files) for part in shards(files)) == [sorted(files[:4]), files[4:]]


def test_an_import_in_one_direction_is_enough(tmp_path):
    files = write(tmp_path, {"a/__init__.py": "", "b/__init__.py": "import a\n"})
    assert [sorted(part.files) for part in shards(files)] == [files]
