"""GW119: constant NumPy arrays that a graph returns."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

_REDUCTIONS = frozenset(
    {"sum", "prod", "mean", "std", "var", "max", "min", "any", "all", "argmax", "argmin", "item"}
)


class ArrayReturned(Rule):
    """A graph returns Tensors, and no NumPy array.

    ## What it finds

    A NumPy array of constants in the `return` of a `construct` or jit function, also inside of a tuple, list or dict.
    Arrays that are computed with only, and NumPy numbers, are folded, and are left alone.

    ## Why

    MindSpore 2.7 to 2.10, with `fullgraph=True`:

        RuntimeError: Illegal type in the graph: AbstractScalar(Type: External, Value: PythonObject(type:
        <class 'numpy.ndarray'>

    ## Example

        return x * 2, np.arange(3)

    becomes

        return x * 2, Tensor(np.arange(3))

    ## What the rewrite assumes

    That the caller takes a Tensor where it took an array.

    ## When it is unsafe

    Always, for that reason.

    ## References

    `mindspore.Tensor`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW119"
    name = "array-returned"
    consequence = Consequence.FALLBACK
    triggers = (b"numpy",)
    nodes = (ast.Return,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Return)
        if node.value is None or context.reached.region.root is not context.function or context.reached.sites:
            return
        for value in _leaves(node.value):
            kind = context.kind(value)
            if kind.tag is not Tag.NDARRAY or kind.variable or not kind.certain or _is_one_number(value):
                continue
            rewrite = context.rewrite()
            rewrite.replace(value, f"{rewrite.spell('mindspore.Tensor')}({context.text(value)})", context.parent(value))
            fix = rewrite.unsafe("Make a Tensor of it", "the caller gets a Tensor where it got an array")
            message = "a NumPy array is returned from the graph"
            yield context.finding(self, value, message, evidence=(kind.evidence,), fixes=(fix,))


def _is_one_number(node: ast.expr) -> bool:
    """Whether a reduction over all elements gives the value, which is a number then."""
    if not isinstance(node, ast.Call) or any(k.arg in ("axis", "keepdims") for k in node.keywords):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return name in _REDUCTIONS and len(node.args) < 2


def _leaves(node: ast.expr) -> list[ast.expr]:
    """What a tuple, list or dict as it is written holds; else the expression itself."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return [leaf for element in node.elts for leaf in _leaves(element)]
    if isinstance(node, ast.Dict):
        return [leaf for element in node.values for leaf in _leaves(element)]
    if isinstance(node, ast.IfExp):
        return [*_leaves(node.body), *_leaves(node.orelse)]
    return [node] if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp)) else []
