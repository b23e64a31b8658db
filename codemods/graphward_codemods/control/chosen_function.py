"""GW324: functions that a Tensor chooses."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.analysis.module import FunctionInfo
from graphward.analysis.names import Names
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, fresh
from ._traced import traced_test
from ._ways import Pair, keep_condition, pairs

_CALLED = (ast.Name, ast.Attribute, ast.Lambda)
# Layers that are one operator, and nothing else, in the graph.
_LAYERS = frozenset({"ReLU", "Tanh", "GELU", "Sigmoid", "SiLU", "Identity"})


class ChosenFunction(Rule):
    """A Tensor chooses which operator is called.

    ## What it finds

    Where a Tensor decides: a name that is `ops.relu` on one way and another function on the other, and the same for
    `f = a if condition else b` and `(a if condition else b)(x)`. At least one of the two is an operator, a Primitive or
    a layer that is nothing but an operator. The graph may choose between functions of the project, and between layers
    with parameters, though these have no gradient then.

    ## Why

    An operator is no graph that a branch could give back (MindSpore 2.7 to 2.10):

        RuntimeError: Get func graphs from abstract failed.

    So under `jit`; a Cell that is called in Graph Mode compiles with operators. Of Primitives both take one, whatever
    the Tensor says, and tell nobody.

    ## Example

        if x.sum() > 3:
            f = ops.relu
        else:
            f = ops.tanh
        return f(x)

    becomes

        chosen_f = x.sum() > 3
        return ops.relu(x) if chosen_f else ops.tanh(x)

    ## What the rewrite assumes

    That the functions are not bound anew between the choice and the call.

    ## When it is unsafe

    Always: what the functions are is looked up where they are called. Where the function goes elsewhere than into a
    call nothing is changed.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW324"
    name = "chosen-function"
    consequence = Consequence.ERROR
    triggers = (b"if ", b"if(")
    nodes = (ast.If, ast.IfExp)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, (ast.If, ast.IfExp))
        found = [p for p in pairs(node, context) if isinstance(p.first, _CALLED) and isinstance(p.second, _CALLED)]
        found = [p for p in found if _is_operator(p.first, context) or _is_operator(p.second, context)]
        if not found or not traced_test(node.test, context):
            return
        for pair in found:
            tags = {context.kind(pair.first).tag, context.kind(pair.second).tag}
            silent = Tag.PRIMITIVE in tags
            message = f"a Tensor chooses between {context.text(pair.first)} and {context.text(pair.second)}"
            place = pair.second if pair.second in set(ast.walk(node)) else pair.first
            yield context.finding(self, place, message, fixes=(_fix(pair, node, context),),
                                  consequence=Consequence.DIVERGENCE if silent else None)  # fmt: skip


def _is_operator(node: ast.expr, context: FunctionContext) -> bool:
    """Whether what is called is one operator in the graph, or a function that only calls one."""
    if isinstance(node, ast.Lambda):
        return _only_calls(node.body, {a.arg for a in node.args.args}, context.function.names)
    if _is_operators_name(context.resolve(node)):
        return True
    kind = context.kind(node)
    if kind.tag is Tag.PRIMITIVE:
        return True
    if kind.tag is Tag.CELL:
        return kind.name.startswith("mindspore.nn.") and kind.name.rpartition(".")[2] in _LAYERS
    if isinstance(kind.info, FunctionInfo):
        body = kind.info.node.body
        only = body[0] if len(body) == 1 else None
        names = {a.arg for a in kind.info.node.args.args}
        value = only.value if isinstance(only, ast.Return) else None
        return value is not None and _only_calls(value, names, kind.info.names)
    return False


def _is_operators_name(name: str | None) -> bool:
    return name is not None and name.startswith(("mindspore.ops.", "mindspore.mint.")) and name.split(".")[-1].islower()


def _only_calls(body: ast.expr, names: set[str], scope: Names) -> bool:
    return isinstance(body, ast.Call) and _is_operators_name(scope.resolve(body.func)) and not body.keywords and all(
        isinstance(a, ast.Name) and a.id in names for a in body.args
    )


def _fix(pair: Pair, node: ast.If | ast.IfExp, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    title = "Choose where it is called"
    reason = "the functions are looked up where they are called"
    parent = context.parent(node)
    try:
        if isinstance(parent, ast.Call) and parent.func is node:
            text = _call(parent, pair, context.text(node.test), context)
            rewrite.replace(parent, text, context.parent(parent))
            return rewrite.unsafe(title, reason)
        calls = _calls(pair, node, context)
        chosen = fresh(context, f"chosen_{pair.what}")
        for call in calls:
            rewrite.replace(call, _call(call, pair, chosen, context), context.parent(call))
        keep_condition(pair, node, chosen, context, rewrite)
    except CannotRewrite as problem:
        advice = "call the function in each of the branches, and go on with what it returns"
        return context.rewrite().manual(title, f"not changed by itself: {problem}; {advice}")
    return rewrite.unsafe(title, reason)


def _call(call: ast.Call, pair: Pair, test: str, context: FunctionContext) -> str:
    module = context.module
    arguments = module.source.utf8[module.end(call.func) : module.end(call)].decode().lstrip(" )")
    first, second = (
        f"({context.text(f)})" if isinstance(f, ast.Lambda) else context.text(f) for f in (pair.first, pair.second)
    )
    text = f"{first}{arguments} if {test} else {second}{arguments}"
    if "\n" in text:
        raise CannotRewrite("the call or the condition runs over several lines")
    return text


def _calls(pair: Pair, node: ast.If | ast.IfExp, context: FunctionContext) -> list[ast.Call]:
    """The calls of the name that the choice gives a value. Raises CannotRewrite."""
    arms = {id(pair.first), id(pair.second)}
    calls: list[ast.Call] = []
    for name in context.function.nodes:
        if not (isinstance(name, ast.Name) and name.id == pair.what):
            continue
        parent = context.parent(name)
        if isinstance(name.ctx, ast.Store):
            value = parent.value if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
            if value is not node and id(value) not in arms:
                raise CannotRewrite(f"{pair.what} is also bound elsewhere")
        elif isinstance(parent, ast.Call) and parent.func is name:
            calls.append(parent)
        else:
            raise CannotRewrite(f"{pair.what} is not only called")
    inside = {id(n) for call in calls for a in (*call.args, *call.keywords) for n in ast.walk(a)}
    if not calls or any(id(call) in inside for call in calls):
        raise CannotRewrite(f"no plain call of {pair.what} is seen")
    return calls
