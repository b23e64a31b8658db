"""The functions that call one that gives a record, when it gives a tuple."""

from __future__ import annotations

import ast

from graphward.analysis.module import FunctionInfo
from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite

from .._blocks import CannotRewrite
from ._records import Made


def index_in_callers(made: Made, context: FunctionContext, rewrite: Rewrite, *, construct: bool) -> None:
    """`out.hidden` becomes `out[1]` in each function that calls this one; with `construct`, they call the `construct`
    of the Cell, which is what gives the tuple. Raises CannotRewrite where a record goes somewhere else."""
    for caller, callee in context.reached.sites:
        function = caller.function
        if function.module is not context.module:
            raise CannotRewrite(f"{function.qualname} of another file reads it: return a tuple there and here")
        for call in _calls(callee, function):
            if construct:
                if context.text(call.func).endswith(".construct"):
                    raise CannotRewrite(f"{function.qualname} calls construct itself")
                rewrite.insert(context.module.end(call.func), ".construct")
            _index(call, function, made, context, rewrite)


def _calls(callee: ast.AST, function: FunctionInfo) -> list[ast.Call]:
    """The calls of what `callee` names: itself, an element, or each in a loop."""
    parents = function.parents
    above = parents.get(callee)
    if isinstance(above, ast.Subscript) and above.value is callee:
        callee, above = above, parents.get(above)
    if isinstance(above, ast.Call) and above.func is callee:
        return [above]
    counted = isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id == "enumerate"
    loop = parents.get(above) if counted and above is not None else above
    if isinstance(loop, ast.For):
        target = loop.target
        if counted and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            target = target.elts[1]
        if isinstance(target, ast.Name):
            uses = [n for n in function.nodes if isinstance(n, ast.Name) and n.id == target.id and n is not target]
            calls = [c for n in uses if isinstance(c := parents.get(n), ast.Call) and c.func is n]
            if len(calls) == len(uses):
                return calls
    raise _as_a_whole(function)


def _index(
    call: ast.Call, function: FunctionInfo, made: Made, context: FunctionContext, rewrite: Rewrite
) -> None:
    """The fields that are read of one call's record, or of the variable that holds it."""
    parents = function.parents
    parent = parents.get(call)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        target = parent.targets[0]
        uses: list[ast.expr] = [
            n for n in function.nodes if isinstance(n, ast.Name) and n.id == target.id and n is not target
        ]
    else:
        uses = [call]
    for use in uses:
        holder = parents.get(use)
        if not (isinstance(holder, ast.Attribute) and holder.attr in made.record.fields):
            raise _as_a_whole(function)
        index = made.record.fields.index(holder.attr)
        rewrite.replace_span(context.module.end(use), context.module.end(holder), f"[{index}]")


def _as_a_whole(function: FunctionInfo) -> CannotRewrite:
    return CannotRewrite(f"{function.qualname} hands it on as a whole")
