"""GW810: keywords in graph code that no version of the callee has."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from graphward.analysis.names import Names
from graphward.knowledge.renames import keyword_changes, version
from graphward.rules.context import CellContext, FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from ._arguments import RESHAPED


class UnknownKeyword(Rule):
    """A call in graph code has a keyword that the function of MindSpore does not take.

    ## What it finds

    In what a graph region compiles, and in the `__init__` of Cells, calls of functions, operators and layers of
    MindSpore with a keyword that is none of their parameters in the target version. Keywords that have only changed
    their name are GW804's. What takes any keyword, or hides its parameters from `inspect.signature`, is left alone.

    ## Why

        TypeError: expand_dims() got an unexpected keyword argument 'keepdims'

    ## Example

        y = ops.expand_dims(x, 1, keepdims=True)

    has to become, by hand,

        y = ops.expand_dims(x, 1)

    ## What the rewrite assumes

    There is no rewrite: what the keyword was meant to do is not known.

    ## When it is unsafe

    There is nothing to apply.

    ## References

    `inspect.signature` of every callable of each wheel, in `knowledge/renames_<version>.json`.
    """

    code = "GW810"
    name = "unknown-keyword"
    consequence = Consequence.ERROR
    triggers = (b"mindspore",)
    nodes = (ast.Call,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        for keyword, message in _unknown(node, context.function.names, context.options.target_version):
            yield context.finding(self, keyword, message)

    def visit_cell(self, context: CellContext) -> Iterable[Finding]:
        made = context.cell.methods.get("__init__")
        for node in made.nodes if made is not None else ():
            if node.__class__ is ast.Call:
                assert made is not None and isinstance(node, ast.Call)
                for keyword, message in _unknown(node, made.names, context.options.target_version):
                    yield context.finding(self, keyword, message)


def _unknown(node: ast.Call, names: Names, target: str) -> Iterator[tuple[ast.keyword, str]]:
    """`(keyword, what is wrong with it)` of a call."""
    if not node.keywords or not isinstance(node.func, (ast.Attribute, ast.Name)):
        return
    name = names.resolve(node.func)
    if name is None or not name.startswith("mindspore."):
        return
    known = version(target)
    module, _, function = name.rpartition(".")
    changes = keyword_changes(name)
    for keyword in node.keywords:
        if keyword.arg is None or (name, keyword.arg) in RESHAPED:
            continue
        change = changes.get(keyword.arg)
        if change is not None and (change.advice or known.takes(module, function, change.new)):
            continue
        if known.unknown_keyword(module, function, keyword.arg):
            yield keyword, f"{name} takes no {keyword.arg}"
