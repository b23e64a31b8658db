"""GW422: `|` between dicts."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from .._blocks import CannotRewrite, indent_of, put_call, replace_statement
from ._unions import union_of


class DictUnion(Rule):
    """`|` between dicts does not compile.

    ## What it finds

    `a | b` and `a |= b` in a graph region, where one side is a dict.

    ## Why

    MindSpore 2.7 to 2.10:

        RuntimeError: For operation 'bitwise_or', current input arguments types are <Dictionary, Dictionary>

    ## Example

        outputs = defaults | {"hidden": x}

    becomes

        outputs = {key: value for key, value in list(defaults.items()) + list({"hidden": x}.items())}

    and `{"a": x} | {"b": y}` becomes `{**{"a": x}, **{"b": y}}`, which compiles between braces only.

    ## What the rewrite assumes

    That both sides are dicts.

    ## When it is unsafe

    When the kind of one side is not known; `a |= b` always, since another variable may hold the same dict.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW422"
    name = "dict-union"
    consequence = Consequence.ERROR
    triggers = (b"|",)
    nodes = (ast.BinOp, ast.AugAssign)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, (ast.BinOp, ast.AugAssign))
        if not isinstance(node.op, ast.BitOr):
            return
        if _is_union(context.parent(node)):
            return  # the whole chain is one finding
        parts = _operands(node) if isinstance(node, ast.BinOp) else [node.target, *_operands(node.value)]
        kinds = [context.kind(p) for p in parts]
        if not any(k.tag is Tag.DICT for k in kinds) or any(k.is_tensor for k in kinds):
            return
        text = union_of([*parts], context)
        rewrite = context.rewrite()
        doubt = "" if all(k.tag is Tag.DICT for k in kinds) else "all sides are taken for dicts"
        message = "| between dicts does not compile"
        if isinstance(node, ast.BinOp):
            put_call(context, rewrite, node, text)
        else:
            doubt = doubt or "another variable that holds the dict does not get the entries"
            try:
                line = f"{indent_of(context.module, node)}{context.text(node.target)} = {text}"
                replace_statement(context, rewrite, node, [line])
            except CannotRewrite as reason:
                fix = context.rewrite().manual("Bind a new dict", str(reason))
                yield context.finding(self, node, message, fixes=(fix,))
                return
        title = "Write them into one dict"
        fix = rewrite.unsafe(title, doubt) if doubt else rewrite.safe(title)
        yield context.finding(self, node, message, evidence=tuple(k.evidence for k in kinds), fixes=(fix,))


def _is_union(node: ast.AST | None) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)


def _operands(node: ast.expr) -> list[ast.expr]:
    """What a chain of `|` joins, from left to right."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_operands(node.left), *_operands(node.right)]
    return [node]
