"""Parameters that carry what was a Python number or a plain Tensor, and values that leave the graph as results."""

from __future__ import annotations

import ast

from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite

from .._blocks import CannotRewrite, fresh
from .._call_side import check_call_side, insert_call_side

# Where a Python number may become a Tensor of no dimension without the compiler minding.
_ARITHMETIC = (ast.BinOp, ast.Compare, ast.UnaryOp, ast.Return, ast.Assign, ast.AugAssign, ast.If, ast.IfExp, ast.Expr)


def parameter_text(rewrite: Rewrite, value: str, name: str, dtype: str | None) -> str:
    """`Parameter(Tensor(<value>, ms.<dtype>), name="<name>", requires_grad=False)`; without `dtype` the value is a
    Tensor already."""
    inner = tensor_text(rewrite, value, dtype) if dtype else value
    return f'{rewrite.spell("mindspore.Parameter")}({inner}, name="{name}", requires_grad=False)'


def tensor_text(rewrite: Rewrite, value: str, dtype: str) -> str:
    return f"{rewrite.spell('mindspore.Tensor')}({value}, {rewrite.spell(f'mindspore.{dtype}')})"


def assign_text(rewrite: Rewrite, target: str, value: str) -> str:
    return f"{rewrite.spell('mindspore.ops.assign')}({target}, {value})"


def check_arithmetic(context: FunctionContext, reads: list[ast.expr], what: str) -> None:
    """Raises CannotRewrite where a value is read as only a Python number can be: an index, a bound, a shape."""
    for node in reads:
        parent = context.function.parents.get(node)
        if isinstance(parent, ast.Call) and node in parent.args:
            called = context.resolve(parent.func) or ""
            if called.startswith("mindspore.") or isinstance(parent.func, ast.Attribute):
                continue
        if isinstance(parent, ast.Compare) and any(isinstance(op, (ast.Is, ast.IsNot, ast.In)) for op in parent.ops):
            raise CannotRewrite(f"{what} is compared as a Python object")
        if not isinstance(parent, _ARITHMETIC) and not isinstance(parent, (ast.Tuple, ast.BoolOp)):
            raise CannotRewrite(f"{what} is read where only a Python value can stand")


class Outgoing:
    """Results that `construct` gives back besides its own, for `__call__` to keep. Raises CannotRewrite, when made,
    where the class can get no `__call__` or `construct` does not end in a `return`."""

    def __init__(self, context: FunctionContext):
        check_call_side(context)
        nested = {
            inner for node in context.function.nodes if isinstance(node, (ast.FunctionDef, ast.Lambda))
            for inner in preorder(node)
        }  # fmt: skip
        self._returns = [n for n in context.function.nodes if isinstance(n, ast.Return) and n not in nested]
        body = context.function.node.body
        if not isinstance(body[-1], ast.Return) or any(r.value is None for r in self._returns):
            raise CannotRewrite("construct does not give a result back at its end")
        self._context = context

    def after(self, statement: ast.stmt) -> bool:
        """Whether every `return` comes after a statement of the body itself."""
        body = self._context.function.node.body
        return statement in body and all(r.lineno > statement.lineno for r in self._returns)

    def add(self, rewrite: Rewrite, names: list[str], targets: list[str], then: list[str], before: list[str]) -> None:
        """Give back `names` too; `__call__` puts them into `targets` and does `then`, after `before`."""
        context = self._context
        module = context.module
        if names:
            for node in self._returns:
                assert node.value is not None
                bare = isinstance(node.value, ast.Tuple) and not context.text(node.value).startswith("(")
                if bare:
                    rewrite.insert(module.start(node.value), "(")
                rewrite.insert(module.end(node), f"{')' if bare else ''}, {', '.join(names)}")
        receiver = context.function.receiver or "self"
        held = ", ".join(["result", *targets])
        call = [f"{held} = super().__call__(*args, **kwargs)", *then, "return result"]
        if before and not names and not then:
            call = ["return super().__call__(*args, **kwargs)"]
        insert_call_side(context, rewrite, f"{receiver}, *args, **kwargs", [*before, *call])


def local_name(context: FunctionContext, wanted: str, taken: list[str]) -> str:
    """A name for a new local variable, none of `taken` either."""
    name = fresh(context, wanted)
    return name if name not in taken else fresh(context, f"{wanted}_{len(taken) + 1}")
