"""GW612: Python values as arguments that compile a graph anew at each call."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from graphward.analysis.tree import preorder
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._wrappers import bound_in, compiled, loops_around, reads

_FEW = 3  # values that are no more than a few variants of one graph
_DISPLAYS = (ast.List, ast.Tuple, ast.Dict)
_NUMBERS = frozenset({"int", "float", "len", "round"})


class UnstableArguments(Rule):
    """A compiled function is called in a loop with Python values that differ from round to round.

    ## What it finds

    In a loop outside of graph code, a call of a function under `jit`, of `jit(function)`, or of a Cell with a compiled
    `construct`, with an argument that is

    - a number which changes: the index of the loop, `float(...)`, `int(...)`, `len(...)`, `.item()`;
    - a list, tuple or dict written there, with what the loop computes.

    ## Why

    Python values are constants of the graph: another value is another graph. Of a list, tuple or dict of Tensors not
    even the same shapes help, it compiles at every call. Counted over four calls on MindSpore 2.7 and 2.10: a number or
    a container 4 compilations, `mutable(...)` around it or a Tensor 1.

    ## Example

        for step, x in enumerate(data):
            loss = train(x, step)

    becomes

        for step, x in enumerate(data):
            loss = train(x, mutable(step))

    ## What the rewrite assumes

    That the function takes what is a variable then: `if`, arithmetic, `range` and `reshape` do (measured).

    ## When it is unsafe

    Always: what has to be constant, such as an axis or a dtype chosen by it, does not compile any more. None and
    strings cannot be mutable.

    ## References

    `mindspore.mutable`. Measured on MindSpore 2.7 and 2.10 CPU by counting compilations.
    """

    code = "GW612"
    name = "unstable-arguments"
    consequence = Consequence.PERFORMANCE
    triggers = (b"jit", b"ms_function")

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        for call in context.calls:
            if not isinstance(call.func, ast.Name) or not (call.args or call.keywords):
                continue
            loops = list(loops_around(context, call))
            if not loops or context.function_at(call) in context.inference.reached:
                continue
            if compiled(context, call.func) is None:
                continue
            for argument in (*call.args, *(k.value for k in call.keywords if k.arg is not None)):
                why = _unstable(argument, loops)
                if why:
                    message = f"{call.func.id} compiles anew in each round: {why}"
                    yield context.finding(self, argument, message, fixes=(_mutable(context, argument),))


def _unstable(argument: ast.expr, loops: list[ast.For | ast.While | ast.AsyncFor]) -> str:
    """Why an argument is another one in each round, else empty."""
    if isinstance(argument, _DISPLAYS):
        parts = reads(argument)
        if any(parts & bound_in(loop) for loop in loops):
            what = {ast.List: "list", ast.Tuple: "tuple", ast.Dict: "dict"}[type(argument)]
            return f"a {what} is constant to the graph, with all that is in it"
        return ""
    if isinstance(argument, ast.Call) and reads(argument) & bound_in(loops[0]):
        func = argument.func
        if isinstance(func, ast.Name) and func.id in _NUMBERS and len(argument.args) == 1:
            return f"{func.id}(...) is a number of Python, constant to the graph"
        if isinstance(func, ast.Attribute) and func.attr == "item" and not argument.args:
            return ".item() is a number of Python, constant to the graph"
        return ""
    names = {n.id for n in ast.walk(argument) if isinstance(n, ast.Name)}
    plain = all(isinstance(n, (ast.Name, ast.BinOp, ast.Constant, ast.UnaryOp)) for n in preorder(argument))
    counters = {name for loop in loops for name in _counters(loop)}
    if plain and names and names <= counters:
        return f"{', '.join(sorted(names))} is a number of Python, constant to the graph"
    return ""


def _counters(loop: ast.stmt) -> Iterator[str]:
    """The variables of a loop that are numbers: those of `range`, and the first of `enumerate`."""
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call) or not isinstance(loop.iter.func, ast.Name):
        return
    target, made = loop.target, loop.iter
    if loop.iter.func.id == "range" and isinstance(target, ast.Name):
        last = made.args[-1] if made.args else None
        known = last.value if len(made.args) == 1 and isinstance(last, ast.Constant) else None
        if not (isinstance(known, int) and known <= _FEW):
            yield target.id
    elif loop.iter.func.id == "enumerate" and isinstance(target, ast.Tuple) and isinstance(target.elts[0], ast.Name):
        yield target.elts[0].id


def _mutable(context: ModuleContext, argument: ast.expr) -> Fix:
    function = context.function_at(argument)
    rewrite = context.rewrite(function.names if function else None)
    spelled = rewrite.spell("mindspore.mutable")
    start, end = context.module.start(argument), context.module.end(argument)
    tuple_without = isinstance(argument, ast.Tuple) and not context.text(argument).startswith("(")
    rewrite.insert(start, f"{spelled}(" + ("(" if tuple_without else ""))
    rewrite.insert(end, ")" + (")" if tuple_without else ""))
    doubt = "it is a variable of the graph then: what must be constant does not compile"
    return rewrite.unsafe("Make it mutable", doubt)
