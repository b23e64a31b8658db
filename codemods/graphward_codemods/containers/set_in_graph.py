"""GW401: sets."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite
from .._python import is_builtin, traced_name
from ._ahead import Part, evaluated_once, must_run_once, take_ahead

_MAKERS = frozenset({"set", "frozenset"})
_KNOWN = frozenset({Tag.SEQUENCE, Tag.SHAPE})


class SetInGraph(Rule):
    """A set in braces does not compile.

    ## What it finds

    `{1, 2}` and `{f(i) for i in values}` in a graph region, and `set(...)` and `frozenset(...)` of an expression that
    names a Tensor (`set(x.shape)`). `set((1, 2))`, `set(dims)` of a variable, and sets made outside of the graph
    compile, and are left alone.

    ## Why

    The compiler knows no such expression (MindSpore 2.7 to 2.10):

        RuntimeError: Unsupported expression 'Set'.
        RuntimeError: Unsupported expression 'SetComp'.

    `set(...)` is called by Python while the graph is compiled, with the text of its argument, in which no Tensor may be
    named, whatever is asked of it:

        ValueError: When handling script 'set(x.shape) in graph mode', the inputs should be constant

    ## Example

        if self.kind in {"relu", "gelu"}:

    becomes

        if self.kind in ("relu", "gelu"):

    and elsewhere `{1, 2}` becomes `set((1, 2))`, which Python makes while the graph is compiled. What is asked of a
    Tensor gets a variable first:

        if len({x.shape, y.shape}) > 1:

    becomes

        elements = (x.shape, y.shape)
        if len(set(elements)) > 1:

    ## What the rewrite assumes

    That the elements are constants: a set of Tensors stays unknown to the compiler, and becomes a tuple.

    ## When it is unsafe

    When an element depends on a Tensor: the tuple may hold equal elements twice. Where nothing can be put before the
    statement (in a comprehension, under a condition), a set of what is asked of Tensors has no rewrite.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW401"
    name = "set-in-graph"
    consequence = Consequence.ERROR
    triggers = (b"{", b"set(")
    nodes = (ast.Set, ast.SetComp, ast.Call)
    names = _MAKERS

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        if isinstance(node, ast.Call):
            if _is_asked_of_tensors(node, context):
                message = f"{context.text(node.func)}() of an expression with a Tensor in it is left to the interpreter"
                fixes = (_ahead(node, context),)
                yield context.finding(self, node, message, fixes=fixes, consequence=Consequence.FALLBACK)
            return
        assert isinstance(node, (ast.Set, ast.SetComp))
        what = "a set in braces" if isinstance(node, ast.Set) else "a set comprehension"
        yield context.finding(self, node, f"{what} does not compile", fixes=(_fix(node, context),))


def _is_asked_of_tensors(node: ast.AST, context: FunctionContext) -> bool:
    """Whether a set that is no Tensor's names Tensors in its elements, as `set(x.shape)` and `{x.shape, y.shape}`."""
    if isinstance(node, ast.Call):
        func = node.func
        if not (isinstance(func, ast.Name) and func.id in _MAKERS and len(node.args) == 1 and not node.keywords):
            return False
        inner = node.args[0]
        if isinstance(inner, (ast.Name, ast.Constant, ast.Set, ast.SetComp)) or not is_builtin(func, context):
            return False
    elif isinstance(node, (ast.Set, ast.SetComp)):
        parent = context.parent(node)
        if isinstance(parent, ast.Compare) and node in parent.comparators and _tests_membership(parent, node):
            return False
        inner = node
    else:
        return False
    kind = context.kind(inner)
    return kind.tag in _KNOWN and not kind.variable and traced_name(inner, context) != ""


def _ahead(node: ast.expr, context: FunctionContext) -> Fix:
    """The elements of all such sets of a statement get variables above it."""
    rewrite = context.rewrite()
    statement = context.statement(node)
    try:
        inside = preorder(*evaluated_once(statement))
        must_run_once(node, statement, context)
        asked = [n for n in inside if isinstance(n, ast.expr) and _is_asked_of_tensors(n, context)]
        here = [n for n in asked if _runs_once(n, statement, context)]
        parts = [_part(n, context) for n in sorted(here, key=context.module.start)]
        take_ahead(context, rewrite, statement, parts, "elements")
    except CannotRewrite as reason:
        advice = f"{reason}; keep the elements in a variable in a statement before (`dims = x.shape`, `set(dims)`)"
        return context.rewrite().manual("Give the elements a variable", advice)
    return rewrite.safe("Give the elements a variable")


def _runs_once(node: ast.expr, statement: ast.stmt, context: FunctionContext) -> bool:
    try:
        must_run_once(node, statement, context)
    except CannotRewrite:
        return False
    return True


def _part(node: ast.expr, context: FunctionContext) -> Part:
    if isinstance(node, ast.Call):
        inner = node.args[0]
        if not isinstance(inner, ast.GeneratorExp):
            return Part(inner, context.text(inner))
        text = context.text(inner)
        bare = context.module.start(inner) == context.module.end(node.func)
        # The parentheses of a generator are those of the call.
        return Part(inner, f"[{text[1:-1]}]", "({})" if bare else "{}")
    inner_text = context.text(node)[1:-1].strip()
    if isinstance(node, ast.Set):
        comma = "," if len(node.elts) == 1 and not inner_text.endswith(",") else ""
        return Part(node, f"({inner_text}{comma})", "set({})")
    return Part(node, f"[{inner_text}]", "set({})")


def _fix(node: ast.Set | ast.SetComp, context: FunctionContext) -> Fix:
    if _is_asked_of_tensors(node, context) and is_builtin(ast.Name("set", ast.Load()), context):
        return _ahead(node, context)
    rewrite = context.rewrite()
    parent = context.parent(node)
    inner = context.text(node)[1:-1].strip()
    traced = traced_name(node, context)
    if isinstance(node, ast.Set):
        comma = "," if len(node.elts) == 1 and not inner.endswith(",") else ""
        sequence = f"({inner}{comma})"
    else:
        sequence = f"[{inner}]"
    if isinstance(parent, ast.Compare) and node in parent.comparators and _tests_membership(parent, node):
        rewrite.replace(node, sequence, parent)
        return rewrite.safe("Test membership in a sequence")
    if not traced and is_builtin(ast.Name("set", ast.Load()), context):
        if isinstance(parent, ast.Call) and parent.args == [node] and isinstance(parent.func, ast.Name):
            if parent.func.id in _MAKERS and is_builtin(parent.func, context):
                rewrite.replace(node, sequence, parent)
                return rewrite.safe("Make it of a sequence")
        rewrite.replace(node, f"set({sequence})", parent)
        return rewrite.safe("Make it with set()")
    rewrite.replace(node, sequence, parent)
    return rewrite.unsafe("Use a sequence", "equal elements are not merged, and a tuple has no methods of a set")


def _tests_membership(parent: ast.Compare, node: ast.expr) -> bool:
    return isinstance(parent.ops[parent.comparators.index(node)], (ast.In, ast.NotIn))
