"""GW427: loops over strings."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._python import display, is_builtin, is_message, is_string

# What takes the characters of a string one by one.
_TAKERS = frozenset({"list", "tuple", "enumerate", "zip", "map", "filter", "sorted", "reversed", "set"})
_LONGEST_LITERAL = 12


class StringLoop(Rule):
    """A string has no characters to loop over in a graph.

    ## What it finds

    `for c in name`, comprehensions over a string, and `list`, `enumerate`, `zip` and the like of a string, in a graph
    region. Indices, slices, `in`, `+` and loops over a tuple of strings compile, and are left alone.

    ## Why

    With `fullgraph=True` (MindSpore 2.7 to 2.10):

        AttributeError: In JIT strict mode, cannot get attributes __len__ or the String object has no attribute

    ## Example

        for c in "nchw":
        for c in self.layout:

    becomes

        for c in ("n", "c", "h", "w"):
        for c in list.__call__(self.layout):

    The method of `list` is called while the graph is compiled.

    ## What the rewrite assumes

    Nothing: both are the characters of the string.

    ## When it is unsafe

    When it is not known for certain that the value is a string.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW427"
    name = "string-loop"
    consequence = Consequence.FALLBACK
    triggers = (b"for ", b"list(", b"tuple(", b"enumerate(", b"zip(", b"sorted(", b"reversed(")
    nodes = (ast.For, ast.comprehension, ast.Call)
    names = _TAKERS

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        if isinstance(node, ast.Call):
            if not (isinstance(node.func, ast.Name) and node.func.id in _TAKERS):
                return
            values = node.args
        else:
            assert isinstance(node, (ast.For, ast.comprehension))
            values = [node.iter]
        for value in values:
            if not isinstance(value, (ast.Constant, ast.Name, ast.Attribute, ast.JoinedStr, ast.Subscript, ast.BinOp)):
                continue
            kind = context.kind(value)
            if not is_string(kind, value):
                continue
            if isinstance(node, ast.Call) and (not is_builtin(node.func, context) or is_message(node, context)):
                return
            message = "a string is taken apart, which has no graph form"
            fix = _fix(value, kind.value, kind.certain, node, context)
            yield context.finding(self, value, message, evidence=(kind.evidence,), fixes=(fix,))


def _fix(node: ast.expr, text: object, certain: bool, holder: ast.AST, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    if isinstance(node, ast.Constant) and isinstance(text, str) and len(text) <= _LONGEST_LITERAL:
        characters = [f'"{c}"' if c.isalnum() else repr(c) for c in text]
        rewrite.replace(node, f"({display(characters)})", holder)
        return rewrite.safe("Write its characters")
    if not is_builtin(ast.Name("list", ast.Load()), context):
        return rewrite.manual("Make a tuple of it in __init__", "the name list means something else here")
    rewrite.replace(node, f"list.__call__({context.text(node)})", holder)
    title = "Make a list of it while compiling"
    return rewrite.safe(title) if certain else rewrite.unsafe(title, "the value is taken for a string")
