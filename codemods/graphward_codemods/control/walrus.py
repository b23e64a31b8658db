"""GW309: `:=`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix
from graphward.source.precedence import guarded

from .._blocks import (
    CannotRewrite,
    block_lines,
    first_line,
    indent_of,
    last_line,
    own_nodes,
    replace_statement,
    stands_alone,
    starts_line,
    step_of,
)
from ._order import evaluated_before, is_certain

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Walrus(Rule):
    """An assignment inside an expression, `:=`, does not compile.

    ## What it finds

    `name := value` in a graph region.

    ## Why

    The compiler knows no such expression (MindSpore 2.7 to 2.10): `RuntimeError: Unsupported expression 'NamedExpr'.`

    ## Example

        if (n := x.shape[0]) > 1:
            return x * n

    becomes

        n = x.shape[0]
        if n > 1:
            return x * n

    The condition of a `while` is assigned before the loop and again at the end of each round. A condition behind `and`
    becomes an `if` of its own. In a comprehension or lambda the value stands in the place of each use.

    ## What the rewrite assumes

    Nothing, where the value is evaluated in any case and nothing before it calls anything.

    ## When it is unsafe

    When calls that stood before it are now made after it, and when a value is now evaluated more than once.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW309"
    name = "walrus"
    consequence = Consequence.ERROR
    triggers = (b":=",)
    nodes = (ast.NamedExpr,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.NamedExpr)
        yield context.finding(self, node, ":= does not compile", fixes=(_fix(node, context),))


def _fix(node: ast.NamedExpr, context: FunctionContext) -> Fix:
    problem = ""
    for attempt in (_before, _as_condition, _in_place):
        try:
            return attempt(node, context)
        except CannotRewrite as reason:
            problem = problem or str(reason)
    title = f"Assign {node.target.id} in a statement of its own"
    return context.rewrite().manual(title, f"not changed by itself: {problem}")


def _before(node: ast.NamedExpr, context: FunctionContext) -> Fix:
    """The assignment as a statement before the one that it is in."""
    statement = context.statement(node)
    parents = context.function.parents
    name = node.target.id
    if not is_certain(node, parents, statement):
        raise CannotRewrite("it is not evaluated in any case")
    earlier = evaluated_before(node, parents, statement)
    if any(isinstance(n, ast.Name) and n.id == name for n in earlier):
        raise CannotRewrite(f"{name} is read before it is assigned")
    if any(isinstance(n, ast.NamedExpr) for n in [*earlier, *ast.walk(node.value)]):
        raise CannotRewrite("another := has to go first")
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        raise CannotRewrite("it stands in the head of a definition")
    calls = any(isinstance(n, ast.Call) for n in earlier)
    assignment = f"{name} = {_one_line(context, node.value)}"
    rewrite = context.rewrite()
    title = f"Assign {name} before"
    if isinstance(statement, ast.While):
        _around_loop(statement, node, assignment, context, rewrite)
    elif isinstance(statement, ast.If) and not starts_line(context.module, statement):
        _in_elif(statement, node, assignment, context, rewrite)
    elif not starts_line(context.module, statement) or not _simple_position(statement, node, parents):
        raise CannotRewrite("nothing can be put before its statement")
    else:
        module = context.module
        rewrite.insert(module.source.offset(first_line(statement), 0),
                       f"{indent_of(module, statement)}{assignment}{module.source.newline}")  # fmt: skip
        _name_alone(node, context, rewrite)
    if calls:
        return rewrite.unsafe(title, "calls that stood before it are now made after it")
    return rewrite.safe(title)


def _simple_position(statement: ast.stmt, node: ast.NamedExpr, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether the expression is evaluated when the statement starts: not in the body of a `with` item list's later
    items, which follow the entering of the first."""
    return not (isinstance(statement, (ast.With, ast.AsyncWith)) and len(statement.items) > 1)


def _name_alone(node: ast.NamedExpr, context: FunctionContext, rewrite: Rewrite) -> None:
    """The name in the place of `(name := value)`, its parentheses included."""
    start, end = _with_parentheses(node, context)
    rewrite.replace_span(start, end, node.target.id)


def _with_parentheses(node: ast.NamedExpr, context: FunctionContext) -> tuple[int, int]:
    module = context.module
    data = module.source.utf8
    start, end = module.start(node), module.end(node)
    parent = context.parent(node)
    before, after = data[:start].rstrip(b" \t"), data[end:]
    gap = len(after) - len(after.lstrip(b" \t"))
    called = isinstance(parent, ast.Call) and node is not parent.func and not _doubled(before)
    if before.endswith(b"(") and after.lstrip(b" \t").startswith(b")") and not called:
        return len(before) - 1, end + gap + 1
    return start, end


def _doubled(before: bytes) -> bool:
    """Whether the bracket is not the one of the call: `f((n := 1))`, `f(a, (n := 1))`."""
    return before[:-1].rstrip()[-1:] in (b"(", b",", b"=")


def _one_line(context: FunctionContext, value: ast.expr) -> str:
    text = context.text(value)
    return f"({text})" if "\n" in text or isinstance(value, ast.NamedExpr) else text


def _edited(context: FunctionContext, statement: ast.stmt, node: ast.NamedExpr, first: int, last: int) -> list[str]:
    """The lines `first` to `last` with the name in the place of the `:=`, which stands on one of them."""
    if node.lineno != node.end_lineno:
        raise CannotRewrite("it runs over several lines")
    source = context.module.source
    start, end = _with_parentheses(node, context)
    lines = []
    for number in range(first, last + 1):
        raw = source.line_bytes(number)
        offset = source.offset(number, 0)
        if offset <= start < offset + len(raw):
            raw = raw[: start - offset] + node.target.id.encode() + raw[end - offset :]
        lines.append(raw.decode().rstrip("\r\n"))
    return lines


def _around_loop(
    statement: ast.While, node: ast.NamedExpr, assignment: str, context: FunctionContext, rewrite: Rewrite
) -> None:
    module = context.module
    if statement.body[0].lineno == statement.lineno:
        raise CannotRewrite("the loop stands on one line")
    lines = _edited(context, statement, node, statement.lineno, last_line(statement))
    first = statement.lineno
    end = last_line(statement.body[-1])
    inner = module.source.indent(first_line(statement.body[0]))
    if not isinstance(statement.body[-1], (ast.Break, ast.Return, ast.Raise, ast.Continue)):
        lines.insert(end + 1 - first, inner + assignment)
    jumps = [n for n in own_nodes(statement.body, loops=False) if isinstance(n, ast.Continue)]
    for jump in sorted(jumps, key=lambda j: j.lineno, reverse=True):
        if not stands_alone(module, jump):
            raise CannotRewrite("a continue shares its line with other code")
        lines.insert(jump.lineno - first, indent_of(module, jump) + assignment)
    replace_statement(context, rewrite, statement, [indent_of(module, statement) + assignment, *lines])


def _in_elif(
    statement: ast.If, node: ast.NamedExpr, assignment: str, context: FunctionContext, rewrite: Rewrite
) -> None:
    """`elif (n := x):` becomes `else:` with the assignment and an `if`."""
    source = context.module.source
    first, last = statement.lineno, last_line(statement)
    indent, step = source.indent(first), step_of(context.function)
    lines = _edited(context, statement, node, first, last)
    inside = {
        n for s in (*statement.body, *statement.orelse) for c in ast.walk(s)
        if isinstance(c, (ast.Constant, ast.JoinedStr)) for n in range(c.lineno + 1, (c.end_lineno or c.lineno) + 1)
    }  # fmt: skip
    head = lines[0]
    assert head[len(indent) :].startswith("elif")
    lines[0] = indent + head[len(indent) + 2 :]
    moved = [x if first + i in inside or not x.strip() else step + x for i, x in enumerate(lines)]
    text = source.newline.join([f"{indent}else:", f"{indent}{step}{assignment}", *moved])
    end = source.offset(last, 0) + len(source.line_bytes(last).rstrip(b"\r\n"))
    rewrite.replace_span(source.offset(first, 0), end, text)


def _as_condition(node: ast.NamedExpr, context: FunctionContext) -> Fix:
    """`if a and (n := b) > 1:` without an `else`: two conditions, one inside the other."""
    statement = context.statement(node)
    module = context.module
    test = statement.test if isinstance(statement, ast.If) else None
    if not isinstance(statement, ast.If) or not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        raise CannotRewrite("it is not evaluated in any case")
    if statement.orelse or not stands_alone(module, statement) or "\n" in context.text(test):
        raise CannotRewrite("the other branch is taken whether it is evaluated or not")
    parents = context.function.parents
    place = next((i for i, v in enumerate(test.values) if node in ast.walk(v)), 0)
    if not place or (node is not test.values[place] and not is_certain(node, parents, test.values[place])):
        raise CannotRewrite("it is not evaluated in any case")
    inner = test.values[place]
    if any(isinstance(n, ast.Name) and n.id == node.target.id for n in evaluated_before(node, parents, test)):
        raise CannotRewrite(f"{node.target.id} is read before it is assigned")
    start, end = _with_parentheses(node, context)
    data = module.source.utf8
    rest = data[module.start(inner) : module.end(test)].decode()
    if start < module.start(inner):
        rest = node.target.id + data[end : module.end(test)].decode()
    else:
        rest = data[module.start(inner) : start].decode() + node.target.id + data[end : module.end(test)].decode()
    indent, step = indent_of(module, statement), step_of(context.function)
    outer = " and ".join(guarded(context.text(v), v, test) for v in test.values[:place])
    lines = [
        f"{indent}if {outer}:",
        f"{indent}{step}{node.target.id} = {_one_line(context, node.value)}",
        f"{indent}{step}if {rest}:",
        *block_lines(module, statement.body, indent + step * 2, test.end_lineno or statement.lineno),
    ]
    rewrite = context.rewrite()
    replace_statement(context, rewrite, statement, lines)
    return rewrite.safe(f"Assign {node.target.id} inside a condition of its own")


def _in_place(node: ast.NamedExpr, context: FunctionContext) -> Fix:
    """The value in the place of each use, all of which stand in the same statement."""
    parents = context.function.parents
    module = context.module
    statement = context.statement(node)
    head = _head(statement)
    inside = {n for h in head for n in ast.walk(h)}
    uses = []
    for other in context.function.nodes:
        if isinstance(other, ast.Name) and other.id == node.target.id and other is not node.target:
            if other not in inside or not isinstance(other.ctx, ast.Load):
                raise CannotRewrite(f"{node.target.id} is used in other statements too")
            uses.append(other)
    if any(isinstance(n, ast.NamedExpr) for n in ast.walk(node.value)):
        raise CannotRewrite("another := has to go first")
    text = context.text(node.value)
    if "\n" in text:
        raise CannotRewrite("its value runs over several lines")
    bound = {n.id for c in ast.walk(node.value) if isinstance(c, ast.comprehension) for n in ast.walk(c.target)
             if isinstance(n, ast.Name)}  # fmt: skip
    if bound:
        raise CannotRewrite("its value is a comprehension")
    _check_scope(node, uses, parents)
    rewrite = context.rewrite()
    start, end = _with_parentheses(node, context)
    parent = context.parent(node)
    rewrite.replace_span(start, end, guarded(text, node.value, parent) if parent else text)
    for use in uses:
        above = context.parent(use)
        rewrite.replace_span(module.start(use), module.end(use), guarded(text, use, above) if above else text)
    title = f"Write the value of {node.target.id} where it is used"
    if any(isinstance(n, ast.Call) for n in ast.walk(node.value)) and uses:
        return rewrite.unsafe(title, f"the value is evaluated {len(uses) + 1} times, a graph does that once")
    return rewrite.safe(title)


def _head(statement: ast.stmt) -> list[ast.AST]:
    """A statement without the statements in it."""
    return [n for n in ast.iter_child_nodes(statement) if not isinstance(n, (ast.stmt, ast.excepthandler))]


def _check_scope(node: ast.NamedExpr, uses: list[ast.Name], parents: dict[ast.AST, ast.AST]) -> None:
    """Raises CannotRewrite when the value reads names of a comprehension or lambda that a use is not part of."""
    scope: ast.AST = node
    while not isinstance(scope, (ast.stmt, ast.Lambda, *_COMPREHENSIONS)):
        scope = parents[scope]
    if isinstance(scope, ast.stmt):
        return
    inside = set(ast.walk(scope))
    if any(use not in inside for use in uses):
        raise CannotRewrite(f"{node.target.id} is used outside the comprehension")
