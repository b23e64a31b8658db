"""GW208."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._from_init import Keeper, is_cell_value
from ._moving import CannotMove

_LISTS = {"trainable_params": "trained", "untrainable_params": "untrained", "get_parameters": "all_parameters"}
_NAMED = {"parameters_and_names": "parameter", "parameters_dict": "parameter"}
_CELLS = frozenset({"cells_and_names"})


class ParametersInConstruct(Rule):
    """The parameters of a Cell are listed inside graph code.

    ## What it finds

    `trainable_params()`, `get_parameters()`, `parameters_and_names()`, `parameters_dict()` and `cells_and_names()` of
    self, or of a Cell that self holds, in a graph region.

    ## Why

    These methods are closed to the compiler (MindSpore 2.7 to 2.10): `RuntimeError: Failed to compile in GRAPH_MODE
    because the method or function 'mindspore.nn.cell.Cell.trainable_params' is not supported in 'construct' or function
    with @jit decorator.`

    ## Example

        for p in self.trainable_params():
            penalty = penalty + p.sum()

    becomes, with `self.trained = ParameterTuple(self.trainable_params())` in `__init__`,

        for p in self.trained:
            penalty = penalty + p.sum()

    Names are kept in a tuple of their own.

    ## What the rewrite assumes

    That all layers are there when `__init__` ends.

    ## When it is unsafe

    Always: parameters that are frozen, thawed or added later are not seen.

    ## References

    API of `mindspore.ParameterTuple`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW208"
    name = "parameters-in-construct"
    consequence = Consequence.ERROR
    triggers = tuple(f".{m}".encode() for m in (*_LISTS, *_NAMED, *_CELLS))
    nodes = (ast.Call,)
    names = _CELLS | frozenset(_LISTS) | frozenset(_NAMED)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, ast.Attribute):
            return
        method = node.func.attr
        if method not in _LISTS and method not in _NAMED and method not in _CELLS:
            return
        if not is_cell_value(node.func.value, context):
            return
        message = f"{context.text(node.func)} inside graph code does not compile"
        yield context.finding(self, node, message, fixes=(_fix(node, method, context),))


def _fix(node: ast.Call, method: str, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    place = _by_name(node, method, context)
    if place:
        parent = context.parent(node)
        assert isinstance(parent, ast.Subscript)
        rewrite.replace(parent, place, context.parent(parent))
        return rewrite.unsafe("Read it where it is", "a Parameter that was given another name is found by its place")
    title = "Keep them in a ParameterTuple"
    try:
        _replace(node, method, context, rewrite)
    except CannotMove as reason:
        advice = "make a ParameterTuple in __init__ and iterate over that"
        return context.rewrite().manual(title, f"not changed by itself: {reason}; {advice}")
    return rewrite.unsafe(title, "they are those at the end of __init__: what is frozen or added later is not seen")


def _by_name(node: ast.Call, method: str, context: FunctionContext) -> str:
    """`self.dense.weight` for `self.parameters_dict()["dense.weight"]`; empty where the key is no such place."""
    parent = context.parent(node)
    if method != "parameters_dict" or node.args or node.keywords or not isinstance(node.func, ast.Attribute):
        return ""
    if not isinstance(parent, ast.Subscript) or not isinstance(parent.ctx, ast.Load):
        return ""
    key = parent.slice.value if isinstance(parent.slice, ast.Constant) else None
    steps = key.split(".") if isinstance(key, str) else []
    if not steps or context.cell is None or context.text(node.func.value) != context.function.receiver:
        return ""
    if steps[0] not in context.project.attribute_values(context.cell):
        return ""
    if not all(step.isidentifier() or step.isdecimal() for step in steps):
        return ""
    return context.text(node.func.value) + "".join(f"[{s}]" if s.isdecimal() else f".{s}" for s in steps)


def _replace(node: ast.Call, method: str, context: FunctionContext, rewrite: Rewrite) -> None:
    keeper = Keeper(context)
    call = keeper.call(node)
    module = context.module
    tuple_ = rewrite.spell("mindspore.ParameterTuple")
    if method in _LISTS:
        kept = keeper.set(rewrite, node, _LISTS[method], f"{tuple_}({call})")
        rewrite.replace_span(module.start(node), module.end(node), kept)
        return
    if method not in _NAMED:
        raise CannotMove("Cells and their names cannot be kept together")
    pairs = f"{call}.items()" if method == "parameters_dict" else call
    target: ast.expr = node
    view = "items"
    if method == "parameters_dict":
        parent = context.parent(node)
        whole = context.parent(parent) if parent is not None else None
        views = ("items", "values")
        if not (isinstance(parent, ast.Attribute) and isinstance(whole, ast.Call) and parent.attr in views):
            raise CannotMove("the dict itself is used")
        target, view = whole, parent.attr
    if not isinstance(context.parent(target), (ast.For, ast.comprehension)):
        raise CannotMove("it is not iterated over")
    params = keeper.set(rewrite, node, "listed_parameters", f"{tuple_}([p for _, p in {pairs}])")
    if view == "values":
        rewrite.replace_span(module.start(target), module.end(target), params)
        return
    names = keeper.set(rewrite, node.func, "listed_names", f"tuple(n for n, _ in {pairs})")
    rewrite.replace_span(module.start(target), module.end(target), f"zip({names}, {params})")
