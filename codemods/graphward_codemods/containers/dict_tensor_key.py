"""GW423: a Tensor as the key of a dict."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import put_call
from .._python import display, is_builtin, literal_number
from ..control._traced import is_believed, value_before


class DictTensorKey(Rule):
    """A Tensor of the graph cannot be a key of a dict.

    ## What it finds

    `{x: value}` in a graph region where `x` is a Tensor of the graph, and `table[int(x)]` of a dict.

    ## Why

    The compiler has to know the keys (MindSpore 2.7 to 2.10):

        RuntimeError: make_dict evaluator key only supports string, number, type, none, constant tensor and tuple

    and those that it is asked for (MindSpore 2.10):

        RuntimeError: dict_getitem evaluator key only supports string, number, type, none, constant tensor and tuple

    The number of a tuple's element may come from a Tensor, where all elements are numbers of one type.

    ## Example

        cache = {x: self.embed(x)}
        return cache[x]

    becomes

        cache = {"x": self.embed(x)}
        return cache["x"]

    where the dict is only asked for entries of these names. Elsewhere give the entries constant keys by hand. And

        table = {0: 0.5, 1: 2.0}
        return x * table[int(kind)]

    becomes

        table = (0.5, 2.0)
        return x * table[int(kind)]

    where the keys count from 0 and the dict is only asked for single entries.

    ## What the rewrite assumes

    That each name stands for a Tensor of its own, since Python tells Tensors apart by their identity.

    ## When it is unsafe

    Always: two names of one Tensor were one entry; a tuple has elements for negative numbers too.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW423"
    name = "dict-tensor-key"
    consequence = Consequence.ERROR
    triggers = (b"{", b"int(")
    nodes = (ast.Dict, ast.Subscript)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        if isinstance(node, ast.Subscript):
            if _is_asked_by_tensor(node, context):
                message = "a dict is asked for the entry that a Tensor names"
                yield context.finding(self, node, message, fixes=(_as_tuple(node, context),))
            return
        assert isinstance(node, ast.Dict)
        fix: Fix | None = None
        for key in node.keys:
            if isinstance(key, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp)):
                kind = context.kind(key)
                if kind.is_tensor and kind.variable:
                    fix = fix or _fix(node, context)
                    yield context.finding(self, key, "a Tensor of the graph is the key of a dict",
                                          evidence=(kind.evidence,), fixes=(fix,))  # fmt: skip


def _fix(node: ast.Dict, context: FunctionContext) -> Fix:
    """The names of the Tensors as keys, where the dict is a variable that is only subscripted with these names."""
    rewrite = context.rewrite()
    parent = context.parent(node)
    names = {key.id for key in node.keys if isinstance(key, ast.Name)}
    places: list[ast.expr] = [key for key in node.keys if key is not None]
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    plain = len(names) == len(node.keys) and isinstance(target, ast.Name)
    for other in context.function.nodes:
        if not plain:
            break
        if not isinstance(other, ast.Name) or not isinstance(target, ast.Name):
            continue
        if other.id in names:
            # Bound again, a name means another Tensor than the entry's.
            plain = isinstance(other.ctx, ast.Load) or other.lineno < node.lineno
        elif other.id == target.id and other is not target:
            use = context.parent(other)
            plain = isinstance(use, ast.Subscript) and isinstance(use.slice, ast.Name) and use.slice.id in names
            if plain and isinstance(use, ast.Subscript):
                places.append(use.slice)
    if not plain or any(isinstance(a, (ast.For, ast.While)) for a in context.around(node)):
        advice = "give the entry a constant key: Python tells Tensors apart by identity, a graph cannot"
        return rewrite.manual("Use a constant key", advice)
    for place in places:
        rewrite.replace(place, f'"{context.text(place)}"', context.parent(place))
    return rewrite.unsafe("Use the names as keys", "two names of one Tensor were one entry")


def _is_asked_by_tensor(node: ast.Subscript, context: FunctionContext) -> bool:
    """Whether the key is `int(x)` of a Tensor, by a variable too."""
    key: ast.expr = node.slice
    if isinstance(key, ast.Name):
        bound = value_before(key.id, context.statement(node), context)
        key = bound[1] if bound is not None else key
    if not (isinstance(key, ast.Call) and len(key.args) == 1 and isinstance(key.func, ast.Name)):
        return False
    if key.func.id != "int" or not is_builtin(key.func, context) or context.kind(node.value).tag is not Tag.DICT:
        return False
    kind = context.kind(key.args[0])
    return kind.is_tensor and kind.variable and is_believed(key.args[0], context)


def _as_tuple(node: ast.Subscript, context: FunctionContext) -> Fix:
    """A tuple for a dict of numbers whose keys count from 0."""
    rewrite = context.rewrite()
    title = "Make a tuple of the dict"
    bound = value_before(node.value.id, context.statement(node), context) if isinstance(node.value, ast.Name) else None
    table = bound[1] if bound is not None else None
    if isinstance(table, ast.Dict) and isinstance(node.value, ast.Name) and _counts(table, context):
        uses = [n for n in context.function.nodes if isinstance(n, ast.Name) and n.id == node.value.id]
        if all(_is_entry(use, table, context) for use in uses):
            put_call(context, rewrite, table, f"({display([context.text(v) for v in table.values])})")
            return rewrite.unsafe(title, "a tuple has elements for negative numbers too")
    return rewrite.manual(title, "choose with `if` statements by the Tensor, or take the numbers from a tuple")


def _counts(table: ast.Dict, context: FunctionContext) -> bool:
    """Whether the keys are 0, 1, 2... and the values numbers of one type."""
    keys = [literal_number(k) for k in table.keys]
    kinds = {context.kind(v).python_type for v in table.values}
    whole = all(type(k) is int for k in keys) and keys == list(range(len(keys)))
    return whole and len(kinds) == 1 and kinds <= {"int", "float"}


def _is_entry(use: ast.Name, table: ast.Dict, context: FunctionContext) -> bool:
    """Whether a dict's name is only given the dict there, or asked for an entry."""
    parent = context.parent(use)
    if isinstance(use.ctx, ast.Store):
        return isinstance(parent, ast.Assign) and parent.value is table
    return isinstance(parent, ast.Subscript) and parent.value is use and isinstance(parent.ctx, ast.Load)
