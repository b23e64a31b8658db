"""GW610: a jit wrapper, or a compiled Cell, that is made anew for each call."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import CannotRewrite, block_lines, comments_of, insert_before, remove_statement
from .._outside import visible
from ._wrappers import LOOPS, bound_in, is_compiled, loop_around, reads, wrapping_calls

_ONCE = "Make it once, before the loop"


class JitPerCall(Rule):
    """A jit wrapper or a compiled Cell is made for each call, and so compiled for each call.

    ## What it finds

    In the body of a loop: `jit(function)`, a `def` under `@jit`, and a Cell with a compiled `construct` that is made
    and called there. And `return jit(function)(x)` in a function that a loop of the same file calls. What depends on
    the variables of the loop is another function in each round, and left alone; so is what stands under an `if`.

    ## Why

    The graph belongs to the wrapper and to the instance. Counted on MindSpore 2.7 and 2.10: four rounds of
    `jit(f)(x)`, of a `def` under `@jit`, of `Net()(x)` and of `jit(value_and_grad(f))` compile four times, one wrapper
    made before the loop once.

    ## Example

        for x in data:
            step = jit(forward)
            total += step(x)

    becomes

        step = jit(forward)
        for x in data:
            total += step(x)

    ## What the rewrite assumes

    That the function is the same in each round.

    ## When it is unsafe

    A wrapper: when what it reads from outside is changed by the loop through other names. A Cell: always, for one
    instance keeps its weights and its state from round to round.

    ## References

    `mindspore.jit`. Measured on MindSpore 2.7 and 2.10 CPU by counting compilations.
    """

    code = "GW610"
    name = "jit-per-call"
    consequence = Consequence.PERFORMANCE
    triggers = (b"jit", b"ms_function", b"GRAPH_MODE")

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        yield from self._wrappers(context)
        yield from self._definitions(context)
        yield from self._cells(context)

    def _wrappers(self, context: ModuleContext) -> Iterator[Finding]:
        for call, function in wrapping_calls(context):
            around = context.function_at(call)
            if isinstance(function, ast.Lambda) or around in context.inference.reached:
                continue
            loop = loop_around(context, call)
            if loop is not None and not reads(call) & bound_in(loop):
                message = "jit makes a new wrapper in each round: each compiles anew"
                yield context.finding(self, call, message, fixes=(_hoisted(context, call, loop),))
            elif loop is None and around is not None and _called_at_once(context, call) and _looped(context, around):
                message = f"each call of {around.name}, which a loop calls, makes a new jit wrapper: each compiles anew"
                where = f"make the wrapper outside of {around.name} and use it there"
                fix = context.rewrite().manual("Make it once", where)
                yield context.finding(self, call, message, fixes=(fix,))

    def _definitions(self, context: ModuleContext) -> Iterator[Finding]:
        for function in context.module.functions:
            if not is_compiled(function) or function.owner is not None:
                continue
            loop = loop_around(context, function.node)
            if loop is not None and function.outer not in context.inference.reached:
                message = f"{function.name} is defined under jit in each round of a loop: each definition compiles anew"
                fix = _moved(context, function.node, loop, function.name)
                yield context.finding(self, function.node.decorator_list[0], message, fixes=(fix,))

    def _cells(self, context: ModuleContext) -> Iterator[Finding]:
        graph_mode = b"GRAPH_MODE" in context.module.source.utf8
        for call in context.calls:
            if not isinstance(call.func, ast.Name):
                continue
            loop = loop_around(context, call)
            if loop is None or context.function_at(call) in context.inference.reached:
                continue
            made = visible(context, call.func)
            construct = context.project.method(made, "construct") if isinstance(made, ClassInfo) else None
            if construct is None or not (graph_mode or is_compiled(construct)) or reads(call) & bound_in(loop):
                continue
            if _called_at_once(context, call) or _called_in(context, call, loop):
                message = f"a new {call.func.id} in each round: each instance compiles its graph anew"
                fix = _hoisted(context, call, loop, "one instance keeps its weights and state from round to round")
                yield context.finding(self, call, message, fixes=(fix,))


def _called_at_once(context: ModuleContext, call: ast.Call) -> bool:
    outer = context.parent(call)
    return isinstance(outer, ast.Call) and outer.func is call


def _called_in(context: ModuleContext, call: ast.Call, loop: ast.stmt) -> bool:
    """Whether the loop calls the variable that an instance is assigned to."""
    statement = context.statement(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    return isinstance(target, ast.Name) and any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == target.id for n in ast.walk(loop)
    )


def _looped(context: ModuleContext, function: FunctionInfo) -> bool:
    """Whether a loop of the file calls a function by its name."""
    for call in context.calls:
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if called == function.name and any(isinstance(outer, LOOPS) for outer in context.around(call)):
            return context.function_at(call) is not function
    return False


def _hoisted(context: ModuleContext, call: ast.Call, loop: ast.stmt, doubt: str = "") -> Fix:
    """The wrapper or instance made before the loop."""
    statement = context.statement(call)
    if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            return _moved(context, statement, loop, target.id, doubt)
    rewrite = context.rewrite()
    try:
        if any(line in comments_of(context.module) for line in range(call.lineno, (call.end_lineno or 0) + 1)):
            raise CannotRewrite("there are comments in it")
        name = _fresh(context, "compiled" if not doubt else "net")
        insert_before(context, rewrite, loop, [f"{name} = {context.text(call)}"])
        rewrite.replace_span(context.module.start(call), context.module.end(call), name)
    except CannotRewrite as reason:
        return context.rewrite().manual(_ONCE, f"not moved by itself: {reason}")
    return rewrite.unsafe(_ONCE, doubt or _SAME)


_SAME = "what the function reads from outside is taken to stay the same from round to round"


def _moved(context: ModuleContext, statement: ast.stmt, loop: ast.stmt, name: str, doubt: str = "") -> Fix:
    """A statement moved out of the loop, which gives `name` no other value."""
    rewrite = context.rewrite()
    others = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)]
    own = set(ast.walk(statement))
    inside = {n.id for n in own if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    inside |= {n.arg for n in own if isinstance(n, ast.arg)}
    try:
        if any(n not in own for n in others):
            raise CannotRewrite(f"the loop gives {name} other values too")
        if (reads(statement) - inside) & (bound_in(loop) - {name}):
            raise CannotRewrite("it reads variables of the loop: pass them as arguments, and make it before the loop")
        insert_before(context, rewrite, loop, block_lines(context.module, [statement], ""))
        remove_statement(context, rewrite, statement, keep_comments=False)
    except CannotRewrite as reason:
        return context.rewrite().manual(_ONCE, f"not moved by itself: {reason}")
    return rewrite.unsafe(_ONCE, doubt or _SAME)


def _fresh(context: ModuleContext, wanted: str) -> str:
    taken = context.module.global_names | set(context.module.definitions) | set(context.module.names.aliases)
    return next(name for name in (wanted, *(f"{wanted}_{n}" for n in range(2, 100))) if name not in taken)
