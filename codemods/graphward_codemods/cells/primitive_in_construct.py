"""GW203."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Applicability, Fix

from ._creations import RANDOM_PRIMITIVES, Creation, What
from ._moving import CannotMove
from ._plan import Plan, creation_at
from ._relocation import relocate


class PrimitiveInConstruct(Rule):
    """A Primitive is made inside a Cell's graph code, anew at each PyNative call.

    ## What it finds

    `ops.Softmax(axis=-1)(x)` or `concat = ops.Concat(axis=1)` in `construct` or a method that it calls, when the
    constructor's arguments are known in `__init__` already. With `op-style = "primitive"`, `ops.Exp()(x)` without
    arguments is left alone: it is the style that was asked for.

    ## Why

    Graph Mode makes the Primitive once, while compiling, and loses nothing. PyNative makes it at each call: 106
    microseconds for `ops.Exp()(x)` on a small Tensor against 58 for one kept on self (MindSpore 2.10, CPU).

    A seeded random Primitive is worse, since a new one starts its seed anew: `ops.StandardNormal(seed=3, seed2=4)` made
    in `construct` gives the same numbers at each PyNative call, and new ones at each call of the graph.

    ## Example

    ```python
    def construct(self, x):
        return ops.Softmax(axis=-1)(x)
    ```

    becomes

    ```python
    def __init__(self):
        super().__init__()
        self.softmax = ops.Softmax(axis=-1)

    def construct(self, x):
        return self.softmax(x)
    ```

    ## What the rewrite assumes

    The arguments mean the same at the end of `__init__`. Primitives keep nothing from call to call, random ones apart.

    ## When it is unsafe

    Nearly always: the original compiles as it stands, and is not changed unasked. The Cell has an attribute more
    afterwards, which one that was pickled before does not have. Only a Primitive that was set as an attribute in the
    graph, which does not compile, is moved as safe. A seeded random Primitive, kept on self, goes on in its sequence,
    as the graph always did, instead of starting anew at each PyNative call; an unseeded one draws in another order.

    ## References

    - API of `mindspore.ops.Primitive`
    """

    code = "GW203"
    name = "primitive-in-construct"
    consequence = Consequence.PERFORMANCE
    triggers = (b"ops", b"mindspore")
    nodes = (ast.Call,)
    constructors = True

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        found = creation_at(context, node, What.PRIMITIVE)
        return () if found is None or found[0].cell is None else self._found(context, *found)

    def _found(self, context: FunctionContext, plan: Plan, creation: Creation) -> Iterable[Finding]:
        parent = context.parent(creation.call)
        called = isinstance(parent, ast.Call) and parent.func is creation.call
        bare = not creation.call.args and not creation.call.keywords
        if bare and called and context.options.op_style == "primitive":
            return
        seeded = creation.name in RANDOM_PRIMITIVES and any(_is_seed(k) for k in creation.call.keywords)
        fix = self._fix(context, plan, creation, seeded)
        consequence, why = self.consequence, "PyNative makes it anew at each call"
        if creation.attribute:
            consequence, why = Consequence.ERROR, f"a graph cannot set self.{creation.attribute} to it"
        elif seeded:
            consequence, why = Consequence.DIVERGENCE, "PyNative starts its seed anew at each call, the graph does not"
        elif fix.applicability is Applicability.MANUAL:
            # It depends on values of the call, and a graph loses nothing by it.
            return
        message = f"{creation.name} is made in {creation.function.name}, not in __init__: {why}"
        yield context.finding(self, creation.call, message, fixes=(fix,), consequence=consequence)

    def _fix(self, context: FunctionContext, plan: Plan, creation: Creation, seeded: bool) -> Fix:
        try:
            done = relocate(context, plan, creation)
        except (CannotMove, ValueError) as reason:
            return context.rewrite().manual(f"Make {creation.name} in __init__", f"not moved by itself: {reason}")
        title = done.title(creation)
        if seeded:
            anew = "the original starts its seed anew at each PyNative call; kept, it goes on in its sequence"
            return done.rewrite.unsafe(title, anew)
        if creation.name in RANDOM_PRIMITIVES:
            return done.rewrite.unsafe(title, "it draws random numbers, in another order than before")
        if creation.attribute:
            return done.rewrite.safe(title)
        # What compiles as it stands is not changed unasked.
        return done.rewrite.unsafe(title, "the Cell has an attribute more, which a Cell pickled before does not have")


def _is_seed(keyword: ast.keyword) -> bool:
    return (keyword.arg or "").lower().startswith("seed") and not (
        isinstance(keyword.value, ast.Constant) and keyword.value.value == 0
    )
