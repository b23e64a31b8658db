"""GW319: branches of a Tensor condition that give different types."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Kind, Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Applicability, Fix
from graphward.source.precedence import guarded

from .._python import literal_number
from ._dtypes import dtype_of, is_changed
from ._evidence import is_evident
from ._traced import dtype_text, other_side, spell_out, traced_test, wider
from ._ways import Pair, pairs


class BranchTypes(Rule):
    """The branches of a condition on a Tensor give values of different types.

    ## What it finds

    Where a Tensor decides: a name that gets Tensors of two dtypes, a Tensor and a Python number, a Tensor and None, a
    Tensor and a tuple, two strings, or two dtypes; the same for what is returned, for the elements of tuples, and for
    `a if condition else b`. A number before a loop is one of the two in the first round: `total = 0`, then
    `if x[i] > 0: total = total + x[i]`. A dtype that is not known counts where one way casts or compares what the other
    is made of.

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

    Always but for strings: one of the ways now gives another dtype, or a Tensor in the place of a number; where the
    dtype is not known before a loop, float32. With None or a tuple nothing can be done: a graph always returns the
    same.

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
        found_pairs = list(pairs(node, context))
        if not found_pairs or not traced_test(node.test, context):
            return
        for pair in found_pairs:
            found = _found(pair, node, context)
            if found is not None:
                message, consequence, fix = found
                place = pair.second if pair.second in set(ast.walk(node)) else pair.first
                fixes = (fix, _both_types(node, context)) if fix.applicability is Applicability.UNSAFE else (fix,)
                yield context.finding(self, place, message, fixes=fixes, consequence=consequence)


def _found(
    pair: Pair, node: ast.If | ast.IfExp, context: FunctionContext
) -> tuple[str, Consequence, Fix] | None:
    one, other = context.kind(pair.first), context.kind(pair.second)
    for value, kind, tensor, traced in (
        (pair.first, one, pair.second, other), (pair.second, other, pair.first, one),
    ):  # fmt: skip
        if not traced.is_tensor or (pair.loop is not None and not is_evident(tensor, context)):
            continue
        if isinstance(value, ast.Constant) and value.value is None:
            message = f"{pair.what} is a Tensor on one way and None on the other"
            return message, Consequence.FALLBACK, _with_flag(tensor, pair, node, context)
        if literal_number(value) is not None and kind.tag is Tag.CONSTANT:
            message = f"{pair.what} is a Tensor on one way and a number on the other"
            return message, Consequence.ERROR, _as_tensor(value, tensor, pair, context)
        if isinstance(value, (ast.Tuple, ast.List)) and is_evident(tensor, context):
            said = "list" if isinstance(value, ast.List) else "tuple"
            message = f"{pair.what} is a {said} on one way and a Tensor on the other"
            reason = "not changed by itself: give a tuple of the same length on both ways, and a Tensor in each place"
            return message, Consequence.ERROR, context.rewrite().manual("Give the same on both ways", reason)
    texts = [v.value for v in (pair.first, pair.second) if isinstance(v, ast.Constant) and isinstance(v.value, str)]
    if len(texts) == 2 and texts[0] != texts[1]:
        message = f"{pair.what} is a string that a Tensor chooses, which a graph cannot hold"
        return message, Consequence.ERROR, _as_numbers(pair, context)
    if one.name == other.name == "dtype" and context.text(pair.first) != context.text(pair.second):
        message = f"{pair.what} is a dtype that a Tensor chooses, which a graph cannot hold"
        reason = "not changed by itself: cast on each way, and what comes of it to the wider dtype"
        return message, Consequence.ERROR, context.rewrite().manual("Cast on each way", reason)
    if one.is_tensor and other.is_tensor:
        return _dtypes(pair, one, other, context)
    return None


def _both_types(node: ast.If | ast.IfExp, context: FunctionContext) -> Fix:
    """What to do where callers need the types as they are."""
    test = _quoted(node.test, "the condition", context)
    advice = (
        f"where what comes after needs the one type or the other: give the same type on both ways, return {test} with "
        "it, and make the other type of it where the graph is called"
    )
    return context.rewrite().manual("Return the condition too", advice)


def _with_flag(tensor: ast.expr, pair: Pair, node: ast.If | ast.IfExp, context: FunctionContext) -> Fix:
    test = _quoted(node.test, "the condition", context)
    given = _quoted(tensor, "the Tensor", context)
    name = pair.what if pair.what.isidentifier() else "value"
    advice = (
        f"give a Tensor that nobody reads in the place of None, such as `ops.zeros_like(...)` of {given}, and go by "
        f"{test} where it is asked whether {name} is None; a caller gets both, `{name}, given = ...`, and takes "
        f"`{name} if given else None`"
    )
    return context.rewrite().manual("Give a Tensor on both ways", f"not changed by itself: {advice}")


def _quoted(node: ast.expr, else_said: str, context: FunctionContext) -> str:
    text = context.text(node)
    return else_said if "\n" in text else f"`{text}`"


def _as_tensor(value: ast.expr, tensor: ast.expr, pair: Pair, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    title = "Make a Tensor of the number"
    name = pair.what if pair.what.isidentifier() else ""
    # The dtype of `n + x` is that of x, and n is not there yet where it gets its first value.
    source = (other_side(tensor, name) or tensor) if name else tensor
    text = context.text(source)
    spelled = _module(rewrite)
    reason = "this way gives a Tensor where it gave a number"
    inside = pair.loop or context.statement(tensor)
    if context.kind(source).dtype is None and _made_in(source, inside, context):
        dtype = f"{spelled}.float32"
        reason += "; its dtype is taken for float32"
    elif "\n" in text:
        return rewrite.manual(title, "not changed by itself: give it the dtype of the other way")
    else:
        dtype = dtype_text(source, context, spelled)
    made = rewrite.spell("mindspore.Tensor")
    rewrite.replace(value, f"{made}({context.text(value)}, {dtype})", context.parent(value))
    if name and isinstance(context.parent(value), ast.Assign):
        spell_out(name, context, rewrite)
    return rewrite.unsafe(title, reason)


def _made_in(value: ast.expr, inside: ast.stmt, context: FunctionContext) -> bool:
    """Whether an expression reads what a statement gives its value, a loop's own variable for one."""
    parent = context.parent(inside)
    around = inside if isinstance(inside, (ast.For, ast.While)) else parent
    if not isinstance(around, (ast.For, ast.While, ast.If)):
        return False
    made = {n.id for n in ast.walk(around) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return any(isinstance(n, ast.Name) and n.id in made for n in ast.walk(value))


def _module(rewrite: Rewrite) -> str:
    """How `mindspore` itself is spelled here."""
    return rewrite.spell("mindspore.float32").removesuffix(".float32")


def _dtypes(
    pair: Pair, one: Kind, other: Kind, context: FunctionContext
) -> tuple[str, Consequence, Fix] | None:
    title = "Cast to the wider dtype"
    first, second = dtype_of(pair.first, context), dtype_of(pair.second, context)
    rewrite = context.rewrite()
    if first is not None and second is not None:
        if first == second:
            return None
        wide = wider(first, second)
        narrow = pair.first if first != wide else pair.second
        target = rewrite.spell(f"mindspore.{wide}")
        message = f"{pair.what} is of {first} on one way and of {second} on the other"
    else:
        # `y = x * 2` and `y = x.astype(int32)`: what is cast was something else before.
        narrow, plain = (pair.first, pair.second) if first is not None else (pair.second, pair.first)
        if (first is None and second is None) or not is_changed(narrow, plain, context):
            return None
        base = guarded(context.text(plain), plain, ast.Attribute(value=plain, attr="dtype", ctx=ast.Load()))
        target = f"{base}.dtype"
        message = f"{pair.what} is of {first or second} on one way only"
    text = context.text(narrow)
    if "\n" in text or "\n" in target:
        return message, Consequence.ERROR, rewrite.manual(title, "not changed by itself: it runs over several lines")
    base = guarded(text, narrow, ast.Attribute(value=narrow, attr="astype", ctx=ast.Load()))
    rewrite.replace(narrow, f"{base}.astype({target})", context.parent(narrow))
    return message, Consequence.ERROR, rewrite.unsafe(title, "one way now gives another dtype")


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
            chosen = parent.value
            values = [chosen.body, chosen.orelse] if isinstance(chosen, ast.IfExp) else [chosen]
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
