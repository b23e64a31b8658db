"""GW416: positional-only parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

_SLASH = re.compile(rb"\s*/\s*(,)?")


class PositionalOnly(Rule):
    """A parameter before `/` is unknown inside the function.

    ## What it finds

    `/` among the parameters of a function that a graph region compiles.

    ## Why

    The compiler leaves such parameters out (MindSpore 2.7 to 2.10):

        NameError: The name 'x' is not defined, or not supported in graph mode.

    ## Example

        def construct(self, x, /, scale=1):

    becomes

        def construct(self, x, scale=1):

    ## What the rewrite assumes

    Nothing: every call that worked still works.

    ## When it is unsafe

    When the function takes `**kwargs`: a keyword of the name of such a parameter went there.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW416"
    name = "positional-only"
    consequence = Consequence.ERROR
    triggers = (b"/",)

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        arguments = context.function.node.args
        if not arguments.posonlyargs:
            return
        module = context.module
        last: ast.AST = arguments.posonlyargs[-1]
        # A default belongs to a positional-only parameter when there are more of them than other parameters.
        defaults = len(arguments.defaults) - len(arguments.args)
        if defaults > 0:
            last = arguments.defaults[defaults - 1]
        start = module.end(last)
        data = module.source.utf8
        slash = data.index(b"/", start)
        comma = data.index(b",", start)
        rewrite = context.rewrite()
        rest = _SLASH.match(data, comma + 1)
        fixes: tuple[Fix, ...] = ()
        if rest is not None and not data[start:comma].strip():
            end = rest.end() if rest.group(1) else slash + 1
            if rest.group(1):
                # `, /, b`: what stands between the first comma and the second goes.
                rewrite.replace_span(comma + 1, end, "")
            else:
                rewrite.replace_span(comma, end, "")
            title = "Leave / out"
            reason = "a keyword of the same name went to **" + (arguments.kwarg.arg if arguments.kwarg else "")
            fixes = (rewrite.unsafe(title, reason) if arguments.kwarg else rewrite.safe(title),)
        message = f"{arguments.posonlyargs[-1].arg} is not known in the graph: it stands before /"
        yield context.finding(self, arguments.posonlyargs[-1], message, fixes=fixes)
