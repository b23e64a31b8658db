"""GW319: branches of a Tensor condition that give different types."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from graphward.analysis.kinds import Kind, Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix
from graphward.source.precedence import guarded

from .._blocks import siblings
from .._python import literal_number
from ._traced import assigned_before, dtype_text, traced_test, wider

_CASTS = frozenset({"astype", "to", "half", "float", "int", "long", "bool", "double", "short", "byte", "type"})


@dataclass(frozen=True)
class Pair:
    """The values of both ways. `what` names the thing, a variable or the returned value."""

    what: str
    first: ast.expr
    second: ast.expr


class BranchTypes(Rule):
    """The branches of a condition on a Tensor give values of different types.

    ## What it finds

    Where a Tensor decides: a name that gets Tensors of two dtypes, a Tensor and a Python number, a Tensor and None, or
    two strings; the same for what is returned, and for `a if condition else b`.

    ## Why

    The graph holds both ways, and what they leave must have one type (MindSpore 2.7 to 2.10): `TypeError: Cannot join
    the return values of different branches, perhaps you need to make them equal.` None and a Tensor compile in LAX, by
    fallback. Shapes may differ, and so may two numbers.

    ## Example

        if x.sum() > 0:
            y = x.sum()
        else:
            y = 0

    becomes

        if x.sum() > 0:
            y = x.sum()
        else:
            y = Tensor(0, x.sum().dtype)

    Of two dtypes the one that holds less is cast. Strings that are only compared become numbers.

    ## What the rewrite assumes

    That the wider dtype will do for both ways.

    ## When it is unsafe

    Always: one of the ways now gives another dtype, or a Tensor in the place of a number. With None nothing can be
    done: a graph always returns the same.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW319"
    name = "branch-types"
    consequence = Consequence.ERROR
    triggers = (b"if ", b"if(")
    nodes = (ast.If, ast.IfExp)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, (ast.If, ast.IfExp))
        pairs = list(_pairs(node, context))
        if not pairs or not traced_test(node.test, context):
            return
        for pair in pairs:
            found = _found(pair, node, context)
            if found is not None:
                message, consequence, fix = found
                place = pair.second if pair.second in set(ast.walk(node)) else pair.first
                yield context.finding(self, place, message, fixes=(fix,), consequence=consequence)


def _pairs(node: ast.If | ast.IfExp, context: FunctionContext) -> Iterator[Pair]:
    if isinstance(node, ast.IfExp):
        yield Pair("the value", node.body, node.orelse)
        return
    later = node.orelse
    while len(later) == 1 and isinstance(later[0], ast.If):
        # An elif: its arm is one of the ways too.
        arm = _assigned(later[0].body)
        for name, value in _assigned(node.body).items():
            if name in arm:
                yield Pair(name, value, arm[name])
        later = later[0].orelse
    first, second = _assigned(node.body), _assigned(later)
    for name in sorted(first.keys() | second.keys()):
        one, other = first.get(name), second.get(name)
        if one is None or other is None:
            if (_leaves(later) and other is None) or (_leaves(node.body) and one is None) or later is not node.orelse:
                continue
            before = assigned_before(name, node, context)
            if before is None or context.parent(before) is not context.parent(node):
                continue
            one, other = one or before.value, other or before.value
        yield Pair(name, one, other)
    left, right = _returned(node.body), _returned(node.orelse)
    if left is not None and right is None and not node.orelse:
        block = siblings(context, node)
        after = block[block.index(node) + 1 :]
        if len(after) == 1:
            right = _returned(after)
    if left is not None and right is not None:
        yield Pair("what is returned", left, right)


def _assigned(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """The names that a branch gives a value by a plain assignment of its own, with the last one."""
    found: dict[str, ast.expr] = {}
    for statement in body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            if isinstance(statement.targets[0], ast.Name):
                found[statement.targets[0].id] = statement.value
                continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.pop(node.id, None)
    return {} if _leaves(body) else found


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise, ast.Break, ast.Continue))


def _returned(body: list[ast.stmt]) -> ast.expr | None:
    return body[-1].value if body and isinstance(body[-1], ast.Return) else None


def _found(
    pair: Pair, node: ast.If | ast.IfExp, context: FunctionContext
) -> tuple[str, Consequence, Fix] | None:
    one, other = context.kind(pair.first), context.kind(pair.second)
    for value, kind, tensor, traced in (
        (pair.first, one, pair.second, other), (pair.second, other, pair.first, one),
    ):  # fmt: skip
        if not traced.is_tensor:
            continue
        if isinstance(value, ast.Constant) and value.value is None:
            message = f"{pair.what} is a Tensor on one way and None on the other"
            reason = "not changed by itself: return a Tensor on both ways, and the condition with it"
            return message, Consequence.FALLBACK, context.rewrite().manual("Give a Tensor on both ways", reason)
        if literal_number(value) is not None and kind.tag is Tag.CONSTANT:
            message = f"{pair.what} is a Tensor on one way and a number on the other"
            return message, Consequence.ERROR, _as_tensor(value, tensor, context)
    texts = [v.value for v in (pair.first, pair.second) if isinstance(v, ast.Constant) and isinstance(v.value, str)]
    if len(texts) == 2 and texts[0] != texts[1]:
        message = f"{pair.what} is a string that a Tensor chooses, which a graph cannot hold"
        return message, Consequence.ERROR, _as_numbers(pair, context)
    if one.is_tensor and other.is_tensor:
        return _dtypes(pair, one, other, context)
    return None


def _as_tensor(value: ast.expr, tensor: ast.expr, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    title = "Make a Tensor of the number"
    text = context.text(tensor)
    if "\n" in text:
        return rewrite.manual(title, "not changed by itself: give it the dtype of the other way")
    dtype = dtype_text(tensor, context, _module(rewrite))
    made = rewrite.spell("mindspore.Tensor")
    rewrite.replace(value, f"{made}({context.text(value)}, {dtype})", context.parent(value))
    return rewrite.unsafe(title, "this way gives a Tensor where it gave a number")


def _module(rewrite: Rewrite) -> str:
    """How `mindspore` itself is spelled here."""
    return rewrite.spell("mindspore.float32").removesuffix(".float32")


def _dtypes(
    pair: Pair, one: Kind, other: Kind, context: FunctionContext
) -> tuple[str, Consequence, Fix] | None:
    title = "Cast to the wider dtype"
    if one.dtype is not None and other.dtype is not None:
        if one.dtype == other.dtype:
            return None
        wide = wider(one.dtype, other.dtype)
        narrow = pair.first if one.dtype != wide else pair.second
        rewrite = context.rewrite()
        target = rewrite.spell(f"mindspore.{wide}")
        message = f"{pair.what} is of {one.dtype} on one way and of {other.dtype} on the other"
    else:
        # `y = x` and `y = x.astype(int32)`: what is cast was something else before.
        cast, plain = (pair.first, pair.second) if one.dtype is not None else (pair.second, pair.first)
        if not _is_cast_of(cast, plain, context):
            return None
        rewrite = context.rewrite()
        narrow, target = cast, f"{context.text(plain)}.dtype"
        message = f"{pair.what} is cast on one way only"
    text = context.text(narrow)
    if "\n" in text:
        return message, Consequence.ERROR, rewrite.manual(title, "not changed by itself: it runs over several lines")
    base = guarded(text, narrow, ast.Attribute(value=narrow, attr="astype", ctx=ast.Load()))
    rewrite.replace(narrow, f"{base}.astype({target})", context.parent(narrow))
    return message, Consequence.ERROR, rewrite.unsafe(title, "one way now gives another dtype")


def _is_cast_of(cast: ast.expr, plain: ast.expr, context: FunctionContext) -> bool:
    if not (isinstance(cast, ast.Call) and isinstance(cast.func, ast.Attribute) and cast.func.attr in _CASTS):
        return False
    return isinstance(plain, ast.Name) and context.text(cast.func.value) == plain.id


def _as_numbers(pair: Pair, context: FunctionContext) -> Fix:
    """Numbers in the place of strings, where a variable holds nothing but literals and is only compared with some."""
    rewrite = context.rewrite()
    title = "Use numbers in the place of the strings"
    function = context.function
    problem = rewrite.manual(title, "not changed by itself: the strings are used otherwise than in comparisons")
    places: list[ast.Constant] = []
    for node in function.nodes:
        if not (isinstance(node, ast.Name) and node.id == pair.what):
            continue
        parent = function.parents[node]
        if isinstance(parent, ast.Assign) and node in parent.targets and len(parent.targets) == 1:
            values = [parent.value]
        elif isinstance(parent, ast.Compare) and all(isinstance(op, (ast.Eq, ast.NotEq)) for op in parent.ops):
            values = [v for v in (parent.left, *parent.comparators) if v is not node]
        else:
            return problem
        if not all(isinstance(v, ast.Constant) and isinstance(v.value, str) for v in values):
            return problem
        places += values  # type: ignore[arg-type]
    if not places:
        return problem
    codes = {text: i for i, text in enumerate(dict.fromkeys(p.value for p in places))}
    for place in places:
        rewrite.replace(place, str(codes[place.value]), context.parent(place))
    return rewrite.safe(title)
