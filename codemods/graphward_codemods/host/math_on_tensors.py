"""GW103: functions of `math` and SciPy on Tensors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.knowledge.math_functions import FUNCTIONS, SECOND
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from ._cut import alternatives
from ._uses import TENSOR_CONSTRUCTORS

_OPERATOR = re.compile(r"ops\.(\w+)")


class MathOnTensors(Rule):
    """`math` and SciPy leave the graph when they are given a Tensor.

    ## What it finds

    `math.exp(x)`, `scipy.special.erf(x)`, `erf(x.asnumpy())` and the like in a graph region, where an argument is a
    Tensor of the graph, or a number or an array read off one. Of shapes and constants they are folded, and are left
    alone.

    ## Why

    The Python interpreter calls them at run time, and the gradient is cut. With `fullgraph=True` (MindSpore 2.7 to
    2.10):

        ValueError: When handling script '__call_func_str__(__input_0__,) in graph mode', the inputs should be constant

    ## Example

        scale = math.exp(x.sum())

    becomes

        scale = ops.exp(x.sum())

    ## What the rewrite assumes

    That a Tensor may take the place of the Python number, and its precision that of 64 bits.

    ## When it is unsafe

    Always, for that reason: and the first alternative has a gradient, which the original cuts. The second keeps it cut,
    with `ops.stop_gradient`.

    ## References

    `math`, `scipy.special`; `mindspore.ops`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW103"
    name = "math-on-tensors"
    consequence = Consequence.FALLBACK
    triggers = (b"math", b"scipy")
    nodes = (ast.Call,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        name = context.resolve(node.func) or ""
        if not name.startswith(("math.", "scipy.")):
            return
        kinds = [context.kind(a) for a in (*node.args, *(k.value for k in node.keywords))]
        tags = {Tag.SCALAR, Tag.SEQUENCE}
        if name.startswith("scipy.") and node.args and _handed_out(node.args[0]):
            tags.add(Tag.NDARRAY)
        traced = next((k for k in kinds if k.variable and (k.is_tensor or k.tag in tags)), None)
        if traced is None:
            return
        message = f"{name} of a Tensor is left to the Python interpreter, and the gradient is cut"
        yield context.finding(self, node, message, evidence=(traced.evidence,), fixes=_fixes(node, name, context))


def _fixes(node: ast.Call, name: str, context: FunctionContext) -> tuple[Fix, ...]:
    templates = FUNCTIONS.get(name, ())
    given = [*node.args, *(k.value for k in node.keywords if k.arg in SECOND)]
    count = len(given)
    plain = count == len(node.args) + len(node.keywords) and not any(isinstance(a, ast.Starred) for a in given)
    if not plain or not 0 < count <= len(templates) or not templates[count - 1]:
        manual = f"no operator of MindSpore is known to be {name}"
        return (context.rewrite().manual("Compute it with operators", manual),)

    target = _made_of(node, context)

    def write(rewrite: Rewrite) -> str:
        template = _OPERATOR.sub(lambda found: rewrite.spell(f"mindspore.ops.{found[1]}"), templates[count - 1])
        if "math." in template:
            if context.kind(node.args[1]).variable or not name.startswith("math."):
                template = template.replace("math.log", rewrite.spell("mindspore.ops.log"))
            else:
                template = template.replace("math.log", context.text(node.func))
        text = template.format(*[_tensor(a, context) for a in given])
        if target is node:
            return text
        dtypes = [*target.args[1:], *(k.value for k in target.keywords)]
        return f"{text}.astype({context.text(dtypes[0])})" if dtypes else text

    reason = "a Tensor takes the place of a Python number"
    return alternatives(context, target, write, "Use the operator", reason)


def _made_of(node: ast.Call, context: FunctionContext) -> ast.Call:
    """`Tensor(...)` around a call: the operator gives a Tensor already. Else the call itself."""
    parent = context.parent(node)
    if not isinstance(parent, ast.Call) or context.resolve(parent.func) not in TENSOR_CONSTRUCTORS:
        return node
    plain = parent.args[:1] == [node] and all(k.arg == "dtype" for k in parent.keywords)
    return parent if plain and len(parent.args) + len(parent.keywords) <= 2 else node


def _handed_out(node: ast.expr) -> bool:
    """`x.asnumpy()`, which only a Tensor has."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "asnumpy"


def _tensor(node: ast.expr, context: FunctionContext) -> str:
    """The Tensor that a number or an array is read off: `x` of `x.item()`, `float(x)` and `x.asnumpy()`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _handed_out(node):
        return context.text(node.func.value)
    if isinstance(node, ast.Call) and context.kind(node).tag is Tag.SCALAR:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
            return context.text(node.func.value)
        if isinstance(node.func, ast.Name) and node.func.id == "float" and len(node.args) == 1:
            return context.text(node.args[0])
    return context.text(node)
