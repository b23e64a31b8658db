"""A third party's codemods, as odd as the fronts must bear: overlapping fixes, broken ones, none, a crash, a
print, a long wait."""

from __future__ import annotations

import ast
import time

from graphward.rules.finding import Consequence
from graphward.rules.rule import Rule


class _Calls(Rule):
    """Calls of one function name."""

    nodes = (ast.Call,)
    called = ""

    def visit(self, node, context):
        if isinstance(node.func, ast.Name) and node.func.id == self.called:
            yield from self.found(node, context)


class Nested(_Calls):
    """`old(x)`: the fix rewrites the whole call, so that nested calls overlap."""

    code = "GW991"
    name = "specimen-nested"
    consequence = Consequence.DEPRECATED
    triggers = (b"old(",)
    called = "old"

    def found(self, node, context):
        safe, other = context.rewrite(), context.rewrite()
        argument = context.text(node.args[0])
        for rewrite, name in ((safe, "new"), (other, "newer")):
            rewrite.replace_span(context.span(node).start, context.span(node).end, f"{name}({argument})")
        fixes = (safe.safe("Use new"), other.unsafe("Use newer", "newer rounds differently"))
        yield context.finding(self, node, "old is deprecated", fixes=fixes)


class ByHand(_Calls):
    """`knotty(x)`: to be done by hand."""

    code = "GW992"
    name = "specimen-by-hand"
    consequence = Consequence.PERFORMANCE
    triggers = (b"knotty(",)
    called = "knotty"

    def found(self, node, context):
        fixes = (context.rewrite().manual("Untie it", "only you know the knot"),)
        yield context.finding(self, node, "a knot", fixes=fixes)


class Broken(_Calls):
    """`broken(x)`: the result of the fix is no Python."""

    code = "GW993"
    name = "specimen-broken"
    consequence = Consequence.INFO
    triggers = (b"broken(",)
    called = "broken"

    def found(self, node, context):
        rewrite = context.rewrite()
        rewrite.replace_span(context.span(node).start, context.span(node).end, "(((")
        yield context.finding(self, node, "a trap", fixes=(rewrite.safe("Fall in"),))


class Loud(_Calls):
    """`loud(x)`: the codemod prints; `loud(x, 1)`: it crashes."""

    code = "GW994"
    name = "specimen-loud"
    consequence = Consequence.INFO
    triggers = (b"loud(",)
    called = "loud"

    def found(self, node, context):
        print("Content-Length: this is not a message")  # noqa: T201
        if len(node.args) > 1:
            raise ZeroDivisionError("the codemod is wrong")
        yield context.finding(self, node, "loud")


class Slow(_Calls):
    """`slow(x)`: the codemod takes its time."""

    code = "GW995"
    name = "specimen-slow"
    consequence = Consequence.INFO
    triggers = (b"slow(",)
    called = "slow"

    def found(self, node, context):
        time.sleep(2)
        yield context.finding(self, node, "slow")


class Listed(_Calls):
    """`listed(x + seen(x)[0])`: the fix puts a list around the argument, by edits as a diff of the text finds them."""

    code = "GW996"
    name = "specimen-listed"
    consequence = Consequence.INFO
    triggers = (b"listed(",)
    called = "listed"

    def found(self, node, context):
        argument = node.args[0]
        if not isinstance(argument, ast.List):
            rewrite = context.rewrite()
            rewrite.insert(context.span(argument).start, "[")
            rewrite.insert(context.span(argument).end - 1, "]")
            yield context.finding(self, node, "no list", fixes=(rewrite.safe("Make a list"),))


class Seen(_Calls):
    """`seen(x)[0]`: the fix puts a call around it; together with that of `listed` the result is no Python."""

    code = "GW997"
    name = "specimen-seen"
    consequence = Consequence.INFO
    triggers = (b"seen(",)
    called = "seen"

    def found(self, node, context):
        part = context.parent(node)
        if not isinstance(context.parent(part), ast.Call):
            rewrite = context.rewrite()
            rewrite.insert(context.span(part).start, "tuple(")
            rewrite.insert(context.span(part).end, ")")
            yield context.finding(self, node, "not told", fixes=(rewrite.safe("Tell it"),))
