"""GW107: keyword arguments that the graph forms of `print`, `zip`, `max` and `min` do not take."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._python import is_builtin

_NAMES = frozenset({"print", "zip", "max", "min"})


class BuiltinKeywords(Rule):
    """`print`, `zip`, `max` and `min` take no keyword arguments in a graph.

    ## What it finds

    `print(..., file=...)`, `sep=`, `end=`, `flush=`, `zip(..., strict=...)`, `max(..., key=...)` and `default=` in a
    graph region.

    ## Why

    The graph forms have no such arguments (MindSpore 2.7 to 2.10):

        RuntimeError: Got an unexpected keyword argument 'file'

    ## Example

        print("loss", loss, file=sys.stderr)

    becomes

        print("loss", loss)

    ## What the rewrite assumes

    That the text of a `print` matters and not where it goes; that what `zip(..., strict=True)` is given has one length.

    ## When it is unsafe

    Always, for `print` and `strict=True`: the text goes to standard output, and other lengths are no error. For `key`
    and `default` there is no rewrite.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW107"
    name = "builtin-keywords"
    consequence = Consequence.ERROR
    triggers = (b"print(", b"zip(", b"max(", b"min(")
    nodes = (ast.Call,)
    names = _NAMES

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not (isinstance(node.func, ast.Name) and node.func.id in _NAMES and node.keywords):
            return
        if not is_builtin(node.func, context) or any(k.arg is None for k in node.keywords):
            return
        name = node.func.id
        words = ", ".join(k.arg or "" for k in node.keywords)
        message = f"{name}() takes no such argument in a graph: {words}"
        yield context.finding(self, node, message, fixes=(_fix(node, name, context),))


def _fix(node: ast.Call, name: str, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    if name in ("max", "min"):
        manual = "compare in a loop, or test for the empty sequence before"
        return rewrite.manual("Write it out", manual)
    arguments = ", ".join(context.text(a) for a in node.args)
    rewrite.replace(node, f"{name}({arguments})", context.parent(node))
    strict = [k.value for k in node.keywords if k.arg == "strict"]
    if strict and isinstance(strict[0], ast.Constant) and not strict[0].value:
        return rewrite.safe("Leave strict=False out")
    reason = "other lengths are no error" if name == "zip" else "the text goes to standard output, an argument a line"
    return rewrite.unsafe("Drop the keywords", reason)
