"""GW314: Python numbers that a loop over a Tensor condition carries."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix
from graphward.source.precedence import guarded

from .._blocks import CannotRewrite, block_lines, indent_of, own_nodes, replace_statement
from .._python import literal_number
from ._traced import assigned_before, dtype_text, is_traced_loop, parts, traced_test


class LoopState(Rule):
    """A loop that a Tensor ends carries a Python number, which changes its type or its part in the condition.

    ## What it finds

    - `while x.sum() < 100 and i < 8:` where the body counts a Python `i`.
    - `while True:` that a Tensor breaks off, where the body counts a Python number.
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
        if breaks and any(traced_test(b.test, context) for b in breaks):
            found = stored
    elif len(parts(node.test)) > 1 and traced_test(node.test, context):
        for part in parts(node.test):
            if not context.kind(part).is_tensor:
                found |= {n.id for n in ast.walk(part) if isinstance(n, ast.Name)} & stored
    return {name for name in found if _is_number_before(name, node, context)}


def _is_number_before(name: str, node: ast.stmt, context: FunctionContext) -> bool:
    before = assigned_before(name, node, context)
    return before is not None and literal_number(before.value) is not None


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
    if _breaks_first(node, context):
        try:
            _hoist_break(node, context, rewrite)
        except CannotRewrite as problem:
            return context.rewrite().manual(title, f"not changed by itself: {problem}")
        return rewrite.unsafe("Ask in the head of the loop", "the condition is evaluated in the head of the loop")
    _make_tensor(before.value, context, rewrite)
    _spell_out(name, context, rewrite)
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


def _spell_out(name: str, context: FunctionContext, rewrite: Rewrite) -> None:
    """`i += 1` as `i = i + 1`: a Tensor is changed in place, and the constant that it starts as would keep that from
    one call of the graph to the next."""
    module = context.module
    for node in context.function.nodes:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            between = module.source.utf8[module.end(node.target) : module.start(node.value)].decode()
            operator = between[: between.index("=")].strip()
            rewrite.replace_span(module.end(node.target), module.start(node.value), f" = {name} {operator} ")
            place = ast.BinOp(left=node.target, op=node.op, right=node.value)
            text = context.text(node.value)
            if "\n" not in text:
                rewrite.replace_span(module.start(node.value), module.end(node.value), guarded(text, node.value, place))


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


def _breaks_first(node: ast.While, context: FunctionContext) -> bool:
    first = node.body[0]
    return (
        isinstance(node.test, ast.Constant) and isinstance(first, ast.If) and not first.orelse
        and len(first.body) == 1 and isinstance(first.body[0], ast.Break) and len(node.body) > 1
        and traced_test(first.test, context)
    )  # fmt: skip


def _hoist_break(node: ast.While, context: FunctionContext, rewrite: Rewrite) -> None:
    """`while True:` that starts with `if c: break` becomes `while not (c):`."""
    first = node.body[0]
    assert isinstance(first, ast.If)
    module = context.module
    indent = indent_of(module, node)
    if node.orelse or node.body[0].lineno == node.lineno:
        raise CannotRewrite("the loop has an else, or stands on one line")
    inner = module.source.indent(first.lineno)
    lines = [f"{indent}while not ({context.text(first.test)}):"]
    lines += block_lines(module, node.body[1:], inner, first.end_lineno or first.lineno)
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
        maker = value if none or isinstance(statement, ast.AugAssign) else _other_side(value, target.id)
        if maker is None or not context.kind(maker).is_tensor:
            continue
        # An integer Tensor and a number that is counted join.
        if not none and _is_integer(maker, context) and isinstance(literal_number(before.value), int):
            continue
        found.append((target.id, maker))
    return found


def _other_side(value: ast.expr, name: str) -> ast.expr | None:
    """`E` of `name + E` or `E + name`; the whole where the name is not in it."""
    if isinstance(value, ast.BinOp):
        if isinstance(value.left, ast.Name) and value.left.id == name:
            return value.right
        if isinstance(value.right, ast.Name) and value.right.id == name:
            return value.left
    return None if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value)) else value


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
    _spell_out(name, context, rewrite)
    ms = rewrite.spell("mindspore.float32").removesuffix(".float32")
    made = rewrite.spell("mindspore.Tensor")
    dtype = dtype_text(value, context, ms)
    rewrite.replace(before.value, f"{made}({context.text(before.value)}, {dtype})", context.parent(before.value))
    return rewrite.unsafe(title, "where the loop does not run it is a Tensor, not a number")
