"""GW214."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix


class CustomGradient(Rule):
    """`apply` of a custom gradient function (`_Function`) does not compile.

    ## What it finds

    `Square.apply(x)` in a graph region, where `Square` has a static `forward` and `backward` that take a context.

    ## Why

    The class works in PyNative only (MindSpore 2.7 to 2.10): `AttributeError: 'super' object has no attribute
    '__module__'`.

    ## Example

        return Square.apply(x)

    becomes

        return Square.forward(None, x)

    ## What the rewrite assumes

    That the gradient of what `forward` computes will do. Where it will not, the alternative by hand says what to
    do, a Cell with a `bprop`:

        class Square(nn.Cell):
            def construct(self, x):
                return x * x

            def bprop(self, x, out, dout):
                return (2 * x * dout,)

    ## When it is unsafe

    Always: the gradient is derived from `forward`, and `backward` is no longer called.

    ## References

    `mindspore.nn.Cell.bprop`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW214"
    name = "custom-gradient"
    consequence = Consequence.ERROR
    triggers = (b".apply",)
    nodes = (ast.Call,)
    names = frozenset({"apply"})

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == "apply"):
            return
        found = _function_class(node.func.value, context)
        if found is None:
            return
        message = f"{found.name}.apply does not compile"
        yield context.finding(self, node, message, fixes=_fixes(node, found, context))


def _function_class(node: ast.expr, context: FunctionContext) -> ClassInfo | None:
    known: FunctionInfo | ClassInfo | None = None
    name = context.resolve(node)
    if name is not None:
        known = context.project.definition(name)
    elif isinstance(node, ast.Name):
        known = context.project.visible(context.function, node.id)
    if not isinstance(known, ClassInfo) or not {"forward", "backward"} <= known.methods.keys():
        return None
    return known if "apply" not in known.methods and known.methods["forward"].is_static else None


def _fixes(node: ast.Call, found: ClassInfo, context: FunctionContext) -> tuple[Fix, ...]:
    forward = found.methods["forward"]
    arguments = forward.node.args.posonlyargs + forward.node.args.args
    first = arguments[0].arg if arguments else ""
    keeps = f"to keep the gradient of {found.name}.backward, make {found.name} a Cell: construct does what forward does"
    reads = any(isinstance(n, ast.Name) and n.id == first for n in forward.nodes)
    saved = f", what forward keeps in {first} is computed again from the inputs" if reads else ""
    advice = f"{keeps}, and bprop(self, inputs..., out, dout) returns a tuple with one gradient for each input{saved}"
    by_hand = context.rewrite().manual("Write a Cell with bprop", f"not changed by itself: {advice}")
    if reads:
        return (by_hand,)
    module = context.module
    assert isinstance(node.func, ast.Attribute)
    rewrite = context.rewrite()
    bracket = module.source.utf8.index(b"(", module.end(node.func)) + 1
    rewrite.replace_span(module.end(node.func.value), module.end(node.func), ".forward")
    rewrite.insert(bracket, "None, " if node.args or node.keywords else "None")
    reason = "the gradient is derived from forward; backward is no longer called"
    return rewrite.unsafe("Call forward itself", reason), by_hand
