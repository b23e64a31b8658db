"""Passes to a fixpoint: what waits, what is refused, and what becomes of the imports."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from graphward.config import Config
from graphward.engine.fixpoint import FixResult, fix, within
from graphward.engine.workspace import Workspace
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.edits import Edit
from graphward.source.fixes import Applicability, Fix, ImportRequest

MINT = ImportRequest("mindspore", "mint", "mint")


class Rewriting(Rule):
    """Replaces each call or sum for whose text `rewrite` has another."""

    name = "rewriting"
    consequence = Consequence.INFO
    triggers = (b"construct",)
    nodes = (ast.Call, ast.BinOp)

    def __init__(self, code: str, rewrite: Callable[[str], str | None], imports: tuple[ImportRequest, ...] = ()):
        self.code = code  # type: ignore[misc]
        self.rewrite = rewrite
        self.imports = imports

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        text = self.rewrite(context.text(node))
        if text is not None:
            span = context.span(node)
            title = f"{self.code} writes {text}"
            edits = (Edit(span.start, span.end, text),)
            yield context.finding(self, node, title, fixes=(Fix(title, edits, Applicability.SAFE, "", self.imports),))


class Negating(Rule):
    """Inserts a minus before each call that has none."""

    name = "negating"
    consequence = Consequence.INFO
    triggers = (b"construct",)
    nodes = (ast.Call,)

    def __init__(self, code: str):
        self.code = code  # type: ignore[misc]

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        if not isinstance(context.parent(node), ast.UnaryOp):
            start = context.span(node).start
            fixes = (Fix("negate", (Edit(start, start, "-"),), Applicability.SAFE),)
            yield context.finding(self, node, self.code, fixes=fixes)


def replacing(code: str, old: str, new: str, *imports: ImportRequest) -> Rewriting:
    return Rewriting(code, {old: new}.get, imports)


def net(*body: str, imports: str = "") -> str:
    lines = "".join(f"        {line}\n" for line in body)
    return f"{imports}from mindspore import nn, ops\n\n\nclass Net(nn.Cell):\n    def construct(self, x):\n{lines}"


def run(tmp_path: Path, text: str, *rules: Rule, name: str = "net.py") -> tuple[str, FixResult]:
    """The text after all passes, and all that is told of them."""
    path = tmp_path / name
    path.write_text(text)
    workspace = Workspace([path])
    result = fix(workspace, rules, Config(root=tmp_path), within(Applicability.SAFE))
    assert path.read_text() == text, "nothing is written"
    after = workspace.source(path)
    assert after is not None
    return after.text, result


def test_an_overlapping_fix_waits_for_the_next_pass(tmp_path):
    outer = replacing("GW190", "ops.abs(ops.neg(x))", "ops.exp(ops.neg(x))")
    inner = replacing("GW191", "ops.neg(x)", "0 - x")
    text, result = run(tmp_path, net("return ops.abs(ops.neg(x))"), outer, inner)
    assert text == net("return ops.exp(0 - x)")
    (change,) = result.changes.values()
    assert [a.finding.code for a in change.applied] == ["GW190", "GW191"]
    assert [a.source.text for a in change.applied] == [
        net("return ops.abs(ops.neg(x))"),
        net("return ops.exp(ops.neg(x))"),
    ]
    assert not result.refused and not result.remaining.files


def test_fixes_that_never_rest_are_stopped_and_named(tmp_path, monkeypatch):
    monkeypatch.setattr("graphward.engine.fixpoint.MAX_PASSES", 5)

    def count(text: str) -> str | None:
        head, plus, number = text.rpartition("x + ")
        return f"x + {int(number) + 1}" if plus and not head and number.isdigit() else None

    text, result = run(tmp_path, net("return x + 0"), Rewriting("GW190", count), replacing("GW191", "ops.a(x)", "x"))
    assert text == net("return x + 5")
    (reason,) = result.refused
    assert "GW190" in reason and "GW191" not in reason and "5 passes" in reason


def test_a_result_that_does_not_parse_is_refused_alone(tmp_path):
    broken = replacing("GW190", "ops.abs(x)", "ops.abs(x")
    good = replacing("GW191", "ops.neg(y)", "ops.exp(y)")
    text, result = run(tmp_path, net("y = ops.abs(x)", "return ops.neg(y)"), broken, good)
    assert text == net("y = ops.abs(x)", "return ops.exp(y)")
    (reason,) = result.refused
    assert "GW190 writes ops.abs(x" in reason and "net.py" in reason and "GW191" not in reason
    assert [f.code for _, f in result.remaining.all_findings()] == ["GW190"]


def test_a_result_that_does_not_parse_changes_nothing_when_it_is_the_only_one(tmp_path):
    _, result = run(tmp_path, net("return ops.abs(x)"), replacing("GW190", "ops.abs(x)", "ops.abs(x"))
    assert not result.changes and len(result.refused) == 1


def test_the_same_fix_of_two_findings_is_applied_once(tmp_path):
    text, result = run(tmp_path, net("return ops.abs(x)"), Negating("GW190"), Negating("GW191"))
    assert text == net("return -ops.abs(x)")
    assert [f.code for _, f in result.first.all_findings()] == ["GW190", "GW191"]
    assert not result.refused


def test_needed_imports_are_added_once(tmp_path):
    rules = [replacing(f"GW19{i}", f"ops.{name}(x)", f"mint.{name}(x)", MINT) for i, name in enumerate(("abs", "neg"))]
    text, _ = run(tmp_path, net("return (ops.abs(x), ops.neg(x), ops.exp(x))"), *rules)
    expected = net("return (mint.abs(x), mint.neg(x), ops.exp(x))").replace("import nn, ops", "import nn, ops, mint")
    assert text == expected


NUMPY = "import numpy as np\n"


def test_an_import_goes_with_its_last_use(tmp_path):
    text, _ = run(tmp_path, net("return np.abs(x) + ops.exp(x)", imports=NUMPY),
                  replacing("GW190", "np.abs(x)", "x"))  # fmt: skip
    assert text == net("return x + ops.exp(x)")


@pytest.mark.parametrize(
    ("name", "imports", "body"),
    [
        pytest.param("__init__.py", NUMPY, (), id="interface of a package"),
        pytest.param("net.py", "import numpy as np  # for abs\n", (), id="comment on its line"),
        pytest.param("net.py", NUMPY, ("y = np.pi",), id="still used"),
        pytest.param("net.py", NUMPY + "__all__ = ['np']\n", (), id="exported"),
    ],
)
def test_an_import_is_kept(tmp_path, name, imports, body):
    before = net(*body, "return np.abs(x) + ops.exp(x)", imports=imports)
    text, result = run(tmp_path, before, replacing("GW190", "np.abs(x)", "x"), name=name)
    assert text == net(*body, "return x + ops.exp(x)", imports=imports)
    assert not result.refused


def test_an_import_that_nobody_used_before_is_not_ours_to_remove(tmp_path):
    before = net("return np.abs(x) + ops.exp(x)", imports="import os\n" + NUMPY)
    text, _ = run(tmp_path, before, replacing("GW190", "np.abs(x)", "x"))
    assert text == net("return x + ops.exp(x)", imports="import os\n")
