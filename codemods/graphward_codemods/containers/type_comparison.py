"""GW414: comparisons of `type(x)`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._python import is_builtin, traced_name

_SEQUENCES = (ast.Tuple, ast.List, ast.Set)


class TypeComparison(Rule):
    """`type(x)` of a Tensor is not known while compiling.

    ## What it finds

    `type(x) is T`, `type(x) == T`, `type(x) in (T, U)` and their negations in a graph region, where `x` is a Tensor or
    holds one, or is the Cell itself. `type(n)` of a Python constant is folded, and is left alone.

    ## Why

    `type` is called by the Python interpreter, which refuses a traced value (MindSpore 2.7 to 2.10):

        ValueError: When handling script 'type(x) in graph mode', the inputs should be constant

    At the default syntax level it is called at run time. `isinstance` has a graph form and is folded.

    ## Example

        if type(x) in (list, tuple):

    becomes

        if isinstance(x, (list, tuple)):

    ## What the rewrite assumes

    That instances of subclasses are meant too.

    ## When it is unsafe

    Always: a Parameter is a Tensor for `isinstance`, and not for `type`.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW414"
    name = "type-comparison"
    consequence = Consequence.FALLBACK
    triggers = (b"type(",)
    nodes = (ast.Call,)
    names = frozenset({"type"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not (isinstance(node.func, ast.Name) and node.func.id == "type" and len(node.args) == 1):
            return
        if node.keywords or not is_builtin(node.func, context):
            return
        subject = node.args[0]
        of_self = isinstance(subject, ast.Name) and subject.id == context.function.receiver
        parent = context.parent(node)
        compared = isinstance(parent, ast.Compare)
        traced = traced_name(subject, context)
        if not traced and not (of_self and compared):
            return
        consequence = Consequence.ERROR if of_self else Consequence.FALLBACK
        fixes = _fixes(node, parent, context) if isinstance(parent, ast.Compare) else ()
        if not fixes:
            manual = "say with isinstance what kind of value is meant, or compute the name of the type in __init__"
            fixes = (context.rewrite().manual("Do without the type", manual),)
        message = "type() of a traced value is computed by the Python interpreter"
        yield context.finding(self, node, message, evidence=(traced,), fixes=fixes, consequence=consequence)


def _fixes(node: ast.Call, parent: ast.Compare, context: FunctionContext) -> tuple[Fix, ...]:
    if len(parent.ops) != 1:
        return ()
    other = parent.comparators[0] if parent.left is node else parent.left
    operator = parent.ops[0]
    if isinstance(operator, (ast.In, ast.NotIn)) and (other is parent.left or not isinstance(other, _SEQUENCES)):
        return ()
    if not isinstance(operator, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
        return ()
    types = context.text(other)
    if isinstance(other, (ast.List, ast.Set)):
        types = f"({types[1:-1]},)" if len(other.elts) == 1 else f"({types[1:-1]})"
    if isinstance(other, ast.Call) and isinstance(other.func, ast.Name) and other.func.id == "type":
        return ()
    test = f"isinstance({context.text(node.args[0])}, {types})"
    if isinstance(operator, (ast.IsNot, ast.NotEq, ast.NotIn)):
        test = f"not {test}"
    rewrite = context.rewrite()
    rewrite.replace(parent, test, context.parent(parent))
    return (rewrite.unsafe("Use isinstance", "an instance of a subclass passes too"),)
