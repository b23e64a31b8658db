"""GW436: a dict that a graph returns."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Kind, Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, own_nodes
from .._call_side import check_call_side, insert_call_side
from .._python import display


class ReturnedDict(Rule):
    """A dict that a graph returns arrives as a tuple.

    ## What it finds

    `return {"loss": loss, "logits": logits}`, a dict under a name, and a dict in a returned tuple, in a function that
    graphs are compiled from: the `construct` of a Cell that no graph of the project calls, or a jit function. Between
    functions of a graph a dict stays one, and is left alone.

    ## Why

    With `fullgraph=True` Python gets the values as a tuple, silently (MindSpore 2.7 to 2.10): `out["loss"]` then fails,
    or `for name in out` sees Tensors. At the default syntax level the dict is kept.

    ## Example

        def construct(self, x):
            return {"hidden": x, "logits": self.head(x)}

    becomes

        def __call__(self, *args, **kwargs):
            first, second = super().__call__(*args, **kwargs)
            return {"hidden": first, "logits": second}

        def construct(self, x):
            return x, self.head(x)

    ## What the rewrite assumes

    That the Cell is called from Python, where `__call__` is.

    ## When it is unsafe

    Always: a graph of another package that calls the Cell gets a tuple.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW436"
    name = "returned-dict"
    consequence = Consequence.DIVERGENCE
    triggers = (b"return",)

    def visit_function(self, context: FunctionContext) -> Iterable[Finding]:
        function = context.function
        if context.reached.region.root is not function or context.reached.sites:
            return
        returns = [n for n in own_nodes(function.node.body) if isinstance(n, ast.Return) and n.value is not None]
        found = [n for n in returns if n.value is not None and _holds_dict(n.value, context)]
        if not found:
            return
        try:
            fix = _fix(returns, found, context)
        except CannotRewrite as reason:
            fix = context.rewrite().manual("Make the dict in __call__", str(reason))
        for node in found:
            assert node.value is not None
            message = "a dict that a graph returns arrives as a tuple with fullgraph=True"
            yield context.finding(self, node.value, message, fixes=(fix,))


def _holds_dict(node: ast.expr, context: FunctionContext) -> bool:
    if isinstance(node, ast.Tuple):
        return any(_holds_dict(e, context) for e in node.elts)
    if not isinstance(node, (ast.Dict, ast.DictComp, ast.Name)):
        return False
    kind = context.kind(node)
    return kind.tag is Tag.DICT and kind.certain and not kind.optional


def _fix(returns: list[ast.Return], found: list[ast.Return], context: FunctionContext) -> Fix:
    if len(found) != len(returns) or any(isinstance(r.value, ast.Tuple) for r in returns):
        raise CannotRewrite("return a tuple of the values, and make the dict where the graph is called")
    check_call_side(context)
    rewrite = context.rewrite()
    keys: list[tuple[str, ...]] = []
    for node in returns:
        assert node.value is not None
        kind = context.kind(node.value)
        keys.append(_keys(kind))
        if isinstance(node.value, ast.Dict):
            text = display([context.text(v) for v in node.value.values])
            rewrite.replace_span(context.module.start(node.value), context.module.end(node.value), text)
        elif isinstance(node.value, ast.Name):
            rewrite.replace(node.value, f"tuple({node.value.id}.values())", node)
        else:
            raise CannotRewrite("its keys are not seen: return a tuple, and make the dict where the graph is called")
    if len(set(keys)) != 1:
        raise CannotRewrite("the keys differ from return to return: make the dicts where the graph is called")
    names = [f"value_{i}" for i in range(1, len(keys[0]) + 1)]
    for place, name in enumerate(("first", "second", "third", "fourth")[: len(names)]):
        names[place] = name
    receiver = context.function.receiver or "self"
    pairs = ", ".join(f'"{k}": {n}' for k, n in zip(keys[0], names))
    body = [f"{display(names)} = super().__call__(*args, **kwargs)", f"return {{{pairs}}}"]
    insert_call_side(context, rewrite, f"{receiver}, *args, **kwargs", body)
    return rewrite.unsafe("Make the dict in __call__", "a graph that calls the Cell gets a tuple")


def _keys(kind: Kind) -> tuple[str, ...]:
    """The names in a dict, in order; raises CannotRewrite where they are not known, or a value may be None."""
    names = tuple(k for k in kind.keys or () if isinstance(k, str) and k.isidentifier())
    values = kind.elements or ()
    if not names or len(names) != len(kind.keys or ()) or len(values) != len(names):
        raise CannotRewrite("its keys are not seen: return a tuple, and make the dict where the graph is called")
    if any(v.is_none or v.optional or v.tag is Tag.UNKNOWN for v in values):
        raise CannotRewrite("a value may be None, which a graph leaves out: hand out something else in its place")
    return names
