"""GW326: numbers in slices and shapes that a Tensor chooses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from graphward.analysis.kinds import NO_VALUE, Tag
from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix
from graphward.source.precedence import guarded

from .._blocks import CannotRewrite, fresh, indent_of, insert_before, replace_statement, step_of
from .._python import literal_number, values_of
from ._effects import may_act
from ._order import evaluated_before, is_certain
from ._takers import Taker, takers, takers_of_name
from ._traced import parts, traced_test
from ._varying import shapes_vary
from ._ways import Pair, keep_condition, whole_pairs

_TITLE = "Choose with an if statement"
_WHOLE = "Write it on each way"
_ASKED_LATER = "the condition is asked, and what is chosen read, where the number is used"


class ChosenBound(Rule):
    """A bound, shape or axis that a Tensor chooses is the one of `else`, whatever the Tensor says.

    ## What it finds

    A whole number, None or a tuple of whole numbers that a condition on a Tensor chooses, by `a if condition else b` or
    by an `if` statement, and that becomes, by itself or by way of variables and sums,

    - a bound or the step of a slice that is read from a Tensor,
    - `begin`, `end`, `size` or `strides` of `ops.slice` and `ops.strided_slice`, `start` or `length` of `narrow`,
    - the shape of `reshape`, `view`, `broadcast_to`, `tile`, `zeros`, `ones`,
    - the axis of `sum`, `mean`, `permute`, `transpose`,
    - an index (`x[n]`) where shapes vary in the same function: a condition on a Tensor chooses between slices of other
      lengths, or there is `ops.nonzero` or `ops.masked_select`. Elsewhere an index is right.

    Left alone is what is right: two numbers from 0 on, written out, that an `if` statement chooses, and others where it
    computes Tensors besides; one of three numbers; a number with a minus before it (`x[-n:]`); `mint.narrow`; numbers
    in a slice that is written to.

    ## Why

    The graph takes the number on the way of `else`, and no error is raised (MindSpore 2.10; a bound of a slice from 2.7
    on). A slice with a bound that may be None is left to the interpreter, which STRICT refuses; so is `narrow`, and LAX
    takes the number of `else`:

        ValueError: When handling script '__py_exec_index0_getitem__(__input_key_0__,__input_key_1__,) in graph mode',
        the inputs should be constant

    ## Example

        n = 2 if x.sum() > 3 else 1
        return x[:n]

    becomes

        if x.sum() > 3:
            n = 2
        else:
            n = 1
        return x[:n]

    and `return x[: -1 if x.sum() > 3 else 1].sum()` becomes

        return (x[:-1] if x.sum() > 3 else x[:1]).sum()

    ## What the rewrite assumes

    Nothing where it is safe: both mean the same to Python.

    ## When it is unsafe

    Where the condition is now evaluated before a call that stood before it, and either may have an effect; and where
    the condition or what is chosen is looked up later than it was. What is written through a bound that may be None is
    written on each way. Where other variables are computed from the chosen one nothing is changed.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW326"
    name = "chosen-bound"
    consequence = Consequence.DIVERGENCE
    triggers = (b"if ", b"if(")
    nodes = (ast.If, ast.IfExp)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, (ast.If, ast.IfExp))
        for choice in _choices(node, context):
            taker = choice.takers[0]
            evidence = (context.kind(choice.node.test).evidence,)
            yield context.finding(self, choice.place, _message(choice, taker, context), evidence=evidence,
                                  fixes=(_fix(choice, context),), consequence=_consequence(choice, taker))  # fmt: skip


@dataclass(frozen=True)
class _Choice:
    """What a condition chooses from, and what takes it and gets the wrong one. `place` is where it is written."""

    node: ast.If | ast.IfExp
    pair: Pair
    place: ast.expr
    takers: list[Taker]

    @property
    def arms(self) -> tuple[ast.expr, ast.expr]:
        return self.pair.first, self.pair.second

    @property
    def may_be_none(self) -> bool:
        return any(_is_none(arm) for arm in self.arms)


def _choices(node: ast.If | ast.IfExp, context: FunctionContext) -> Iterator[_Choice]:
    if isinstance(node, ast.IfExp):
        found = [Pair("", node.body, node.orelse)]
    else:
        found = [p for p in whole_pairs(node, context) if p.what.isidentifier() and _is_only_value(p, context)]
    for pair in found:
        sorts = {_sort(pair.first, context), _sort(pair.second, context)}
        if "" in sorts or sorts == {"none"} or ("tuple" in sorts and len(sorts) > 1) or _are_equal(pair, context):
            continue
        if isinstance(node, ast.If) and sorts == {"number"} and _are_written_out(pair, context):
            continue
        if isinstance(node, ast.IfExp):
            all_takers = list(takers(node, context))
        else:
            all_takers = takers_of_name(pair.what, node, context)
        joined = isinstance(node, ast.If) and not _only_chooses(node)
        wrong = [t for t in all_takers if _gets_wrong(t, sorts, context) and not (joined and _is_silent(t, sorts))]
        if wrong and sorts == {"number"}:
            # The shapes that now vary would have the index be wrong from here on.
            wrong += [t for t in all_takers if _is_read_index(t) and t not in wrong]
        if wrong and traced_test(node.test, context):
            place = node if isinstance(node, ast.IfExp) else _written_in(node, pair)
            yield _Choice(node, pair, place, wrong)


def _sort(node: ast.expr, context: FunctionContext) -> str:
    """What an arm is, if it may be taken for a number: "number", "none", "tuple" of numbers, else ""."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return "tuple" if all(_sort(e, context) == "number" for e in node.elts) else ""
    kind = context.kind(node)
    if _is_none(node):
        return "none"
    return "number" if kind.tag is Tag.CONSTANT and kind.name == "int" and not kind.variable else ""


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _are_equal(pair: Pair, context: FunctionContext) -> bool:
    first, second = context.kind(pair.first).value, context.kind(pair.second).value
    return first is not NO_VALUE and first == second


def _is_written_out(node: ast.expr) -> bool:
    number = literal_number(node)
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0


def _are_written_out(pair: Pair, context: FunctionContext) -> bool:
    """Whether both are numbers from 0 on that are written there, or in a variable of the function."""
    for arm in (pair.first, pair.second):
        values = values_of(context.function.nodes, arm.id) if isinstance(arm, ast.Name) else [arm]
        if not values or not all(_is_written_out(v) for v in values):
            return False
    return True


def _is_only_value(pair: Pair, context: FunctionContext) -> bool:
    """Whether a variable has the two values by plain assignments, and no third: of three the right one is taken."""
    if pair.loop is not None:
        return False
    stores = [n for n in context.function.nodes
              if isinstance(n, ast.Name) and n.id == pair.what and isinstance(n.ctx, ast.Store)]  # fmt: skip
    holders = [context.parent(s) for s in stores]
    values = [h.value for h in holders if isinstance(h, ast.Assign) and len(h.targets) == 1]
    return len(stores) == 2 and {id(v) for v in values} == {id(pair.first), id(pair.second)}


def _written_in(node: ast.If, pair: Pair) -> ast.expr:
    return pair.second if pair.second in set(ast.walk(node)) else pair.first


def _gets_wrong(taker: Taker, sorts: set[str], context: FunctionContext) -> bool:
    """Whether what takes a chosen number gets the wrong one, or does not compile."""
    if taker.is_index:
        return sorts == {"number"} and _is_read_index(taker) and shapes_vary(context)
    if "none" in sorts:
        return taker.is_slice
    if "tuple" in sorts and (taker.is_slice or taker.is_narrow):
        return False
    return taker.is_narrow or not (taker.is_target or taker.negated)


def _is_read_index(taker: Taker) -> bool:
    return taker.is_index and not (taker.is_target or taker.negated)


def _is_silent(taker: Taker, sorts: set[str]) -> bool:
    return "none" not in sorts and not taker.is_narrow


def _only_chooses(node: ast.If) -> bool:
    """Whether the branches of an `if` statement hold nothing else: with Tensors computed there, the graph has two ways,
    and joins the numbers as it should."""
    return len(node.body) == 1 and len(node.orelse) <= 1


def _consequence(choice: _Choice, taker: Taker) -> Consequence:
    return Consequence.FALLBACK if choice.may_be_none or taker.is_narrow else Consequence.DIVERGENCE


def _message(choice: _Choice, taker: Taker, context: FunctionContext) -> str:
    if choice.may_be_none:
        return "a bound that a Tensor chooses, and that may be None, leaves the slice to the interpreter"
    if taker.is_narrow:
        return f"{taker.name} is left to the interpreter where a Tensor chooses its numbers"
    return f"{taker.name} takes {context.text(choice.pair.second)} whatever the Tensor says"


def _fix(choice: _Choice, context: FunctionContext) -> Fix:
    node, taker = choice.node, choice.takers[0]
    title = _WHOLE
    try:
        if "\n" in context.text(node.test) + "".join(context.text(a) for a in choice.arms):
            raise CannotRewrite("the choice runs over several lines")
        if isinstance(node, ast.If) or taker.named:
            if isinstance(node, ast.IfExp) and all(_is_written_out(arm) for arm in choice.arms):
                title = _TITLE
                return _as_statement(node, context)
            return _at_the_takers(choice, context)
        if taker.is_target:
            return _on_each_way(node, taker, context)
        if all(_is_written_out(arm) for arm in choice.arms) and _acts_besides(node, taker.node, context):
            title = _TITLE
            return _bound_before(node, context)
        return _whole(node, taker, context)
    except CannotRewrite as problem:
        return context.rewrite().manual(title, f"not changed by itself: {problem}; write what takes the number on each "
                                               "way instead")  # fmt: skip


def _as_statement(node: ast.IfExp, context: FunctionContext) -> Fix:
    """`n = a if condition else b` as an `if` statement."""
    statement = context.statement(node)
    assert isinstance(statement, ast.Assign)
    rewrite = context.rewrite()
    if context.parent(node) is not statement:
        raise CannotRewrite("the number is part of what is assigned")
    lines = _chosen(context.text(statement.targets[0]), node, context)
    indent = indent_of(context.module, statement)
    replace_statement(context, rewrite, statement, [indent + line for line in lines])
    return rewrite.safe(_TITLE)


def _bound_before(node: ast.IfExp, context: FunctionContext) -> Fix:
    """The number in a variable of its own, chosen before the statement."""
    statement = context.statement(node)
    if not isinstance(statement, (ast.Assign, ast.Return, ast.Expr)) or not is_certain(
        node, context.function.parents, statement
    ):
        raise CannotRewrite("the slice is not always reached")
    rewrite = context.rewrite()
    name = fresh(context, "bound")
    insert_before(context, rewrite, statement, _chosen(name, node, context))
    rewrite.replace(node, name, context.parent(node))
    return rewrite.unsafe(_TITLE, "the condition is evaluated before the rest of the statement")


def _chosen(name: str, node: ast.IfExp, context: FunctionContext) -> list[str]:
    test, first, second = (context.text(part) for part in (node.test, node.body, node.orelse))
    step = step_of(context.function)
    return [f"if {test}:", f"{step}{name} = {first}", "else:", f"{step}{name} = {second}"]


def _whole(node: ast.IfExp, taker: Taker, context: FunctionContext) -> Fix:
    """`x[:a] if condition else x[:b]` in the place of the slice."""
    places = _same_choice(node, taker.node, context)
    first = _with(taker.node, {p: p.body for p in places}, context)
    second = _with(taker.node, {p: p.orelse for p in places}, context)
    rewrite = context.rewrite()
    test = context.text(node.test)
    _put(context, rewrite, taker.node, f"{first} if {test} else {second}")
    return _in_order(rewrite, node, taker.node, context)


def _on_each_way(node: ast.IfExp, taker: Taker, context: FunctionContext) -> Fix:
    """The statement that writes to a slice, on each way."""
    statement = context.statement(node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if isinstance(statement, ast.AugAssign):
        target = statement.target
    if target is not taker.node:
        raise CannotRewrite("more than the slice is assigned")
    places = _same_choice(node, taker.node, context)
    first = _with(statement, {p: p.body for p in places}, context)
    second = _with(statement, {p: p.orelse for p in places}, context)
    rewrite = context.rewrite()
    indent = indent_of(context.module, statement)
    inner = indent + step_of(context.function)
    lines = [f"{indent}if {context.text(node.test)}:", f"{inner}{first}", f"{indent}else:", f"{inner}{second}"]
    replace_statement(context, rewrite, statement, lines)
    return _in_order(rewrite, node, statement, context)


def _same_choice(node: ast.IfExp, top: ast.AST, context: FunctionContext) -> list[ast.IfExp]:
    """The choices by one condition in a slice or call, which may be asked once for all."""
    if may_act(node.test, context):
        return [node]
    wanted = ast.dump(node.test)
    return [
        n for n in preorder(top)
        if n is node or (isinstance(n, ast.IfExp) and ast.dump(n.test) == wanted
                         and any(t.node is top and not t.named for t in takers(n, context)))
    ]  # fmt: skip


def _in_order(rewrite: Rewrite, node: ast.IfExp, top: ast.AST, context: FunctionContext) -> Fix:
    """The fix that has the condition evaluated before the rest of `top`: safe where nobody can tell."""
    earlier = [n for n in evaluated_before(node, context.function.parents, top) if not _is_plain(n, context)]
    if not earlier or not (may_act(node.test, context) or any(may_act(n, context) for n in earlier)):
        return rewrite.safe(_WHOLE)
    return rewrite.unsafe(_WHOLE, "the condition is evaluated before calls that stood before it")


def _is_plain(node: ast.AST, context: FunctionContext) -> bool:
    """Whether a node gives the same whatever was done before: a variable of the function, a number, a module's name."""
    if isinstance(node, ast.Attribute):
        return context.resolve(node) is not None
    return not isinstance(node, ast.expr) or isinstance(node, (ast.Name, ast.Constant, ast.Slice, ast.Tuple, ast.List))


def _acts_besides(node: ast.IfExp, top: ast.AST, context: FunctionContext) -> bool:
    """Whether a slice or call does more than to compute: written twice, it would be two of them in the graph."""
    own = set(ast.walk(node))
    return any(may_act(n, context) for n in ast.walk(top) if isinstance(n, ast.Call) and n is not top
               and n not in own and node not in set(ast.walk(n)))  # fmt: skip


def _at_the_takers(choice: _Choice, context: FunctionContext) -> Fix:
    """The condition in a variable, and what takes the number on each way where it is taken."""
    node, pair = choice.node, choice.pair
    if any(t.named > 1 for t in choice.takers):
        raise CannotRewrite("another variable is computed from it")
    if any(t.is_target for t in choice.takers):
        raise CannotRewrite("the slice is written to")
    places = [t.place for t in choice.takers]
    names = {p.id for p in places if isinstance(p, ast.Name)}
    if len(names) != 1:
        raise CannotRewrite("the number is part of what is assigned")
    (name,) = names
    if isinstance(node, ast.IfExp) and not isinstance(context.parent(node), ast.Assign):
        raise CannotRewrite("the number is part of what is assigned")
    statement = node if isinstance(node, ast.If) else context.statement(node)
    _check_same_later(choice, statement, context)
    rewrite = context.rewrite()
    chosen = fresh(context, f"chosen_{name}")
    nodes = {t.node for t in choice.takers}
    for taken in nodes:
        if any(other is not taken and taken in set(ast.walk(other)) for other in nodes):
            continue
        inside = set(ast.walk(taken))
        own = [p for p in places if p in inside]
        first, second = (_with(taken, dict.fromkeys(own, arm), context) for arm in choice.arms)
        _put(context, rewrite, taken, f"{first} if {chosen} else {second}")
    reads = {n for n in context.function.nodes
             if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)}  # fmt: skip
    if reads <= set(places):
        keep_condition(Pair(name, pair.first, pair.second), node, chosen, context, rewrite)
    elif choice.may_be_none:
        # What asks whether it is None compiled with the interpreter's help, and would not any more.
        raise CannotRewrite(f"{name} is not only taken for a bound")
    else:
        insert_before(context, rewrite, statement, [f"{chosen} = {context.text(node.test)}"])
        rewrite.replace(node.test, chosen, node)
    if _is_new(node.test) and all(_is_fixed(arm) for arm in choice.arms):
        return rewrite.safe(_WHOLE)
    return rewrite.unsafe(_WHOLE, _ASKED_LATER)


def _check_same_later(choice: _Choice, statement: ast.stmt, context: FunctionContext) -> None:
    """Raises CannotRewrite where what is chosen may be another value by the time it is taken."""
    start = context.module.start(statement)
    for arm in choice.arms:
        if any(isinstance(n, (ast.Call, ast.NamedExpr, ast.Lambda)) for n in ast.walk(arm)):
            raise CannotRewrite("what is chosen is called for")
        read = {n.id for n in ast.walk(arm) if isinstance(n, ast.Name)}
        loops = any(isinstance(n, (ast.For, ast.While)) for n in context.around(statement))
        for other in context.function.nodes:
            if isinstance(other, ast.Name) and other.id in read and not isinstance(other.ctx, ast.Load):
                if loops or context.module.start(other) > start:
                    raise CannotRewrite(f"{other.id} is bound again")


def _is_new(test: ast.expr) -> bool:
    """Whether a condition is a value that nothing else holds, and so cannot change."""
    return all(isinstance(part, ast.Compare) for part in parts(test))


def _is_fixed(arm: ast.expr) -> bool:
    """Whether an arm means the same wherever it stands: made of literals, of variables and of sizes."""
    if isinstance(arm, (ast.Tuple, ast.List)):
        return all(map(_is_fixed, arm.elts))
    if isinstance(arm, ast.BinOp):
        return _is_fixed(arm.left) and _is_fixed(arm.right)
    if isinstance(arm, ast.UnaryOp):
        return _is_fixed(arm.operand)
    return isinstance(arm, (ast.Constant, ast.Name)) or _is_size(arm)


def _is_size(arm: ast.expr) -> bool:
    """`x.shape[0]`, `x.ndim`: of what `x` is then, and nothing changes that of a Tensor."""
    if isinstance(arm, ast.Subscript) and isinstance(arm.slice, (ast.Constant, ast.UnaryOp)):
        arm = arm.value
    return isinstance(arm, ast.Attribute) and arm.attr in ("shape", "ndim") and isinstance(arm.value, ast.Name)


def _with(top: ast.AST, arms: Mapping[ast.expr, ast.expr], context: FunctionContext) -> str:
    """The text of `top` with other expressions in some places."""
    module = context.module
    slices = {s for p in arms for s in context.around(p) if isinstance(s, ast.Slice)}
    slices = {s for s in slices if s in set(ast.walk(top))}
    edits: list[tuple[int, int, str]] = []
    for part in slices:
        if not any(other is not part and part in set(ast.walk(other)) for other in slices):
            edits.append((module.start(part), module.end(part), _slice(part, arms, context)))
    for place, arm in arms.items():
        if not any(part in slices for part in context.around(place)):
            edits.append(_edit(place, arm, context))
    text = _edited(module.start(top), module.end(top), edits, context)
    if "\n" in text:
        raise CannotRewrite("it runs over several lines")
    return text


def _put(context: FunctionContext, rewrite: Rewrite, node: ast.expr, text: str) -> None:
    """Put a text in the place of an expression in one line: token by token, the spaces of the old slice would stay."""
    module = context.module
    rewrite.replace_span(module.start(node), module.end(node), guarded(text, node, context.parent(node)))


def _edit(place: ast.expr, arm: ast.expr, context: FunctionContext) -> tuple[int, int, str]:
    """An arm in the place of the choice, whose own parentheses go where they only hold it together."""
    module = context.module
    start, end = module.start(place), module.end(place)
    parent = context.parent(place)
    data = module.source.utf8
    if isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Slice)):
        while data[:start].rstrip().endswith(b"(") and data[end:].lstrip().startswith(b")"):
            start, end = len(data[:start].rstrip()) - 1, len(data) - len(data[end:].lstrip()) + 1
    return start, end, guarded(context.text(arm), place, parent)


def _edited(start: int, end: int, edits: list[tuple[int, int, str]], context: FunctionContext) -> str:
    data = context.module.source.utf8
    pieces, at = [], start
    for first, last, text in sorted(edits):
        pieces += [data[at:first].decode(), text]
        at = last
    return "".join([*pieces, data[at:end].decode()])


def _slice(node: ast.Slice, arms: Mapping[ast.expr, ast.expr], context: FunctionContext) -> str:
    """The text of a slice with the arms in it; a bound of None is left out."""
    module = context.module
    bounds = []
    for bound in (node.lower, node.upper, node.step):
        inside = set(ast.walk(bound)) if bound is not None else set()
        arm = arms.get(bound) if bound is not None else None
        if bound is None or (arm is not None and _is_none(arm)):
            bounds.append("")
        elif arm is not None:
            bounds.append(context.text(arm))
        else:
            edits = [_edit(p, a, context) for p, a in arms.items() if p in inside]
            begin = min([module.start(bound), *(e[0] for e in edits)])
            bounds.append(_edited(begin, max([module.end(bound), *(e[1] for e in edits)]), edits, context))
    if node.step is None or not bounds[2]:
        bounds.pop()
    simple = all(re.fullmatch(r"-?\w*", bound) for bound in bounds)
    return ":".join(bounds) if simple else re.sub(r" +", " ", " : ".join(bounds)).replace(": :", "::").strip()
