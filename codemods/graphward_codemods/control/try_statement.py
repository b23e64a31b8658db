"""GW301: `try`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._blocks import (
    CannotRewrite,
    block_lines,
    fresh,
    indent_of,
    leaves,
    module_statement,
    own_nodes,
    remove_statement,
    replace_statement,
    stands_alone,
    step_of,
)
from ._handlers import ANY, exceptions, raised, test_for

_TRY: tuple[type[ast.AST], ...] = tuple(c for n in ("Try", "TryStar") if (c := getattr(ast, n, None)) is not None)
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", ANY})
_CATCHES_NOTHING = "nothing is caught in a graph: an error reaches the caller of the Cell"


class TryStatement(Rule):
    """`try` does not compile.

    ## What it finds

    `try` with `except` or `finally` in a graph region, and in the helpers that it calls.

    ## Why

    The compiler knows no such statement (MindSpore 2.7 to 2.10): `RuntimeError: Unsupported statement 'Try'.`

    ## Example

        try:
            scale = options["scale"]
        except KeyError:
            scale = 1.0

    becomes

        if "scale" in options:
            scale = options["scale"]
        else:
            scale = 1.0

    A handler is turned into the test that it stands for: a key that is missing, an index too large, a division of
    numbers by zero, an attribute that is not there, a shape with another number of dimensions, an `if` that raises.
    Where none is seen the body is kept and the handler dropped. A `finally` follows the body. A guarded import moves
    to the top of the file.

    ## What the rewrite assumes

    That the body fails in the way that the test asks for, and in no other. Errors in operators are raised while the
    graph is compiled, or by the device: there is nothing in a graph that could catch them.

    ## When it is unsafe

    Always, except for a `finally` that does nothing: other errors are not caught any more.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW301"
    name = "try-statement"
    consequence = Consequence.ERROR
    triggers = (b"try",)
    nodes = _TRY

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        yield context.finding(self, node, "try does not compile", fixes=tuple(_fixes(node, context)))  # type: ignore[arg-type]


def _fixes(node: ast.Try, context: FunctionContext) -> Iterable[Fix]:
    problem = ""
    found = []
    for attempt in (_moved, _tested, _raised, _plain):
        try:
            found.append(attempt(node, context))
        except CannotRewrite as reason:
            problem = str(reason) or problem
    if not found:
        advice = "test for what may go wrong before it does, or catch the error around the call of the Cell"
        found.append(context.rewrite().manual("Do without the try", f"not changed by itself: {problem}; {advice}"))
    return found[:2]


def _moved(node: ast.Try, context: FunctionContext) -> Fix:
    """A guarded import, as it stands, to the top of the file."""
    imports = [s for s in node.body if isinstance(s, (ast.Import, ast.ImportFrom))]
    if not imports or not any(exceptions(h) & _IMPORT_ERRORS for h in node.handlers):
        raise CannotRewrite("")
    if any(isinstance(n, (ast.Return, ast.Break, ast.Continue, ast.Yield)) for n in ast.walk(node)):
        raise CannotRewrite("the import decides how the function goes on")
    bound = {a.asname or a.name.split(".")[0] for s in imports for a in s.names}
    bound |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names = context.function.names
    inside = set(ast.walk(node))
    for other in context.function.nodes:
        if isinstance(other, ast.Name) and other.id in bound and other not in inside:
            if not isinstance(other.ctx, ast.Load):
                raise CannotRewrite(f"{other.id} is assigned elsewhere too")
    for name in inside:
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load) and name.id not in bound:
            if names.is_local(name.id):
                raise CannotRewrite(f"it reads {name.id} of {context.function.name}")
    module = context.module
    if bound & (module.definitions.keys() | module.assignments.keys()):
        raise CannotRewrite("the file uses the name for something else")
    rewrite = context.rewrite()
    newline = module.source.newline
    lines = block_lines(module, [node], "")
    rewrite.insert(module.source.offset(module_statement(context), 0), newline.join(lines) + newline * 3)
    remove_statement(context, rewrite, node, keep_comments=False)
    return rewrite.unsafe("Import it at the top of the file", "the module is then imported with this file")


def _tested(node: ast.Try, context: FunctionContext) -> Fix:
    """The tests that handlers stand for, with the body and the handlers as branches."""
    tests = [(h, test_for(node.body, h, context)) for h in node.handlers]
    known = [(h, t) for h, t in tests if t]
    if not known:
        raise CannotRewrite("no test stands for what the handler catches")
    module = context.module
    indent, step = indent_of(module, node), step_of(context.function)
    inner = indent + step
    body = block_lines(module, node.body, inner, node.lineno)
    if node.orelse:
        body += block_lines(module, node.orelse, inner)
    for handler, _ in known:
        _check_name(handler)
    arms = [block_lines(module, h.body, inner, h.lineno) for h, _ in known]
    if len(known) == 1:
        lines = [f"{indent}if {known[0][1]}:", *body]
        if [line.strip() for line in arms[0]] != ["pass"]:
            lines += [f"{indent}else:", *arms[0]]
    else:
        lines = []
        for (_, test), arm in zip(known, arms, strict=True):
            lines += [f"{indent}{'elif' if lines else 'if'} not ({test}):", *arm]
        lines += [f"{indent}else:", *body]
    rewrite = context.rewrite()
    replace_statement(context, rewrite, node, _with_final(node, lines, context))
    return rewrite.unsafe("Test for what the handler catches", f"{_CATCHES_NOTHING} unless the test asks for it")


def _raised(node: ast.Try, context: FunctionContext) -> Fix:
    """`if c: raise E` in the body: the handler takes the place of the raise."""
    if len(node.handlers) != 1:
        raise CannotRewrite("it has several handlers")
    handler = node.handlers[0]
    found = next(iter(raised(node.body, handler)), None)
    if found is None:
        raise CannotRewrite("")
    _check_name(handler)
    i, statement = found
    module = context.module
    indent, step = indent_of(module, node), step_of(context.function)
    inner = indent + step
    lines = block_lines(module, node.body[:i], indent, node.lineno) if i else []
    test = context.text(statement.test)
    lines.append(f"{indent}if {f'({test})' if chr(10) in test else test}:")
    lines += block_lines(module, handler.body, inner, handler.lineno)
    rest = [*node.body[i + 1 :]]
    if rest or node.orelse:
        lines.append(f"{indent}else:")
        lines += block_lines(module, rest, inner) if rest else []
        lines += block_lines(module, node.orelse, inner) if node.orelse else []
    rewrite = context.rewrite()
    replace_statement(context, rewrite, node, _with_final(node, lines, context))
    return rewrite.unsafe("Let the handler follow the test", _CATCHES_NOTHING)


def _plain(node: ast.Try, context: FunctionContext) -> Fix:
    """The body without its handlers."""
    module = context.module
    if any(isinstance(s, (ast.Import, ast.ImportFrom)) for s in node.body):
        raise CannotRewrite("an import is guarded")
    if any(isinstance(n, ast.Raise) for n in own_nodes(node.body)) and node.handlers:
        if not all(_raises_again(h) for h in node.handlers):
            raise CannotRewrite("the body raises on purpose what a handler catches")
    indent = indent_of(module, node)
    lines = block_lines(module, node.body, indent, node.lineno)
    if node.orelse:
        lines += block_lines(module, node.orelse, indent)
    lines = _with_final(node, lines, context)
    rewrite = context.rewrite()
    replace_statement(context, rewrite, node, lines)
    if node.handlers:
        return rewrite.unsafe("Keep the body, drop the handlers", _CATCHES_NOTHING)
    if all(isinstance(s, ast.Pass) for s in node.finalbody):
        return rewrite.safe("Keep the body")
    return rewrite.unsafe("Let the finally follow the body", "an error in the body leaves the finally part undone")


def _raises_again(handler: ast.ExceptHandler) -> bool:
    return isinstance(handler.body[-1], ast.Raise)


def _check_name(handler: ast.ExceptHandler) -> None:
    """Raises CannotRewrite when the handler reads the exception, which would no longer exist."""
    if handler.name is not None:
        if any(isinstance(n, ast.Name) and n.id == handler.name for s in handler.body for n in ast.walk(s)):
            raise CannotRewrite("the handler reads the exception")
    if any(isinstance(n, ast.Raise) and n.exc is None for n in own_nodes(handler.body)):
        raise CannotRewrite("the handler raises the exception again")


def _with_final(node: ast.Try, lines: list[str], context: FunctionContext) -> list[str]:
    """The lines followed by those of the `finally`, also before each place that leaves the block."""
    final = [s for s in node.finalbody if not isinstance(s, ast.Pass)]
    if not final:
        return lines
    module = context.module
    indent = indent_of(module, node)
    blocks = [node.body, node.orelse, *(h.body for h in node.handlers)]
    jumps = [j for b in blocks for j in leaves(b)]
    last = node.orelse[-1] if node.orelse else node.body[-1]
    if not jumps:
        return [*lines, *block_lines(module, node.finalbody, indent)]
    if node.handlers or jumps != [last] or not isinstance(last, ast.Return) or not stands_alone(module, last):
        raise CannotRewrite("the block is left before the finally part")
    if last.value is None:
        return [*lines[:-1], *block_lines(module, node.finalbody, indent), f"{indent}return"]
    result = fresh(context, "result")
    value = context.text(last.value)
    count = (last.end_lineno or last.lineno) - last.lineno + 1
    return [
        *lines[: len(lines) - count],
        f"{indent}{result} = {f'({value})' if chr(10) in value else value}",
        *block_lines(module, node.finalbody, indent),
        f"{indent}return {result}",
    ]
