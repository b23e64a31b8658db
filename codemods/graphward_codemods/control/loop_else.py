"""GW312: `else` of a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import (
    CannotRewrite,
    block_lines,
    fresh,
    indent_of,
    last_line,
    own_nodes,
    replace_statement,
    stands_alone,
    step_of,
)  # fmt: skip


class LoopElse(Rule):
    """`for ... else` and `while ... else` do not compile.

    ## What it finds

    A loop with an `else` in a graph region.

    ## Why

    The compiler refuses it (MindSpore 2.7 to 2.10): `RuntimeError: The 'for...else...' statement is not supported now.`

    ## Example

        for k in sizes:
            if k > 10:
                break
            x = x + k
        else:
            x = x * 2

    becomes

        broke = False
        for k in sizes:
            if k > 10:
                broke = True
                break
            x = x + k
        if not broke:
            x = x * 2

    Without a `break` the `else` always runs, and simply follows the loop.

    ## What the rewrite assumes

    Nothing.

    ## When it is unsafe

    Never.

    ## References

    Measured on MindSpore 2.10.0 CPU, with `break` under constant and under Tensor conditions.
    """

    code = "GW312"
    name = "loop-else"
    consequence = Consequence.ERROR
    triggers = (b"else",)
    nodes = (ast.For, ast.While)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, (ast.For, ast.While))
        if not node.orelse:
            return
        word = "for" if isinstance(node, ast.For) else "while"
        yield context.finding(self, node, f"{word} ... else does not compile", fixes=(_fix(node, context),))


def _fix(node: ast.For | ast.While, context: FunctionContext) -> Fix:
    module = context.module
    indent = indent_of(module, node)
    breaks = [n for n in own_nodes(node.body, loops=False) if isinstance(n, ast.Break)]
    rewrite = context.rewrite()
    end = last_line(node.body[-1])
    source = module.source
    header = next(n for n in range(end + 1, node.orelse[0].lineno + 1) if source.line_bytes(n).lstrip()[:4] == b"else")
    lines = [source.line_bytes(n).decode().rstrip("\r\n") for n in range(node.lineno, header)]
    try:
        if not breaks:
            lines += block_lines(module, node.orelse, indent, header)
            replace_statement(context, rewrite, node, lines)
            return rewrite.safe("Let the else follow the loop")
        flag = fresh(context, "broke")
        for statement in sorted(breaks, key=lambda b: b.lineno, reverse=True):
            if not stands_alone(module, statement):
                raise CannotRewrite("a break shares its line with other code")
            lines.insert(statement.lineno - node.lineno, f"{indent_of(module, statement)}{flag} = True")
        lines.insert(0, f"{indent}{flag} = False")
        lines.append(f"{indent}if not {flag}:")
        lines += block_lines(module, node.orelse, indent + step_of(context.function), header)
        replace_statement(context, rewrite, node, lines)
    except CannotRewrite as reason:
        return context.rewrite().manual("Keep in a variable whether the loop broke off", f"not changed: {reason}")
    return rewrite.safe("Keep in a variable whether the loop broke off")
