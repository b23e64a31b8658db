"""GW308: a class inside graph code."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, block_lines, module_statement, remove_statement


class ClassInGraph(Rule):
    """A class defined inside graph code does not compile.

    ## What it finds

    A `class` statement in a graph region.

    ## Why

    The compiler knows no such statement (MindSpore 2.7 to 2.10): `RuntimeError: Unsupported statement 'ClassDef'.`

    ## Example

        class Net(nn.Cell):
            def construct(self, x):
                class Factors:
                    scale = 2
                return x * Factors.scale

    becomes

        class Factors:
            scale = 2


        class Net(nn.Cell):
            def construct(self, x):
                return x * Factors.scale

    ## What the rewrite assumes

    That the class reads nothing of the function around it; one that does is left to a person.

    ## When it is unsafe

    Always: the class is made once, where the original makes a new one at each PyNative call.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW308"
    name = "class-in-graph"
    consequence = Consequence.ERROR
    triggers = (b"class ",)
    nodes = (ast.ClassDef,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.ClassDef)
        message = f"class {node.name} inside graph code does not compile"
        yield context.finding(self, node, message, fixes=(_fix(node, context),))


def _fix(node: ast.ClassDef, context: FunctionContext) -> Fix:
    title = f"Move {node.name} out of {context.function.name}"
    rewrite = context.rewrite()
    try:
        _check(node, context)
        anchor = module_statement(context)
        source = context.module.source
        lines = block_lines(context.module, [node], "")
        text = "".join(line + source.newline for line in lines) + source.newline * 2
        rewrite.insert(source.offset(anchor, 0), text)
        remove_statement(context, rewrite, node, keep_comments=False)
    except CannotRewrite as reason:
        return context.rewrite().manual(title, f"not moved by itself: {reason}")
    return rewrite.unsafe(title, "the class is made once, not at each call")


def _check(node: ast.ClassDef, context: FunctionContext) -> None:
    module = context.module
    if node.name in module.definitions or node.name in module.assignments or node.name in module.names.aliases:
        raise CannotRewrite(f"the file has another {node.name}")
    inside = {n.id for n in preorder(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    inside |= {a.arg for a in preorder(node) if isinstance(a, ast.arg)}
    inside |= {n.name for n in preorder(node) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    names = context.function.names
    for name in preorder(node):
        if isinstance(name, ast.Name) and name.id not in inside:
            if names.is_local(name.id) or name.id in names.aliases:
                raise CannotRewrite(f"it reads {name.id} of {context.function.name}")
