"""GW316: loops that unroll beyond the compiler's depth limit."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, block_lines, indent_of, own_nodes, replace_statement, step_of
from .._python import literal_number

# A round of a loop takes two calls, each `if` in it one more; the limit is 1000 calls.
_ROUND, _BRANCH, _LIMIT = 2, 1, 1000


class LoopDepth(Rule):
    """A loop over a constant range unrolls beyond the compiler's depth limit.

    ## What it finds

    `for` over `range` of literal numbers, alone or one in another, that needs more than 1000 calls: about 500 rounds,
    or 330 with an `if` in them.

    ## Why

    The compiler unrolls such a loop, a call within a call for each round (MindSpore 2.7 to 2.10):

        RuntimeError: Exceed function call depth limit 1000, (function call depth: 1001, simulate call depth: 1000).

    ## Example

        for i in range(600):
            x = x + i

    becomes

        i = Tensor(0, ms.int32)
        while i < 600:
            x = x + i
            i = i + 1

    ## What the rewrite assumes

    That what the loop carries keeps its type, and that the number is not used where only a Python number will do.

    ## When it is unsafe

    Always: the number of the round is a Tensor.

    ## References

    Measured on MindSpore 2.10.0 CPU: 490 plain rounds compile, 500 do not. `set_recursion_limit` of `mindspore` raises
    the limit instead.
    """

    code = "GW316"
    name = "loop-depth"
    consequence = Consequence.ERROR
    triggers = (b"range(",)
    nodes = (ast.For,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.For)
        if _rounds(node) is None or _depth(node) <= _LIMIT or _inside_another(node, context):
            return
        message = f"the loop unrolls to about {_depth(node)} calls, of which the compiler takes {_LIMIT}"
        yield context.finding(self, node, message, fixes=(_fix(node, context),))


def _bounds(node: ast.For) -> tuple[int, int, int] | None:
    call = node.iter
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
        return None
    values = [literal_number(a) for a in call.args]
    if not values or call.keywords or not all(type(v) is int for v in values):
        return None
    numbers = [v for v in values if isinstance(v, int)]
    start, stop = (0, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])
    step = numbers[2] if len(numbers) > 2 else 1
    return (start, stop, step) if step else None


def _rounds(node: ast.For) -> int | None:
    bounds = _bounds(node)
    return None if bounds is None else len(range(*bounds))


def _depth(node: ast.For) -> int:
    rounds = _rounds(node) or 0
    inner = _ROUND
    for child in own_nodes(node.body):
        if isinstance(child, ast.If):
            inner += _BRANCH
        elif isinstance(child, ast.For) and not any(child in own_nodes(o.body) for o in _loops(node)):
            inner += _depth(child)
    return rounds * inner


def _loops(node: ast.For) -> list[ast.For]:
    return [n for n in own_nodes(node.body) if isinstance(n, ast.For)]


def _inside_another(node: ast.For, context: FunctionContext) -> bool:
    """Whether a loop around it is too deep already: one finding will do."""
    parent = context.parent(node)
    while parent is not None and parent is not context.function.node:
        if isinstance(parent, ast.For) and _rounds(parent) is not None and _depth(parent) > _LIMIT:
            return _depth(node) <= _LIMIT
        parent = context.parent(parent)
    return False


def _fix(node: ast.For, context: FunctionContext) -> Fix:
    title = "Let the graph hold the loop"
    rewrite = context.rewrite()
    bounds = _bounds(node)
    try:
        if bounds is None or not isinstance(node.target, ast.Name) or node.orelse:
            raise CannotRewrite("its variable is not plain")
        _check_body(node, context)
        name = node.target.id
        start, stop, step = bounds
        indent, inner = indent_of(context.module, node), indent_of(context.module, node) + step_of(context.function)
        made, dtype = rewrite.spell("mindspore.Tensor"), rewrite.spell("mindspore.int32")
        sign = "<" if step > 0 else ">"
        count = f"{name} = {name} {'+' if step > 0 else '-'} {abs(step)}"
        body = block_lines(context.module, node.body, inner, node.iter.end_lineno or node.lineno)
        jumps = any(isinstance(n, ast.Continue) for n in own_nodes(node.body, loops=False))
        if jumps:
            lines = [f"{indent}{name} = {made}({start - step}, {dtype})", f"{indent}while {name} {sign} {stop - step}:",
                     inner + count, *body]  # fmt: skip
        else:
            lines = [f"{indent}{name} = {made}({start}, {dtype})", f"{indent}while {name} {sign} {stop}:", *body,
                     inner + count]  # fmt: skip
        replace_statement(context, rewrite, node, lines)
    except CannotRewrite as reason:
        return context.rewrite().manual(title, f"not changed by itself: {reason}")
    return rewrite.unsafe(title, "the number of the round is a Tensor")


def _check_body(node: ast.For, context: FunctionContext) -> None:
    """Raises CannotRewrite when the body needs the number itself, or collects in a list."""
    assert isinstance(node.target, ast.Name)
    name = node.target.id
    parents = context.function.parents
    for child in own_nodes(node.body):
        if isinstance(child, ast.Name) and child.id == name:
            above = parents[child]
            if not isinstance(child.ctx, ast.Load):
                raise CannotRewrite(f"{name} is assigned in the loop")
            if isinstance(above, ast.FormattedValue) or (isinstance(above, ast.Call) and child in above.args):
                raise CannotRewrite(f"{name} may have to be a number")
            if isinstance(above, ast.Subscript) and not context.kind(above.value).is_tensor:
                raise CannotRewrite(f"{name} is an index into a container")
        if isinstance(child, ast.Attribute) and child.attr in ("append", "extend", "insert"):
            raise CannotRewrite("the loop collects in a list")
