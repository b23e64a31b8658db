"""GW315: shapes that grow in a loop over a Tensor condition."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, own_nodes
from .._call_side import check_call_side, insert_call_side, plain_parameters, signature_text
from .._python import literal_number
from ._traced import assigned_before, is_traced_loop

_JOINERS = frozenset({"cat", "concat", "concatenate", "Concat", "hstack", "vstack", "dstack", "append", "column_stack"})


class GrowingShape(Rule):
    """A Tensor grows in a loop that a Tensor ends.

    ## What it finds

    `out = ops.cat((out, x))` and the like in the body of a `while` whose condition is a Tensor, or of a
    `for ... in range(int(n))` over one.

    ## Why

    The loop stays a loop in the graph, and a shape that is another in each round has no end for the compiler
    (MindSpore 2.7 to 2.10): `RuntimeError: Exceed function call depth limit 1000`, or `ValueError: Shape should have
    only one -2 for normal tensor`.

    ## Example

        i = Tensor(0)
        while i < 2:
            x = ops.cat((x, x))
            i = i + 1

    becomes a loop that the compiler unrolls,

        i = 0
        while i < 2:
            x = ops.cat((x, x))
            i = i + 1

    Where an argument of the call decides, `__call__` hands it to the graph as a Python number:

        def __call__(self, x, n):
            return super().__call__(x, int(n))

    ## What the rewrite assumes

    That the counter, or the argument, holds an integer, and is only counted and compared with numbers.

    ## When it is unsafe

    Always: the counter is a Python number, and the graph holds each round; each number of rounds compiles a graph of
    its own. Where there are too many, make a Tensor of the largest size before the loop, write each part into it and
    mask the rest, or build the result outside the graph.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW315"
    name = "growing-shape"
    consequence = Consequence.ERROR
    triggers = (b"while", b"range(")
    nodes = (ast.While, ast.For)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, (ast.While, ast.For))
        grown = [(n, v) for s in own_nodes(node.body) if isinstance(s, ast.Assign) for n, v in _grows(s)]
        if not grown or not is_traced_loop(node, context):
            return
        for name, value in grown:
            if not context.kind(value).is_tensor:
                continue
            message = f"{name} grows in each round of a loop that a Tensor ends"
            yield context.finding(self, value, message, fixes=_fixes(node, context))


def _grows(statement: ast.Assign) -> list[tuple[str, ast.expr]]:
    """`(name, value)` of `name = cat((name, ...))`."""
    target, call = statement.targets[0], statement.value
    if not isinstance(target, ast.Name) or not isinstance(call, ast.Call):
        return []
    func = call.func
    inner = func.func if isinstance(func, ast.Call) else func
    last = inner.attr if isinstance(inner, ast.Attribute) else inner.id if isinstance(inner, ast.Name) else ""
    if last not in _JOINERS or not call.args:
        return []
    pieces = call.args[0].elts if isinstance(call.args[0], (ast.Tuple, ast.List)) else call.args
    return [(target.id, call)] if any(isinstance(p, ast.Name) and p.id == target.id for p in pieces) else []


def _fixes(node: ast.While | ast.For, context: FunctionContext) -> tuple[Fix, ...]:
    rewrite = context.rewrite()
    start = _counter_start(node, context) if isinstance(node, ast.While) else None
    if start is not None:
        call, value = start
        rewrite.replace(call, context.text(value), context.parent(call))
        reason = "the counter is no Tensor any more, and the graph holds each round of the loop"
        return (rewrite.unsafe("Count with a Python number", reason),)
    advice = (
        "where a largest number of rounds is known, make a Tensor of that size before the loop, write each part into "
        "it (`out[i] = part`), and mask what was not written; else join the parts outside the graph"
    )
    by_hand = context.rewrite().manual("Keep the shape", advice)
    try:
        return _counted_outside(node, context), by_hand
    except CannotRewrite:
        return (by_hand,)


def _counted_outside(node: ast.While | ast.For, context: FunctionContext) -> Fix:
    """Arguments of the call that decide alone how often the loop runs become Python numbers in `__call__`."""
    check_call_side(context)
    parameters = plain_parameters(context)
    deciding = _deciding(node, parameters, context)
    arguments = [f"int({name})" if name in deciding else name for name in parameters]
    rewrite = context.rewrite()
    for read in _reads_as_numbers(deciding, context):
        rewrite.replace(read, context.text(read.args[0]), context.parent(read))
    insert_call_side(
        context, rewrite, signature_text(context), [f"return super().__call__({', '.join(arguments)})"]
    )
    reason = "each number of rounds compiles a graph of its own, which holds each of them; the argument is no Tensor"
    return rewrite.unsafe(f"Hand {' and '.join(deciding)} to the graph as a Python number", reason)


def _deciding(node: ast.While | ast.For, parameters: list[str], context: FunctionContext) -> list[str]:
    """The parameters of an integer dtype that the head of the loop reads, which change by numbers only."""
    head = node.test if isinstance(node, ast.While) else node.iter
    read = list(dict.fromkeys(n.id for n in ast.walk(head) if isinstance(n, ast.Name)))
    deciding = [name for name in parameters if name in read]
    local = {name for name in read if context.function.names.is_local(name)} - set(deciding)
    if not deciding or any(isinstance(n, (ast.Attribute, ast.Subscript)) for n in ast.walk(head)):
        raise CannotRewrite("no argument decides")
    if any(before is None or literal_number(before.value) is None
           for before in (assigned_before(name, node, context) for name in local)):  # fmt: skip
        raise CannotRewrite("what the graph computes decides")
    counted = {*deciding, *local}
    for use in context.function.nodes:
        if isinstance(use, ast.Name) and use.id in counted and not _is_counting(use, counted, node, context):
            raise CannotRewrite(f"{use.id} is used as a Tensor")
    return deciding


def _is_counting(use: ast.Name, counted: set[str], loop: ast.While | ast.For, context: FunctionContext) -> bool:
    """Whether a Python number does the same here: in arithmetic, comparisons, `range` and `int`, and no integer is
    divided."""
    parent = context.parent(use)
    if isinstance(use.ctx, ast.Store):
        if isinstance(parent, ast.AugAssign):
            return _is_whole(parent.op) and _is_number(parent.value, counted)
        return isinstance(parent, ast.Assign) and len(parent.targets) == 1 and _is_number(parent.value, counted)
    while isinstance(parent, (ast.BinOp, ast.UnaryOp)):
        if isinstance(parent, ast.BinOp) and not _is_whole(parent.op):
            return False
        parent = context.parent(parent)
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id in ("range", "int")
    if isinstance(parent, ast.Compare):
        return True
    return parent is loop or (isinstance(parent, (ast.Assign, ast.AugAssign)) and parent.value is not use)


def _is_whole(op: ast.operator) -> bool:
    return isinstance(op, (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod))


def _is_number(node: ast.expr, counted: set[str]) -> bool:
    """Whether a value is an integer made of the counters and of literals."""
    if isinstance(node, ast.BinOp):
        return _is_whole(node.op) and _is_number(node.left, counted) and _is_number(node.right, counted)
    if isinstance(node, ast.Name):
        return node.id in counted
    return isinstance(literal_number(node), int)


def _reads_as_numbers(names: list[str], context: FunctionContext) -> list[ast.Call]:
    """`int(n)` of what is a number now."""
    return [
        n for n in context.function.nodes
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "int" and len(n.args) == 1
        and isinstance(n.args[0], ast.Name) and n.args[0].id in names
    ]  # fmt: skip


def _counter_start(node: ast.While, context: FunctionContext) -> tuple[ast.Call, ast.expr] | None:
    """`Tensor(0)` that a counter starts with, and the number in it, where numbers decide how often the loop runs."""
    test = node.test
    if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and len(test.ops) == 1):
        return None
    name = test.left.id
    if literal_number(test.comparators[0]) is None:
        return None
    before = assigned_before(name, node, context)
    call = before.value if before is not None else None
    if not (isinstance(call, ast.Call) and call.args and literal_number(call.args[0]) is not None):
        return None
    if context.resolve(call.func) not in ("mindspore.Tensor", "mindspore.tensor"):
        return None
    parents = context.function.parents
    for use in context.function.nodes:
        if isinstance(use, ast.Name) and use.id == name:
            parent = parents[use]
            if isinstance(parent, ast.BinOp):
                other = parent.right if parent.left is use else parent.left
                plain = literal_number(other) is not None and isinstance(parents[parent], ast.Assign)
            else:
                plain = parent is test or isinstance(parent, ast.Assign) or (
                    isinstance(parent, ast.AugAssign) and literal_number(parent.value) is not None
                )
            if not plain:
                return None
    return call, call.args[0]
