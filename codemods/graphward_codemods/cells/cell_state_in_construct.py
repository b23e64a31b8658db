"""GW207."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import remove_statement
from ._from_init import Keeper, is_cell_value
from ._moving import CannotMove

_METHODS = frozenset(
    """set_train set_grad add_flags add_flags_recursive recompute to_float set_comm_fusion set_boost
    set_broadcast_flag set_data_parallel set_auto_parallel set_jit_config set_inputs set_param_ps set_param_fl
    register_forward_hook register_forward_pre_hook register_backward_hook register_backward_pre_hook
    update_parameters_name init_parameters_data insert_child_to_cell insert_param_to_cell
    freeze unfreeze""".split()  # noqa: SIM905
)
_FALLS_BACK = frozenset({"set_train", "set_grad", "recompute"})


class CellStateInConstruct(Rule):
    """A Cell is set up inside graph code: `set_train`, `set_grad`, `recompute`, `to_float` and the like.

    ## What it finds

    Calls of such methods, on self or on a Cell that self holds, in a graph region.

    ## Why

    They write attributes of the Cell. STRICT refuses that, LAX leaves `set_train`, `set_grad` and `recompute` to the
    Python interpreter, and the others fail in both (MindSpore 2.7 to 2.10):

        TypeError: In JIT strict mode, if need to modify a member attribute of a class with self._phase, the member
        attribute must be of the Parameter type.

    ## Example

        def construct(self, x):
            self.encoder.set_train(False)
            return self.encoder(x)

    becomes

        def __init__(self):
            super().__init__()
            ...
            self.encoder.set_train(False)

        def construct(self, x):
            return self.encoder(x)

    ## What the rewrite assumes

    That the setting is the same at each call: its arguments are known in `__init__`.

    ## When it is unsafe

    Always: it is done once. A later `net.set_train()` undoes it, where the original did it anew at each call.

    ## References

    API of `mindspore.nn.Cell`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW207"
    name = "cell-state-in-construct"
    consequence = Consequence.ERROR
    triggers = tuple(b"." + m.encode() for m in sorted(_METHODS))
    nodes = (ast.Call,)
    names = _METHODS

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in _METHODS:
            return
        if not is_cell_value(node.func.value, context):
            return
        if context.cell is not None and _is_own(node.func, context):
            return
        method = node.func.attr
        message = f"{context.text(node.func)} sets up a Cell inside graph code"
        consequence = Consequence.FALLBACK if method in _FALLS_BACK else Consequence.ERROR
        yield context.finding(self, node, message, fixes=(_fix(node, context),), consequence=consequence)


def _is_own(func: ast.Attribute, context: FunctionContext) -> bool:
    """Whether the method is one that the project defines itself."""
    if not (isinstance(func.value, ast.Name) and func.value.id == context.function.receiver):
        return False
    assert context.cell is not None
    return context.project.method(context.cell, func.attr) is not None


def _fix(node: ast.Call, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    title = "Do it in __init__"
    statement = context.parent(node)
    try:
        if not isinstance(statement, ast.Expr):
            raise CannotMove("its result is used")
        if context.parent(statement) is not context.function.node:
            raise CannotMove("it depends on a condition")
        keeper = Keeper(context)
        keeper.add(rewrite, statement, keeper.call(node))
        remove_statement(context, rewrite, statement)
    except CannotMove as reason:
        advice = "do it outside, before the Cell is called"
        return context.rewrite().manual(title, f"not moved by itself: {reason}; {advice}")
    return rewrite.unsafe(title, "it is done once, and a later net.set_train() or the like undoes it")
