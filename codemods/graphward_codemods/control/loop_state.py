"""GW314: Python numbers that a loop over a Tensor condition carries."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, block_lines, indent_of, own_nodes, replace_statement
from .._python import literal_number
from ._traced import assigned_before, dtype_text, is_traced_loop, other_side, parts, spell_out, traced_test

_MIN_STATEMENTS = 2
# `n += 1`: a Tensor is changed in place by it, and the constant that it starts as would keep that.
_ADDED = re.compile(r"^(\s*)([A-Za-z_]\w*) ([-+*/%]|//)= (\d[\w.]*)(?=\s*(?:#.*)?$)")


class LoopState(Rule):
    """A loop that a Tensor ends carries a Python number, which changes its type or its part in the condition.

    ## What it finds

    - `while x.sum() < 100 and i < 8:` where the body counts a Python `i`.
    - `while True:` that only a Tensor breaks off, where the body counts a Python number or a Tensor made of one.
    - a number or None before the loop that becomes a Tensor in it: `total = 0`, then `total = total + x.sum()`.

    A number that is only counted, in a loop whose condition is one Tensor, compiles and is left alone.

    ## Why

    The loop stays a loop in the graph, and what it carries must keep its type; `and` of a Tensor and a number that is
    not known gives two types (MindSpore 2.7 to 2.10):

        TypeError: Cannot join the return values of different branches, perhaps you need to make them equal.

    LAX leaves None and a Tensor to the Python interpreter. Under `while True` the compiler unrolls until `RuntimeError:
    Exceed function call depth limit 1000`.

    ## Example

        i = 0
        while x.sum() < 100 and i < 8:
            x = x * 2
            i = i + 1

    becomes

        i = Tensor(0, ms.int32)
        while x.sum() < 100 and i < 8:
            x = x * 2
            i = i + 1

    `while True:` asks in its head: what stands before the `break` is done once before the loop, and at the end of each
    round.

    ## What the rewrite assumes

    That the number is not used where only a Python number will do, as a shape or in a string.

    ## When it is unsafe

    Always: the number is a Tensor afterwards; with Tensors of a small dtype results may be of a wider one.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW314"
    name = "loop-state"
    consequence = Consequence.ERROR
    triggers = (b"while", b"for ")
    nodes = (ast.While, ast.For)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, (ast.While, ast.For))
        if isinstance(node, ast.While):
            for name in sorted(_counted(node, context)):
                message = f"the loop counts {name}, a Python number, under a condition on a Tensor"
                yield context.finding(self, node, message, fixes=(_counter_fix(name, node, context),))
        if (isinstance(node, ast.While) or _is_range(node)) and is_traced_loop(node, context):
            for name, value in _grown(node, context):
                message = f"{name} is {_said(name, node, context)} before the loop and becomes a Tensor in it"
                kept = _starts_as_none(name, node, context)
                yield context.finding(self, value, message, fixes=(_typed_fix(name, value, node, context),),
                                      consequence=Consequence.FALLBACK if kept else None)  # fmt: skip


def _is_range(node: ast.For) -> bool:
    call = node.iter
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"


def _stored(body: list[ast.stmt]) -> set[str]:
    return {n.id for n in own_nodes(body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _counted(node: ast.While, context: FunctionContext) -> set[str]:
    """Python numbers that the body changes and that the loop must not carry."""
    stored = _stored(node.body)
    if not stored:
        return set()
    found: set[str] = set()
    if isinstance(node.test, ast.Constant) and node.test.value:
        breaks = [
            n for n in own_nodes(node.body)
            if isinstance(n, ast.If) and any(isinstance(b, (ast.Break, ast.Return)) for b in own_nodes(n.body))
        ]  # fmt: skip
        counters = {name for name in stored if _is_number_before(name, node, context)}
        # An exit that counters decide, which the compiler knows, ends the unrolling.
        if breaks and all(traced_test(b.test, context) and _traced_names(b.test, context) - counters for b in breaks):
            return counters
    elif len(parts(node.test)) > 1 and traced_test(node.test, context):
        for part in parts(node.test):
            if not context.kind(part).is_tensor:
                found |= {n.id for n in ast.walk(part) if isinstance(n, ast.Name)} & stored
    return {name for name in found if _is_number_before(name, node, context)}


def _traced_names(node: ast.expr, context: FunctionContext) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and context.kind(n).variable}


def _is_number_before(name: str, node: ast.While, context: FunctionContext) -> bool:
    before = assigned_before(name, node, context)
    if before is None:
        return False
    value = before.value
    if isinstance(node.test, ast.Constant) and isinstance(value, ast.Call) and value.args:
        # A Tensor that is made of a number is a constant of the graph as well.
        if context.resolve(value.func) in ("mindspore.Tensor", "mindspore.tensor"):
            value = value.args[0]
    return literal_number(value) is not None


def _counter_fix(name: str, node: ast.While, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    title = f"Make {name} a Tensor"
    before = assigned_before(name, node, context)
    assert before is not None
    reason = _needs_number(name, context)
    if isinstance(literal_number(before.value), bool):
        # `and not flag` over a Tensor flag compiles, by a detour over the interpreter.
        reason = f"{name} is a flag; count with a Tensor that is 0 or 1, or break off instead"
    if reason:
        return rewrite.manual(title, f"not changed by itself: {reason}")
    leaving = _only_break(node, context)
    if leaving is not None:
        try:
            asked = any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(leaving.test))
            as_tensor = asked and len(parts(leaving.test)) > 1
            _turn(leaving, node, as_tensor or literal_number(before.value) is None, context, rewrite)
            if as_tensor and literal_number(before.value) is not None:
                _make_tensor(before.value, context, rewrite)
        except CannotRewrite as problem:
            return context.rewrite().manual(title, f"not changed by itself: {problem}")
        return rewrite.unsafe("Ask in the head of the loop", "the condition is evaluated in the head of the loop")
    _make_tensor(before.value, context, rewrite)
    spell_out(name, context, rewrite)
    inside = [s for s in own_nodes(node.body) if isinstance(s, ast.Assign) and isinstance(s.value, ast.Constant)]
    for statement in inside:
        if any(isinstance(t, ast.Name) and t.id == name for t in statement.targets):
            _make_tensor(statement.value, context, rewrite)
    return rewrite.unsafe(title, f"{name} is a Tensor from here on")


def _make_tensor(value: ast.expr, context: FunctionContext, rewrite: Rewrite) -> None:
    known = literal_number(value)
    made = rewrite.spell("mindspore.Tensor")
    spelled = rewrite.spell(f"mindspore.{'int32' if isinstance(known, int) else 'float32'}")
    rewrite.replace(value, f"{made}({context.text(value)}, {spelled})", context.parent(value))


def _needs_number(name: str, context: FunctionContext) -> str:
    """Where a Tensor would not do for the number; empty where none is seen."""
    parents = context.function.parents
    for node in context.function.nodes:
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            above = parents.get(node)
            if isinstance(above, ast.FormattedValue):
                return f"{name} is written into a string"
            if isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id == "range":
                return f"{name} bounds a range"
            if isinstance(above, ast.Subscript) and above.slice is node:
                if context.kind(above.value).tag in (Tag.CELLS, Tag.SEQUENCE, Tag.DICT):
                    return f"{name} is an index into a container"
    return ""


def _only_break(node: ast.While, context: FunctionContext) -> ast.If | None:
    """`if condition: break` among the statements of an endless loop, where that is the only way out."""
    if not isinstance(node.test, ast.Constant) or len(node.body) < _MIN_STATEMENTS:
        return None
    left: list[ast.AST] = [n for n in own_nodes(node.body) if isinstance(n, ast.Return)]
    left += [n for n in own_nodes(node.body, loops=False) if isinstance(n, (ast.Break, ast.Continue))]
    exits = [
        s for s in node.body
        if isinstance(s, ast.If) and not s.orelse and len(s.body) == 1 and isinstance(s.body[0], ast.Break)
    ]  # fmt: skip
    return exits[0] if len(left) == len(exits) == 1 and traced_test(exits[0].test, context) else None


def _turn(
    leaving: ast.If, node: ast.While, spelled_out: bool, context: FunctionContext, rewrite: Rewrite
) -> None:
    """`while True:` with `if c: break` in it asks in its head, `while not (c):`; what stands before the `break` is done
    once before the loop, and at the end of each round."""
    module = context.module
    indent = indent_of(module, node)
    at = node.body.index(leaving)
    before, after = node.body[:at], node.body[at + 1 :]
    test = context.text(leaving.test)
    if node.orelse or node.body[0].lineno == node.lineno or "\n" in test:
        raise CannotRewrite("the loop has an else, or stands on one line")
    inner = module.source.indent(node.body[0].lineno)
    lines = block_lines(module, before, indent, node.lineno) if before else []
    lines.append(f"{indent}while not ({test}):")
    if after:
        lines += block_lines(module, after, inner, leaving.end_lineno or leaving.lineno)
    if before:
        lines += block_lines(module, before, inner)
    if spelled_out:
        lines = [_ADDED.sub(r"\1\2 = \2 \3 \4", line) for line in lines]
    replace_statement(context, rewrite, node, lines)


def _grown(node: ast.While | ast.For, context: FunctionContext) -> list[tuple[str, ast.expr]]:
    """Names that are a number or None before the loop, and what makes them Tensors in it."""
    found = []
    for statement in node.body:
        value: ast.expr | None = None
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AugAssign):
            target, value = statement.target, statement.value
        if value is None or not isinstance(target, ast.Name):
            continue
        before = assigned_before(target.id, node, context)
        if before is None:
            continue
        none = isinstance(before.value, ast.Constant) and before.value.value is None
        if literal_number(before.value) is None and not none:
            continue
        maker = value if none or isinstance(statement, ast.AugAssign) else other_side(value, target.id)
        if maker is None or not context.kind(maker).is_tensor:
            continue
        # An integer Tensor and a number that is counted join.
        if not none and _is_integer(maker, context) and isinstance(literal_number(before.value), int):
            continue
        found.append((target.id, maker))
    return found


def _is_integer(value: ast.expr, context: FunctionContext) -> bool:
    dtype = context.kind(value).dtype
    if dtype is not None:
        return "int" in dtype or dtype.startswith("bool")
    if isinstance(value, ast.Name):
        return not context.kind(value).certain
    return False


def _starts_as_none(name: str, node: ast.stmt, context: FunctionContext) -> bool:
    before = assigned_before(name, node, context)
    assert before is not None
    return literal_number(before.value) is None


def _said(name: str, node: ast.stmt, context: FunctionContext) -> str:
    return "None" if _starts_as_none(name, node, context) else "a Python number"


def _typed_fix(name: str, value: ast.expr, node: ast.stmt, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    title = f"Start {name} as a Tensor"
    before = assigned_before(name, node, context)
    assert before is not None
    reads = {n.id for n in ast.walk(value) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    made_inside = {r for r in reads & _stored(node.body) if assigned_before(r, node, context) is None}  # type: ignore[attr-defined]
    made_inside -= {a.arg for a in ast.walk(context.function.node.args) if isinstance(a, ast.arg)}
    text = context.text(value)
    if "\n" in text or (made_inside and context.kind(value).dtype is None):
        advice = f"give {name} the dtype that it has in the loop"
        return rewrite.manual(title, f"not changed by itself: {advice}")
    if literal_number(before.value) is None:
        if made_inside:
            advice = f"give {name} the type and shape that it has in the loop"
            return rewrite.manual(title, f"not changed by itself: {advice}")
        rewrite.replace(before.value, text, context.parent(before.value))
        return rewrite.unsafe(title, "where the loop does not run it is this value, not None")
    spell_out(name, context, rewrite)
    ms = rewrite.spell("mindspore.float32").removesuffix(".float32")
    made = rewrite.spell("mindspore.Tensor")
    dtype = dtype_text(value, context, ms)
    rewrite.replace(before.value, f"{made}({context.text(before.value)}, {dtype})", context.parent(before.value))
    return rewrite.unsafe(title, "where the loop does not run it is a Tensor, not a number")
