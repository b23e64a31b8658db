"""Replacements keep the layout and the comments of what they replace."""

from __future__ import annotations

import ast

import pytest

from graphward.source.edits import apply_edits
from graphward.source.layout import token_edits
from graphward.source.precedence import guarded


def rewritten(old: str, new: str) -> tuple[str, list[str]]:
    edits, lost = token_edits(old, new, 0)
    return apply_edits(old.encode(), edits).decode(), lost


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("np.exp(x.asnumpy())", "ops.exp(x)", "ops.exp(x)"),
        ("np.exp(  # 指数\n    x.asnumpy(),\n)", "ops.exp(x)", "ops.exp(  # 指数\n    x\n)"),
        ("np.sum(x, axis = 1)", "ops.sum(x, dim=1)", "ops.sum(x, dim = 1)"),
        ("f(a)", "f(a, b)", "f(a, b)"),
    ],
)
def test_tokens_that_stay_keep_their_layout(old, new, expected):
    assert rewritten(old, new) == (expected, [])


def test_a_comment_amid_what_goes_is_reported():
    assert rewritten("x.asnumpy(  # why\n)", "x") == ("x", ["# why"])


@pytest.mark.parametrize(
    ("context", "old", "new"),
    [
        ("a * {}", "f(x)", "x + 1"), ("a - {}", "f(x)", "b - c"), ("{} ** 2", "f(x)", "-x"),
        ("{}.shape", "f(x)", "x + 1"),
        ("-{}", "f(x)", "a + b"), ("not {}", "f(x)", "a or b"), ("a if {} else b", "f(x)", "c if d else e"),
        ("g(*{})", "f(x)", "a or b"), ("{}[0]", "f(x)", "a, b"), ("a < {}", "f(x)", "b < c"), ("{}.real", "f(x)", "1"),
        ("[v for v in {}]", "f(x)", "a if b else c"), ("f'{{{}}}'", "f(x)", "a + b"), ("2 ** {}", "f(x)", "-x"),
        ("a and {}", "f(x)", "b or c"), ("{} @ w", "f(x)", "a + b"), ("a ^ {}", "f(x)", "b != c"),
        ("g(k={})", "f(x)", "lambda: 1"), ("{}(y)", "f(x)", "a or b"),
    ],
)  # fmt: skip
def test_a_replacement_binds_as_what_it_replaces(context, old, new):
    text = context.format(old)
    tree = ast.parse(text, mode="eval")
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    target = next(n for n in parents if isinstance(n, ast.Call) and ast.unparse(n) == old)
    got = context.format(guarded(new, target, parents[target]))
    assert ast.dump(ast.parse(got, mode="eval")) == ast.dump(ast.parse(context.format(f"({new})"), mode="eval"))


def test_no_parentheses_without_need():
    tree = ast.parse("g(f(x)) + f(x)", mode="eval").body
    assert isinstance(tree, ast.BinOp) and isinstance(tree.left, ast.Call)
    assert guarded("a + b", tree.left.args[0], tree.left) == "a + b"
    assert guarded("a * b", tree.right, tree) == "a * b"
