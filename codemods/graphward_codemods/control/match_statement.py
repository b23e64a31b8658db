"""GW307: `match`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.analysis.names import dotted
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, block_lines, fresh, indent_of, replace_statement, step_of
from ._patterns import condition


class MatchStatement(Rule):
    """`match` does not compile.

    ## What it finds

    A `match` statement in a graph region.

    ## Why

    The compiler knows no such statement (MindSpore 2.7 to 2.10): `RuntimeError: Unsupported statement 'Match'.`

    ## Example

        match x.shape[0]:
            case 2:
                return x
            case _:
                return -x

    becomes

        subject = x.shape[0]
        if subject == 2:
            return x
        else:
            return -x

    Literals, alternatives, guards, sequences, mappings and classes become conditions; names that a pattern binds are
    assigned at the start of the branch.

    ## What the rewrite assumes

    That `==` and `isinstance` mean what the pattern means, which they do for numbers, strings, tuples, lists and dicts.

    ## When it is unsafe

    For patterns of sequences, mappings and classes: what is no tuple, list or dict but acts like one does not match.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW307"
    name = "match-statement"
    consequence = Consequence.ERROR
    triggers = (b"match",)
    nodes = (ast.Match,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Match)
        yield context.finding(self, node, "match does not compile", fixes=(_fix(node, context),))


def _fix(node: ast.Match, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    title = "Write it as if, elif and else"
    try:
        replace_statement(context, rewrite, node, _lines(node, context))
    except CannotRewrite as reason:
        return context.rewrite().manual(title, f"not changed by itself: {reason}")
    if any(isinstance(p, (ast.MatchSequence, ast.MatchMapping, ast.MatchClass)) for p in ast.walk(node)):
        return rewrite.unsafe(title, "only tuples, lists, dicts and the classes as named match")
    return rewrite.safe(title)


def _lines(node: ast.Match, context: FunctionContext) -> list[str]:
    module = context.module
    indent, step = indent_of(module, node), step_of(context.function)
    lines: list[str] = []
    if dotted(node.subject) is not None:
        subject = context.text(node.subject)
    else:
        subject = fresh(context, "subject")
        value = context.text(node.subject)
        bare = isinstance(node.subject, ast.Tuple) and not value.startswith("(")
        lines.append(f"{indent}{subject} = {f'({value})' if bare or chr(10) in value else value}")
    known = context.kind(node.subject).tag in (Tag.SHAPE, Tag.SEQUENCE)
    word, closed = "if", False
    for case in node.cases:
        if closed:
            raise CannotRewrite("a case follows one that always matches")
        found = condition(case.pattern, subject, context.text, is_sequence=known)
        tests = list(found.tests)
        bindings = [(n, e) for n, e in found.bindings if n != e]
        if case.guard is not None:
            guard = _guard(case.guard, dict(bindings), context)
            tests.append(f"({guard})" if tests and isinstance(case.guard, (ast.BoolOp, ast.IfExp)) else guard)
        closed = not tests
        if closed and word == "if":
            inner = indent
        else:
            lines.append(f"{indent}else:" if closed else f"{indent}{word} {' and '.join(tests)}:")
            inner = indent + step
        lines += [f"{inner}{name} = {value}" for name, value in bindings]
        body = block_lines(module, case.body, inner, _header_end(case))
        lines += body
        word = "elif"
    return lines


def _header_end(case: ast.match_case) -> int:
    last = case.guard if case.guard is not None else case.pattern
    return last.end_lineno or 0


def _guard(guard: ast.expr, bindings: dict[str, str], context: FunctionContext) -> str:
    """The guard with the names that the pattern binds spelled out."""
    module = context.module
    start = module.start(guard)
    data = module.source.utf8[start : module.end(guard)]
    names = [n for n in ast.walk(guard) if isinstance(n, ast.Name) and n.id in bindings]
    for name in sorted(names, key=lambda n: (n.lineno, n.col_offset), reverse=True):
        data = data[: module.start(name) - start] + bindings[name.id].encode() + data[module.end(name) - start :]
    text = data.decode()
    return f"({text})" if "\n" in text else text
