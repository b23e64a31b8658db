"""GW116: `itertools` over Tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix


class ItertoolsCall(Rule):
    """`itertools` over Tensors is left to the Python interpreter.

    ## What it finds

    Functions of `itertools` in a graph region with an argument that holds Tensors. Over constants they are folded, and
    are left alone.

    ## Why

    MindSpore 2.7 to 2.10: `ValueError: When handling script '__call_func_str__(...) in graph mode', the inputs should
    be constant`. At the default syntax level they are called at run time.

    ## Example

        for t in itertools.chain(first, (x, y)):

    becomes

        for t in (*first, *(x, y)):

    `itertools.product(a, b)` becomes `[(u, v) for ...]` over the indices; the others have no short form.

    ## What the rewrite assumes

    That the arguments are tuples or lists.

    ## When it is unsafe

    Always: an iterator becomes a tuple.

    ## References

    `itertools`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW116"
    name = "itertools-call"
    consequence = Consequence.FALLBACK
    triggers = (b"itertools",)
    nodes = (ast.Call,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        name = context.resolve(node.func) or ""
        if not name.startswith("itertools."):
            return
        kinds = [context.kind(a) for a in node.args]
        traced = next((k for k in kinds if k.variable), None)
        if traced is None:
            return
        message = f"{name} of a traced value is left to the Python interpreter"
        yield context.finding(self, node, message, evidence=(traced.evidence,), fixes=(_fix(node, name, context),))


def _fix(node: ast.Call, name: str, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    short = name.removeprefix("itertools.")
    plain = not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args)
    texts = [context.text(a) for a in node.args]
    if short == "chain" and plain:
        inner = ", ".join(f"*{t}" if isinstance(a, _ATOMS) else f"*({t})" for t, a in zip(texts, node.args))
        text = f"({inner},)" if len(texts) == 1 else f"({inner})"
    elif short == "product" and plain and len(texts) == 2:
        first, second = (t if isinstance(a, _ATOMS) else f"({t})" for t, a in zip(texts, node.args))
        size = f"len({second})"
        text = f"[({first}[i // {size}], {second}[i % {size}]) for i in range(len({first}) * {size})]"
    elif short == "pairwise" and plain and len(texts) == 1:
        first = texts[0] if isinstance(node.args[0], _ATOMS) else f"({texts[0]})"
        text = f"zip({first}[:-1], {first}[1:])"
    else:
        manual = "write the loop out: the compiler unrolls loops over tuples, and their indices are constants"
        return rewrite.manual("Write a loop", manual)
    rewrite.replace(node, text, context.parent(node))
    return rewrite.unsafe("Write the elements out", "the arguments are taken for tuples or lists")


_ATOMS = (ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Call, ast.Subscript)
