"""GW912: variables that are bound again after a nested function took them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import Module
from graphward.analysis.names import defaults_of
from graphward.analysis.tree import children
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rewrite import Rewrite
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import (
    CannotRewrite,
    block_lines,
    first_line,
    indent_of,
    last_line,
    lead_parameters,
    remove_statement,
    siblings,
    stands_alone,
    starts_line,
)
from ._closures import COMPREHENSIONS, FUNCTIONS, Closures, Late, Making, keeps_functions

# Statements of which a part may run before another one that stands above it, or long after all.
_LONG = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match, ast.FunctionDef)


class LateBinding(Rule):
    """A variable that a nested function reads is bound again before the function runs.

    ## What it finds

    A lambda, a nested `def` or a generator in a graph region that reads a variable of the function around it, where
    that variable is assigned again, or the list, dict or Tensor in it is changed, after the function was made and
    before it is used: called, handed to something else or returned. Functions that a loop or a comprehension keeps
    count too (`[lambda v: v + i for i in ...]`).

    ## Why

    Python looks the variable up when the function runs, the graph when it makes it, without a word: here PyNative adds
    2 and the graph 1.

        k = 1
        f = lambda v: v + k
        k = 2
        return f(x)

    A variable that has no value yet where the function is made does not compile:

        NameError: The name 'k' is not defined, or not supported in graph mode.

    An augmented assignment of a Tensor is left alone: the graph writes into the Tensor that the function has.

    ## Example

    The function is made where it is used, if that is behind the last assignment,

        k = 1
        k = 2
        f = lambda v: v + k
        return f(x)

    and is given the value otherwise:

        f = lambda k, v: v + k
        for i in range(3):
            k = k + i
            x = f(k, x)

    ## What the rewrite assumes

    Nothing: both mean in PyNative what the code meant before.

    ## When it is unsafe

    Never: what neither of the two heals is left to a person, and so are the functions that a loop or a comprehension
    keeps: in PyNative all of them read the last value of its variable, which most likely nobody meant.

    ## References

    "Why do lambdas defined in a loop with different values all return the same result?" in Python's programming FAQ.
    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW912"
    name = "late-binding"
    consequence = Consequence.DIVERGENCE
    triggers = (b"lambda", b"def ", b" for ")
    nodes = (*FUNCTIONS, ast.GeneratorExp)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        closures = context.once(("late-binding", context.function), lambda: Closures(context))
        told: set[tuple[ast.stmt, frozenset[ast.AST]]] = set()
        for late in closures.late:
            # Functions of one statement are one matter.
            key = (late.making.statement, frozenset(late.bindings.values()))
            if late.making.node is node and key not in told:
                yield self._finding(late, closures, context)
            told.add(key)

    def _finding(self, late: Late, closures: Closures, context: FunctionContext) -> Finding:
        making = late.making
        what = making.variable or ("the generator" if isinstance(making.node, ast.GeneratorExp) else "the lambda")
        place = min(late.bindings.values(), key=context.module.start)
        names = ", ".join(sorted(late.bindings))
        if late.unbound:
            missing = ", ".join(sorted(late.unbound))
            message = f"{what} reads {missing}, which has no value yet where the graph makes {what}"
            consequence = Consequence.ERROR
        else:
            message = f"{what} was made before this: in PyNative it reads the new {names}, in the graph the old"
            consequence = Consequence.DIVERGENCE
        return context.finding(self, place, message, fixes=_fixes(late, closures, context), consequence=consequence)


def _fixes(late: Late, closures: Closures, context: FunctionContext) -> tuple[Fix, ...]:
    name, names = late.making.variable, sorted(late.bindings)
    listed = ", ".join(names)
    fixes: list[Fix] = []
    reasons: list[str] = []
    for title, way in ((f"Make {name} where it is used", _moved), (f"Give {name} {listed} as an argument", _given)):
        try:
            fixes.append(way(late, closures, context).safe(title))
        except CannotRewrite as reason:
            reasons.append(str(reason))
    if fixes:
        return tuple(fixes)
    if _of_a_round(late, context):
        advice = (
            f"in PyNative each of these functions reads the last {listed}; say which is meant: one that makes them "
            f"(`def made({names[0]}): ...` and `return {name or 'step'}` in it) gives each its own"
        )
    else:
        advice = (
            f"not changed by itself: {'; '.join(dict.fromkeys(reasons))}; make it behind the last assignment of "
            f"{listed}, or give it the value as an argument"
        )
    return (context.rewrite().manual("Make it behind the assignment", advice),)


def _of_a_round(late: Late, context: FunctionContext) -> bool:
    """Whether a loop or comprehension that makes a function in each round binds what the function reads."""
    bindings = set(late.bindings.values())
    for outer in context.around(late.making.node):
        generators = outer.generators if isinstance(outer, COMPREHENSIONS) else []
        targets = [outer.target] if isinstance(outer, ast.For) else [g.target for g in generators]
        if any(n in bindings for t in targets for n in ast.walk(t)):
            return True
    return False


def _mentions(making: Making, context: FunctionContext) -> list[ast.Name]:
    """Where the variable of a function stands, apart from where it is made. Raises CannotRewrite without one."""
    if making.variable is None:
        raise CannotRewrite("the function has no name of its own")
    own = making.statement.targets[0] if isinstance(making.statement, ast.Assign) else None
    again = [n for n in context.function.nodes if isinstance(n, ast.FunctionDef) and n.name == making.variable]
    if any(n is not making.node for n in again):
        raise CannotRewrite("its name is bound again")
    return [
        n for n in context.function.nodes if isinstance(n, ast.Name) and n.id == making.variable and n is not own
    ]  # fmt: skip


def _moved(late: Late, closures: Closures, context: FunctionContext) -> Rewrite:
    """The function made right before the first statement that mentions it. Raises CannotRewrite."""
    making, module = late.making, context.module
    statement = making.statement
    mentions = _mentions(making, context)
    inside = [n for n in mentions if not _within(n, statement, module)]
    block = siblings(context, statement)
    behind = block[block.index(statement) + 1 :]
    holding = [s for s in behind if any(_within(n, s, module) for n in inside)]
    if not holding or not all(any(_within(n, s, module) for s in holding) for n in inside):
        raise CannotRewrite("it is mentioned outside of the block that makes it")
    first, last = holding[0], holding[-1]
    between = behind[: behind.index(first)]
    start, limit = module.start(first), module.end(last) if isinstance(last, _LONG) else module.start(last)
    evaluated = _evaluated(making, context)
    for name, node in closures.writes:
        place = module.start(node)
        if name in making.reads and start <= place < limit:
            raise CannotRewrite(f"{name} is bound again where it is used")
        if name in evaluated and module.end(statement) <= place < start:
            raise CannotRewrite(f"it is made with a {name} that is bound again")
    if not between:
        raise CannotRewrite("it is made right before its use")
    if not stands_alone(module, statement):
        raise CannotRewrite("it shares its line with others")
    rewrite = context.rewrite()
    above = _comment_above(statement, block, context)
    lines = block_lines(module, [statement], indent_of(module, statement), above)
    if not starts_line(module, first):
        raise CannotRewrite("nothing can be put before its use")
    source, newline = module.source, module.source.newline
    top = _first_comment(first, last_line(block[block.index(first) - 1]), module)
    if isinstance(statement, ast.FunctionDef):
        lines = [*([""] if source.line_bytes(top - 1).strip() else []), *lines, ""]
    rewrite.insert(source.offset(top, 0), "".join(f"{line}{newline}" for line in lines))
    remove_statement(context, rewrite, statement, keep_comments=False, top=_first_comment(statement, above, module))
    return rewrite


def _comment_above(statement: ast.stmt, block: list[ast.stmt], context: FunctionContext) -> int:
    """The last line above a statement that may hold no comment of its own."""
    index = block.index(statement)
    if index:
        return last_line(block[index - 1])
    parent = context.parent(statement)
    return getattr(parent, "lineno", first_line(statement) - 1)


def _first_comment(statement: ast.stmt, after: int, module: Module) -> int:
    """The line on which a statement starts, with the comments right above it."""
    line = first_line(statement)
    while line - 1 > after and module.source.line_bytes(line - 1).strip().startswith(b"#"):
        line -= 1
    return line


def _evaluated(making: Making, context: FunctionContext) -> set[str]:
    """The names that are read where the function is made. Raises CannotRewrite where more is done there."""
    statement = making.statement
    stack: list[ast.AST] = []
    if isinstance(statement, ast.Assign):
        stack.append(statement.value)
    elif isinstance(statement, ast.FunctionDef):
        if statement.decorator_list:
            raise CannotRewrite("it is decorated")
        stack += defaults_of(statement.args).values()
    names: set[str] = set()
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Lambda):
            stack += defaults_of(node.args).values()
        elif isinstance(node, ast.GeneratorExp):
            stack.append(node.generators[0].iter)
        elif isinstance(node, ast.Call) and not keeps_functions(node, context):
            raise CannotRewrite("something is called where it is made")
        elif isinstance(node, ast.NamedExpr):
            raise CannotRewrite("a name is bound where it is made")
        elif isinstance(node, ast.Attribute) and context.resolve(node) is None:
            raise CannotRewrite("it is made with an attribute, which may change")
        else:
            if isinstance(node, ast.Name):
                names.add(node.id)
            stack += children(node)
    return names


def _given(late: Late, closures: Closures, context: FunctionContext) -> Rewrite:
    """The function with the variables as arguments. Raises CannotRewrite."""
    making, module = late.making, context.module
    node, names = making.node, sorted(late.bindings)
    calls = []
    mentions = _mentions(making, context)
    if not making.direct or isinstance(node, ast.GeneratorExp):
        raise CannotRewrite("the function has no name of its own")
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        raise CannotRewrite("it is decorated")
    for mention in mentions:
        call = context.parent(mention)
        if not isinstance(mention.ctx, ast.Load) or not (isinstance(call, ast.Call) and call.func is mention):
            raise CannotRewrite("it is used otherwise than by calls")
        if any(isinstance(n, ast.NamedExpr) for n in ast.walk(call)):
            raise CannotRewrite("a call of it binds names")
        if any(set(names) & _bound_by(a) for a in context.around(call) if a not in (node, context.function.node)):
            raise CannotRewrite("a name means something else at a call of it")
        calls.append(call)
    rewrite = context.rewrite()
    lead_parameters(module, node, names, rewrite)
    for call in calls:
        start = module.source.utf8.index(b"(", module.end(call.func)) + 1
        rewrite.insert(start, ", ".join(names) + (", " if call.args or call.keywords else ""))
    return rewrite


def _bound_by(node: ast.AST) -> set[str]:
    """The names that a scope binds, if the node is one."""
    if isinstance(node, COMPREHENSIONS):
        return {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    if isinstance(node, FUNCTIONS):
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        return stored | {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    return set()


def _within(node: ast.AST, statement: ast.stmt, module: Module) -> bool:
    start = module.source.offset(first_line(statement), 0)
    return max(start, 0) <= module.start(node) < module.end(statement) and last_line(statement) >= node.lineno  # type: ignore[attr-defined]
