"""GW323: lines of a method's body that start to the left of its `def`."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding, Span
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import comments_of


class BodyIndentation(Rule):
    """A line in the body of a method starts to the left of its `def`, which the compiler cannot read.

    ## What it finds

    Comments, continued lines and lines of strings that are indented less than the `def` of the method or nested
    function which they stand in.

    ## Why

    The compiler takes the source of the method away from its indentation before it parses it, and a line that is
    indented less breaks that (MindSpore 2.7 to 2.10):

        IndentationError: There are incorrect indentations in definition or comment of function: 'Net.construct'.

    ## Example

            def construct(self, x):
        # twice
                return x * 2

    becomes

            def construct(self, x):
                # twice
                return x * 2

    ## What the rewrite assumes

    Nothing for comments and code. In a docstring the white space at the start of the line grows.

    ## When it is unsafe

    For a docstring: its text changes by white space. Other strings are left to a person.

    ## References

    Measured on MindSpore 2.10.0 CPU. A comment exactly as far left as the `def` compiles.
    """

    code = "GW323"
    name = "body-indentation"
    consequence = Consequence.ERROR
    triggers = (b"def ",)

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        node = context.function.node
        source = context.module.source
        first = context.function.first_line
        own = len(source.indent(first).expandtabs())
        if not own:
            return
        if context.function.outer is not None and context.function.outer in context.inference.reached:
            return
        wanted = source.indent(node.body[0].lineno if node.body[0].lineno > node.lineno else first)
        starts = source.line_starts
        data = source.utf8
        prefix = source.indent(first).encode()
        for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1):
            begin = starts[line - 1]
            if data.startswith(prefix, begin):
                continue
            text = source.line_bytes(line)
            if text.strip() and len(source.indent(line).expandtabs()) < own:
                yield self._found(line, wanted, context)

    def _found(self, line: int, indent: str, context: FunctionContext) -> Finding:
        source = context.module.source
        start = source.offset(line, 0)
        text = source.line_bytes(line).rstrip(b"\r\n")
        string = _string_over(line, context.function.node)
        is_comment = string is None and line in comments_of(context.module) and text.lstrip().startswith(b"#")
        what = "a comment" if is_comment else "a line of a string" if string is not None else "a continued line"
        fix = self._fix(line, indent, string, context)
        message = f"{what} starts to the left of the def around it"
        finding = context.finding(self, context.function.node, message, fixes=(fix,))
        span = Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))
        return replace(finding, span=span)

    def _fix(self, line: int, indent: str, string: ast.AST | None, context: FunctionContext) -> Fix:
        source = context.module.source
        rewrite = context.rewrite()
        start = source.offset(line, 0)
        old = source.indent(line)
        rewrite.replace_span(start, start + len(old.encode()), indent)
        title = "Indent the line"
        if string is None:
            return rewrite.safe(title)
        if isinstance(context.function.parents.get(string), ast.Expr):
            return rewrite.unsafe(title, "the text of the docstring changes by white space")
        return context.rewrite().manual(
            title, "the string would change; write it with \\n on one line, or keep it outside the method"
        )


def _string_over(line: int, function: ast.AST) -> ast.AST | None:
    for node in ast.walk(function):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.lineno < line <= (node.end_lineno or node.lineno):
            return node
    return None
