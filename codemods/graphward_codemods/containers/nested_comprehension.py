"""GW402: comprehensions with more than one `for`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.names import dotted
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, fresh, indent_of, insert_before, replace_statement, step_of
from .._python import is_later


class NestedComprehension(Rule):
    """A comprehension with two `for` does not compile.

    ## What it finds

    `[f(a, b) for a in first for b in second]` in a graph region; dict comprehensions and generators too. A
    comprehension inside a comprehension compiles, and is left alone.

    ## Why

    MindSpore 2.7 to 2.10:

        TypeError: The 'generators' supports 1 'comprehension' in ListComp/GeneratorExp, but got 2 comprehensions.

    ## Example

        grid = [a * b for a in first for b in second]

    becomes

        grid = []
        for a in first:
            for b in second:
                grid.append(a * b)

    ## What the rewrite assumes

    Nothing, where the comprehension is all that is assigned.

    ## When it is unsafe

    When the comprehension is a part of a larger expression: it is evaluated before the other parts.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW402"
    name = "nested-comprehension"
    consequence = Consequence.ERROR
    triggers = (b" for ",)
    nodes = (ast.ListComp, ast.GeneratorExp, ast.DictComp)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.DictComp))
        if len(node.generators) < 2:
            return
        try:
            fix = _fix(node, context)
        except CannotRewrite as reason:
            fix = context.rewrite().manual("Write loops", str(reason))
        message = f"a comprehension with {len(node.generators)} for does not compile"
        yield context.finding(self, node, message, fixes=(fix,))


def _fix(node: ast.ListComp | ast.GeneratorExp | ast.DictComp, context: FunctionContext) -> Fix:
    if is_later(node, context):
        raise CannotRewrite("it stands in a lambda or another comprehension")
    bound = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    inside = set(ast.walk(node))
    outside = {n.id for n in context.function.nodes if isinstance(n, ast.Name) and n not in inside}
    clash = sorted(bound & (outside | _arguments(context)))
    if clash:
        raise CannotRewrite(f"the loop would overwrite {', '.join(clash)}, which is another variable")
    statement = context.statement(node)
    whole = isinstance(statement, ast.Assign) and statement.value is node and len(statement.targets) == 1
    target = statement.targets[0] if isinstance(statement, ast.Assign) and whole else None
    name = target.id if isinstance(target, ast.Name) else fresh(context, "values")
    if name in {dotted(n) for n in inside if isinstance(n, ast.Name)}:
        name = fresh(context, "values")
    lines = _loops(node, name, context)
    rewrite = context.rewrite()
    if isinstance(target, ast.Name) and name == target.id:
        indent = indent_of(context.module, statement)
        replace_statement(context, rewrite, statement, [indent + line for line in lines])
        return rewrite.safe("Write loops")
    insert_before(context, rewrite, statement, lines)
    parent = context.parent(node)
    bare = isinstance(node, ast.GeneratorExp) and isinstance(parent, ast.Call) and len(parent.args) == 1
    # The brackets of a call belong to its only argument when that is a generator.
    rewrite.replace(node, f"({name})" if bare and context.text(node).startswith("(") else name, parent)
    return rewrite.unsafe("Write loops", "they run before the other parts of the statement")


def _loops(node: ast.ListComp | ast.GeneratorExp | ast.DictComp, name: str, context: FunctionContext) -> list[str]:
    step = step_of(context.function)
    lines = [f"{name} = {{}}" if isinstance(node, ast.DictComp) else f"{name} = []"]
    depth = ""
    for generator in node.generators:
        lines.append(f"{depth}for {context.text(generator.target)} in {context.text(generator.iter)}:")
        depth += step
        for test in generator.ifs:
            lines.append(f"{depth}if {context.text(test)}:")
            depth += step
    if isinstance(node, ast.DictComp):
        lines.append(f"{depth}{name}[{context.text(node.key)}] = {context.text(node.value)}")
    else:
        lines.append(f"{depth}{name}.append({context.text(node.elt)})")
    return lines


def _arguments(context: FunctionContext) -> set[str]:
    arguments = context.function.node.args
    return {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
