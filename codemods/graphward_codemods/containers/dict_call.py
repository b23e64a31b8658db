"""GW421: `dict(...)` of traced values."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import fresh
from .._python import is_builtin, split_comprehension, traced_name

_NAMES = frozenset({"dict", "OrderedDict"})


class DictCall(Rule):
    """`dict(...)` with a Tensor inside is left to the Python interpreter.

    ## What it finds

    `dict(a=x)`, `dict(pairs)`, `dict(other)` and `collections.OrderedDict(...)` in a graph region whose arguments
    name a Tensor or a container of Tensors. Of constants they are folded, and are left alone.

    ## Why

    MindSpore 2.7 to 2.10:

        ValueError: When handling script 'dict(a=x) in graph mode', the inputs should be constant

    At the default syntax level the dict is made at run time.

    ## Example

        outputs = dict(hidden=x, logits=self.head(x))

    becomes

        outputs = {"hidden": x, "logits": self.head(x)}

    ## What the rewrite assumes

    Nothing for keywords and pairs written out: dicts keep their order.

    ## When it is unsafe

    When the kind of a positional argument is not known.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW421"
    name = "dict-call"
    consequence = Consequence.FALLBACK
    triggers = (b"dict(", b"OrderedDict(")
    nodes = (ast.Call,)
    names = _NAMES

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called not in _NAMES or not (node.args or node.keywords) or len(node.args) > 1:
            return
        if called == "dict" and not is_builtin(node.func, context):
            return
        if called == "OrderedDict" and context.resolve(node.func) != "collections.OrderedDict":
            return
        traced = traced_name(node, context)
        if traced:
            message = f"{called}() of a traced value is left to the Python interpreter"
            yield context.finding(self, node, message, evidence=(traced,), fixes=(_fix(node, context),))


def _fix(node: ast.Call, context: FunctionContext) -> Fix:
    parts = []
    doubt = ""
    for argument in node.args:
        kind = context.kind(argument)
        pairs = _pairs(argument)
        if pairs is not None:
            parts += [f"{context.text(k)}: {context.text(v)}" for k, v in pairs]
        elif isinstance(argument, (ast.GeneratorExp, ast.ListComp)) and isinstance(argument.elt, ast.Tuple):
            if len(argument.elt.elts) == 2 and not node.keywords:
                k, v = argument.elt.elts
                rest = split_comprehension(argument, context)[1]
                parts.append(f"{context.text(k)}: {context.text(v)} {rest}")
                continue
            parts.append(_spread(argument, context))
        elif kind.tag is Tag.DICT:
            parts.append(f"**{context.text(argument)}")
        elif kind.tag is Tag.SEQUENCE or _is_zip(argument):
            parts.append(_items(argument, context) if not node.keywords else _spread(argument, context))
        else:
            parts.append(f"**{context.text(argument)}")
            doubt = f"{context.text(argument)} is taken for a dict"
    for keyword in node.keywords:
        value = context.text(keyword.value)
        parts.append(f'"{keyword.arg}": {value}' if keyword.arg else f"**{value}")
    rewrite = context.rewrite()
    if len(parts) == 1 and parts[0].startswith("**"):
        # `{**d}` alone gives the compiler a dict of tuples.
        only = node.args[0] if node.args else node.keywords[0].value
        parts = [_items(only, context, ".items()")]
    rewrite.replace(node, f"{{{', '.join(parts)}}}", context.parent(node))
    return rewrite.unsafe("Write the dict out", doubt) if doubt else rewrite.safe("Write the dict out")


def _pairs(node: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
    """Keys and values of pairs that are written out."""
    if not isinstance(node, (ast.List, ast.Tuple)):
        return None
    found = []
    for element in node.elts:
        if not (isinstance(element, (ast.Tuple, ast.List)) and len(element.elts) == 2):
            return None
        found.append((element.elts[0], element.elts[1]))
    return found


def _is_zip(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("zip", "enumerate")


def _items(node: ast.expr, context: FunctionContext, method: str = "") -> str:
    k, v = fresh(context, "key"), fresh(context, "value")
    return f"{k}: {v} for {k}, {v} in {context.text(node)}{method}"


def _spread(node: ast.expr, context: FunctionContext) -> str:
    return f"**{{{_items(node, context)}}}"
