"""GW201."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._collisions import clash
from ._creations import Creation, What
from ._moving import CannotMove
from ._plan import Plan, creation_at
from ._relocation import relocate


class LayerInConstruct(Rule):
    """A layer is made inside a graph region, anew at each call.

    ## What it finds

    A layer of `mindspore.nn` or `mindspore.mint.nn`, or a Cell of the project, that is constructed in `construct`, in a
    jit function, or in a function that these call: `nn.Dense(4, 8)(x)`, `fc = nn.Dense(4, 8)`, a layer per iteration of
    a loop, a list of layers from a comprehension, `self.fc = nn.Dense(4, 8)`.

    ## Why

    Measured on MindSpore 2.10 (2.7 agrees on the cases it has in common):

    - Two layers with a parameter of the same name in one graph, or one in a loop, do not compile: `RuntimeError: The
      parameter @..._construct_9:param_weight , its name 'weight' already exists. Please set a unique name for the
      parameter.`
    - A single layer with random initial values compiles, and computes something else: PyNative draws new weights at
      every call, the graph draws them once. A Cell of the user's own that is made twice with equal arguments is made
      once, and shared.
    - `self.fc = nn.Dense(4, 4)`: `AttributeError: The 'Net' object has no attribute 'fc'.`
    - A list of layers as an argument: `TypeError: When creating an instance of 'SequentialCell', all arguments are
      required to be constants`.
    - The weights are no parameters of the network: `trainable_params()` does not have them, no optimizer trains them,
      no checkpoint saves them, and `mindspore.export` raises `ValueError: There's a mindspore.Parameter that wasn't
      created in nn.Cell`.
    - A layer without parameters compiles and gives the same result; it costs its construction at every PyNative call.

    ## Example

    ```python
    class Head(nn.Cell):
        def __init__(self, size):
            super().__init__()
            self.size = size

        def construct(self, x, layer_num):
            for _ in range(layer_num):
                x = nn.Dense(self.size, self.size)(x)
            return nn.Softmax(axis=-1)(x)
    ```

    becomes

    ```python
    class Head(nn.Cell):
        def __init__(self, size, max_layer_num=12):
            super().__init__()
            self.size = size
            self.denses = nn.CellList([nn.Dense(self.size, self.size) for _ in range(max_layer_num)])
            self.softmax = nn.Softmax(axis=-1)

        def construct(self, x, layer_num):
            for i in range(layer_num):
                x = self.denses[i](x)
            return self.softmax(x)
    ```

    ## What the rewrite assumes

    The constructor's arguments mean the same at the end of `__init__`: they are literals, names of the module, locals
    that are set once from such, or attributes that only `__init__` sets. Where they depend on values of `construct`
    nothing is guessed: the finding says what to pass to `__init__`. A run-time count becomes a constructor argument
    `max_<name>` with a default: the literal that the project's calls show, else 12. Asking for more layers than that
    raises `IndexError` in both modes.

    ## When it is unsafe

    A layer with parameters was drawn anew at each call; moved, it is drawn once, kept, trained and saved. A layer that
    behaves differently in training (dropout, batch normalisation) never heard of `set_train()` while it was made in
    `construct`; moved, it does. A layer with neither compiles as it stands, and is not moved unasked: its move changes
    what `cells()` lists. Only one that was set as an attribute in the graph, which does not compile, is moved as safe.

    ## References

    - MindSpore tutorial "Static Graph Syntax Support", section on the constraints on creating instances
    - API of `mindspore.nn.Cell` and `mindspore.nn.CellList`
    """

    code = "GW201"
    name = "layer-in-construct"
    consequence = Consequence.DIVERGENCE
    triggers = (b"(",)
    nodes = (ast.Call,)
    constructors = True

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        found = creation_at(context, node, What.LAYER)
        return () if found is None else (self._found(context, *found),)

    def _found(self, context: FunctionContext, plan: Plan, creation: Creation) -> Finding:
        made = plan.made(creation)
        problem = "" if creation.attribute else clash(context, plan, creation)
        if creation.attribute:
            consequence, why = Consequence.ERROR, f"a graph cannot set self.{creation.attribute} to a layer"
        elif problem:
            consequence, why = Consequence.ERROR, f"compiling fails: {problem}"
        elif made.drawn:
            consequence = Consequence.DIVERGENCE
            why = "PyNative draws new weights at each call, the graph draws them once"
        elif made.weights:
            consequence, why = (
                Consequence.PERFORMANCE,
                "its parameters belong to no Cell: they are neither trained nor saved",
            )
        else:
            consequence, why = Consequence.PERFORMANCE, "PyNative makes it anew at each call"
        message = f"{creation.name} is made in {creation.function.name}, not in __init__: {why}"
        evidence = () if made.known else (f"not every part of {creation.name} is in sight",)
        fix = self._fix(context, plan, creation)
        return context.finding(self, creation.call, message, evidence=evidence, fixes=(fix,), consequence=consequence)

    def _fix(self, context: FunctionContext, plan: Plan, creation: Creation) -> Fix:
        made = plan.made(creation)
        try:
            done = relocate(context, plan, creation)
        except CannotMove as reason:
            return context.rewrite().manual(
                f"Make {creation.name} in __init__",
                f"not moved by itself: {reason}; {_advice(plan, creation, reason.value)}",
            )
        except ValueError as reason:
            return context.rewrite().manual(f"Make {creation.name} in __init__", f"not moved by itself: {reason}")
        title = done.title(creation)
        reasons = []
        if made.weights or not made.known:
            how = "new weights" if made.drawn or not made.known else "new weights, equal ones,"
            reasons.append(
                f"in PyNative the original makes {how} at each call; they are now made once, kept, trained and saved"
            )
        if made.trains:
            reasons.append("made in construct it never heard of set_train(); now it follows the training flag")
        elif made.random:
            reasons.append("it draws random numbers, in another order than before")
        if done.count:
            reasons.append(
                f"the number of layers is a run-time argument, bounded by {done.count}; more of them raise IndexError"
            )
        # Set anew at each call, the weights that a gradient was asked for were never the ones that were used.
        cut = bool(creation.attribute and not creation.arms and made.weights)
        if cut:
            reasons.append("their gradient, which was zero, is now there")
        if not reasons and creation.attribute:
            return done.rewrite.safe(title)
        # What compiles as it stands is not changed unasked: the move shows in cells() and in how the Cell prints.
        return done.rewrite.unsafe(title, "; ".join(reasons) or "the Cell has a sub-Cell more", restores_gradient=cut)


def _advice(plan: Plan, creation: Creation, value: str) -> str:
    if plan.cell is None:
        return "make it where the caller's Cell has its __init__, and hand it in as an argument"
    what = f"what the call takes from {value} as an argument" if value else "what it takes"
    return f"give {plan.cell.name}.__init__ {what}, make the {creation.name} there and keep it as an attribute"
