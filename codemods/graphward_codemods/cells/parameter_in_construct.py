"""GW202."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._creations import Creation, What
from ._moving import CannotMove
from ._plan import Plan, creation_at
from ._relocation import relocate


class ParameterInConstruct(Rule):
    """A Parameter is made inside a graph region, which the compiler refuses.

    ## What it finds

    `Parameter(...)` and `ParameterTuple(...)` in `construct`, in a jit function, or in a function that these call.

    ## Why

    It does not compile (MindSpore 2.7 to 2.10): `ValueError: Failed to compile in GRAPH_MODE because creating class
    'mindspore.common.parameter.Parameter' instances is not supported in 'construct' or @jit decorated function. Try to
    create class 'mindspore.common.parameter.Parameter' instances external such as initialized in the method '__init__'
    before assigning.` A `ParameterTuple` fails with `TypeError: 'type' object is not iterable`.

    ## Example

    ```python
    def construct(self, x):
        scale = Parameter(Tensor([0.5]), name="scale")
        return x / scale
    ```

    becomes

    ```python
    def __init__(self):
        super().__init__()
        self.scale = Parameter(Tensor([0.5]), name="scale")

    def construct(self, x):
        return x / self.scale
    ```

    ## What the rewrite assumes

    The arguments mean the same at the end of `__init__`. A Parameter without a name gets that of its attribute; in a
    loop they become a `ParameterTuple`, numbered. Where the value comes from `construct` nothing is guessed: the
    finding says so.

    ## When it is unsafe

    Always: in PyNative the original starts from the same value at each call and is never trained. Moved, it belongs to
    the Cell: it is trained and saved, and what is written to it stays.

    ## References

    - API of `mindspore.Parameter` and `mindspore.ParameterTuple`
    """

    code = "GW202"
    name = "parameter-in-construct"
    consequence = Consequence.ERROR
    triggers = (b"Parameter",)
    nodes = (ast.Call,)
    names = frozenset({"Parameter", "ParameterTuple"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        found = creation_at(context, node, What.PARAMETER)
        if found is None:
            return ()
        plan, creation = found
        message = f"{creation.name} is made in {creation.function.name}: the compiler allows that in __init__ only"
        return (context.finding(self, node, message, fixes=(self._fix(context, plan, creation),)),)

    def _fix(self, context: FunctionContext, plan: Plan, creation: Creation) -> Fix:
        try:
            done = relocate(context, plan, creation)
        except (CannotMove, ValueError) as reason:
            advice = "make it in the __init__ of the Cell that uses it"
            return context.rewrite().manual(
                f"Make the {creation.name} in __init__", f"not moved by itself: {reason}; {advice}"
            )
        reasons = [
            "in PyNative the original starts anew at each call and is not trained; it is now kept, trained and saved"
        ]
        if done.count:
            reasons.append(
                f"their number is a run-time argument, bounded by {done.count}; more of them raise IndexError"
            )
        # Set anew at each call, the Parameter that a gradient was asked for was never the one that was used.
        cut = bool(creation.attribute and not creation.arms)
        if cut:
            reasons.append("its gradient, which was zero, is now there")
        return done.rewrite.unsafe(done.title(creation), "; ".join(reasons), restores_gradient=cut)
