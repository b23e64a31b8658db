"""Layers made in one graph whose parameters get the same name: the compiler refuses the second one."""

from __future__ import annotations

import ast

from graphward.rules.context import FunctionContext

from ._creations import Creation, What, constructed
from ._loops import depends_on_loops
from ._plan import Plan


def clash(context: FunctionContext, plan: Plan, creation: Creation) -> str:
    """Why compiling fails over the parameters of this layer, or over its arguments; empty when it does not.

    MindSpore names the parameters of a layer made in graph code after the layer's own attributes, without a prefix, so
    two layers with a `weight` clash. A Cell of the user's own is different: made twice with equal arguments it is made
    once, and both uses share its weights.
    """
    parts = [*creation.call.args, *(k.value for k in creation.call.keywords)]
    for part in parts:
        if isinstance(part, ast.Constant):
            continue
        kind = context.kind(part)
        if kind.variable and (kind.certain or kind.is_tensor):
            return f"its argument `{context.text(part)}` is no constant while compiling"
        if any(isinstance(n, ast.Call) and _makes_cell(context, n) for n in _elements(part)):
            return "a list of layers is no constant while compiling"
    made = plan.made(creation)
    if not made.weights:
        return ""
    first = next(iter(made.weights))
    loops = [loop for loop in creation.loops if not _at_most_once(loop)]
    if loops and (creation.made is None or depends_on_loops(creation)):
        return f"each iteration makes a parameter named {first!r}"
    for other in plan.creations:
        if other is creation or other.what is not What.LAYER or _exclusive(context, creation, other):
            continue
        if creation.made is not None and other.made is creation.made and _arguments(creation) == _arguments(other):
            continue
        common = made.weights.keys() & plan.made(other).weights.keys()
        if common and _same_graph(context, creation, other):
            name = next(n for n in made.weights if n in common)
            return f"it and the {other.name} in line {other.call.lineno} both make a parameter named {name!r}"
    return ""


def _elements(node: ast.expr) -> list[ast.AST]:
    return list(ast.walk(node)) if isinstance(node, (ast.List, ast.Tuple, ast.Dict, ast.ListComp)) else []


def _makes_cell(context: FunctionContext, call: ast.Call) -> bool:
    found = constructed(context.project, context.function, call)
    return found is not None and found.what is What.LAYER


def _at_most_once(loop: ast.AST) -> bool:
    """`range(1)` and one-element literals."""
    iterable = loop.iter if isinstance(loop, ast.For) else None
    if isinstance(iterable, (ast.Tuple, ast.List)):
        return len(iterable.elts) < 2
    if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.func.id == "range":
        if len(iterable.args) == 1 and isinstance(iterable.args[0], ast.Constant):
            return isinstance(iterable.args[0].value, int) and iterable.args[0].value < 2
    return False


def _arguments(creation: Creation) -> str:
    return ast.dump(
        ast.Call(func=ast.Name(id="_", ctx=ast.Load()), args=creation.call.args, keywords=creation.call.keywords)
    )


def _same_graph(context: FunctionContext, first: Creation, second: Creation) -> bool:
    """Whether one region compiles both."""
    one, other = (context.inference.reached.get(c.function) for c in (first, second))
    return one is not None and other is not None and one.region.root is other.region.root


def _exclusive(context: FunctionContext, first: Creation, second: Creation) -> bool:
    """Whether the compiler drops one of the two, since they stand in different arms of a constant condition."""
    mine = dict(first.arms)
    for node, arm in second.arms:
        if node in mine and mine[node] != arm:
            return not context.inference.kind(second.function, node.test).variable
    if first.function is not second.function:
        return False
    return _leaves(context, first, second) or _leaves(context, second, first)


def _leaves(context: FunctionContext, early: Creation, late: Creation) -> bool:
    """Whether the branch of `early`, under a constant condition, returns before `late`."""
    for node, arm in early.arms:
        if isinstance(node, ast.If) and node not in dict(late.arms):
            body = node.body if arm == "body" else node.orelse
            if isinstance(body[-1], (ast.Return, ast.Raise)):
                return not context.inference.kind(early.function, node.test).variable
    return False
