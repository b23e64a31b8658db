"""Statements as lines: the text of a block moved to another depth, whole statements replaced, removed or preceded."""

from __future__ import annotations

import ast
import io
import tokenize
from weakref import WeakKeyDictionary

from graphward.analysis.module import FunctionInfo, Module
from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext
from graphward.rules.module_context import ModuleContext
from graphward.rules.rewrite import Rewrite

Place = FunctionContext | ModuleContext

_comments: WeakKeyDictionary[Module, dict[int, str]] = WeakKeyDictionary()
_BODIES = ("body", "orelse", "finalbody")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class CannotRewrite(Exception):
    """Why a statement cannot be rewritten by itself."""


def comments_of(module: Module) -> dict[int, str]:
    """The comment of each line that has one."""
    if module not in _comments:
        reader = io.StringIO(module.source.text, newline="").readline
        tokens = tokenize.generate_tokens(reader)
        _comments[module] = {t.start[0]: t.string for t in tokens if t.type == tokenize.COMMENT}
    return _comments[module]


def first_line(statement: ast.stmt) -> int:
    """The line on which a statement starts, decorators included."""
    return min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])


def last_line(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def indent_of(module: Module, statement: ast.stmt) -> str:
    return module.source.indent(first_line(statement))


def step_of(function: FunctionInfo) -> str:
    """One more level of indentation, as the function's own body uses it."""
    source = function.module.source
    inner, outer = function.node.body[0].lineno, function.node.lineno
    return source.indent(inner)[len(source.indent(outer)) :] or "    "


def stands_alone(module: Module, statement: ast.stmt) -> bool:
    """Whether the lines of a statement hold no other code; an `elif` is part of its `if`."""
    source = module.source
    first, last = first_line(statement), last_line(statement)
    start = source.offset(first, 0)
    head = source.utf8[start : start + len(source.line_bytes(first))]
    if isinstance(statement, ast.If) and head.lstrip().startswith(b"elif"):
        return False
    column = statement.col_offset if first == statement.lineno else len(source.indent(first).encode())
    if source.utf8[start : start + column].strip():
        return False
    tail = source.utf8[module.end(statement) : source.offset(last, 0) + len(source.line_bytes(last))].strip()
    return not tail or tail.startswith(b"#")


def block_lines(module: Module, body: list[ast.stmt], indent: str, after: int = 0) -> list[str]:
    """The lines of a block, without line ends, at another depth; comments above it down from line `after` belong to
    it. What stands inside strings over several lines stays as it is."""
    source = module.source
    first, last = first_line(body[0]), last_line(body[-1])
    if source.utf8[source.offset(first, 0) : module.start(body[0])].strip() and not hasattr(body[0], "decorator_list"):
        text = source.utf8[module.start(body[0]) : module.end(body[-1])].decode()
        comment = comments_of(module).get(last, "")
        return [indent + text + (f"  {comment}" if comment else "")]
    old = source.indent(first)
    while after and first - 1 > after and source.line_bytes(first - 1).strip().startswith(b"#"):
        first -= 1
    inside = _string_lines(body)
    lines = []
    for number in range(first, last + 1):
        raw = source.line_bytes(number).decode().rstrip("\r\n")
        if number in inside:
            lines.append(raw)
        elif not raw.strip():
            lines.append("")
        elif raw.startswith(old):
            lines.append(indent + raw[len(old) :])
        else:
            lines.append(indent + raw.lstrip() if raw.lstrip().startswith("#") else raw)
    return lines


def _string_lines(body: list[ast.stmt]) -> set[int]:
    found: set[int] = set()
    for node in preorder(*body):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno and node.end_lineno > node.lineno:
            found.update(range(node.lineno + 1, node.end_lineno + 1))
    return found


def replace_statement(context: Place, rewrite: Rewrite, statement: ast.stmt, lines: list[str]) -> None:
    """Put `lines`, which carry their indentation, in the place of a statement; comments that they lack go above.
    Raises CannotRewrite when the statement shares its lines."""
    module = context.module
    if not stands_alone(module, statement):
        raise CannotRewrite("the statement shares its line with others")
    first, last = first_line(statement), last_line(statement)
    indent = indent_of(module, statement)
    text = "\n".join(lines)
    known = comments_of(module)
    lost = [f"{indent}{known[n]}" for n in range(first, last + 1) if n in known and known[n] not in text]
    source = module.source
    end = source.offset(last, 0) + len(source.line_bytes(last).rstrip(b"\r\n"))
    rewrite.replace_span(source.offset(first, 0), end, source.newline.join([*lost, *lines]))


def put_call(context: Place, rewrite: Rewrite, node: ast.expr, call: str) -> None:
    """Put a call, which binds as tightly as can be, in the place of an expression; comments amid its lines stay."""
    module = context.module
    if any(line in comments_of(module) for line in range(node.lineno, node.end_lineno or node.lineno)):
        rewrite.replace(node, call, context.parent(node))
    else:
        rewrite.replace_span(module.start(node), module.end(node), call)


def remove_statement(
    context: Place, rewrite: Rewrite, statement: ast.stmt, *, keep_comments: bool = True, top: int | None = None
) -> None:
    """Take a statement away, its lines too, from line `top` above it on if given; the only one of a block becomes
    `pass`. Its comments stay, unless they went elsewhere with it."""
    module = context.module
    source = module.source
    if len(siblings(context, statement)) == 1 or not stands_alone(module, statement):
        rewrite.replace_span(module.start(statement), module.end(statement), "pass")
        return
    first, last = top or first_line(statement), last_line(statement)
    known = comments_of(module) if keep_comments else {}
    indent = indent_of(module, statement)
    kept = "".join(f"{indent}{known[n]}{source.newline}" for n in range(first, last + 1) if n in known)
    starts = source.line_starts
    begin = starts[first - 1]
    end = starts[last] if last < len(starts) else len(source.utf8)
    above = source.line_bytes(first - 1).strip() if first > 1 else b""
    opens = above.endswith(b":") or not above
    if not kept and opens and last < len(starts) and not source.line_bytes(last + 1).strip():
        # What opened with the statement should not open with an empty line.
        end = starts[last + 1] if last + 1 < len(starts) else len(source.utf8)
    if not source.utf8[begin:end].endswith((b"\n", b"\r")) and not kept:
        # The last line of a file without a line end: the one above loses its own.
        begin = len(source.utf8[:begin].rstrip(b"\r\n"))
    rewrite.replace_span(begin, end, kept if end < len(source.utf8) or not kept else kept.rstrip("\r\n"))


def insert_before(context: Place, rewrite: Rewrite, statement: ast.stmt, lines: list[str]) -> None:
    """Insert lines, given without indentation, above a statement. Raises CannotRewrite where no line can stand."""
    module = context.module
    if not starts_line(module, statement):
        raise CannotRewrite("nothing can be put before it: it does not start its line")
    indent = indent_of(module, statement)
    newline = module.source.newline
    text = "".join(f"{indent if x else ''}{x}{newline}" for x in lines)
    rewrite.insert(module.source.offset(first_line(statement), 0), text)


def starts_line(module: Module, statement: ast.stmt) -> bool:
    source = module.source
    first = first_line(statement)
    if isinstance(statement, ast.If) and source.line_bytes(first).lstrip().startswith(b"elif"):
        return False
    if first != statement.lineno:
        return True
    return not source.utf8[source.offset(first, 0) : module.start(statement)].strip()


def lead_parameters(module: Module, node: ast.FunctionDef | ast.Lambda, names: list[str], rewrite: Rewrite) -> None:
    """Give a function new parameters in front of those that it has, which have other names."""
    taken = any(isinstance(a, ast.arg) for a in ast.walk(node.args))
    if isinstance(node, ast.Lambda):
        rewrite.insert(module.start(node) + len("lambda"), f" {', '.join(names)}{',' if taken else ''}")
        return
    start = module.source.utf8.index(b"(", module.start(node) + len("def ")) + 1
    rewrite.insert(start, ", ".join(names) + (", " if taken else ""))


def siblings(context: Place, statement: ast.stmt) -> list[ast.stmt]:
    """The block that a statement stands in."""
    parent = context.parent(statement)
    blocks = [getattr(parent, name, None) or [] for name in _BODIES]
    return next((b for b in blocks if isinstance(b, list) and statement in b), [statement])


def module_statement(context: FunctionContext) -> int:
    """The line of the module's own statement that the function stands in, decorators and comments above included."""
    line = context.function.first_line
    body = context.module.tree.body
    around = next(s for s in body if first_line(s) <= line <= (s.end_lineno or s.lineno))
    anchor = first_line(around)
    source = context.module.source
    while anchor > 1 and source.line_bytes(anchor - 1).startswith(b"#"):
        anchor -= 1
    return anchor


def own_nodes(body: list[ast.stmt], *, loops: bool = True) -> list[ast.AST]:
    """The nodes of a block without those of functions and classes in it; without `loops`, also without the bodies of
    its loops, which is where `break` and `continue` mean another loop."""
    found: list[ast.AST] = []
    stack: list[ast.AST] = list(reversed(body))
    while stack:
        node = stack.pop()
        found.append(node)
        if isinstance(node, _SCOPES):
            continue
        if isinstance(node, _LOOPS) and not loops:
            stack += reversed(node.orelse)
            continue
        stack += reversed(list(ast.iter_child_nodes(node)))
    return found


def leaves(body: list[ast.stmt]) -> list[ast.stmt]:
    """What leaves a block early: `return` anywhere in it, `break` and `continue` of a loop around it."""
    found: list[ast.stmt] = [n for n in own_nodes(body) if isinstance(n, ast.Return)]
    return found + [n for n in own_nodes(body, loops=False) if isinstance(n, (ast.Break, ast.Continue))]


def taken_names(context: FunctionContext) -> set[str]:
    """Every name that the function, those around it, or its module use."""
    taken = {n.id for n in context.function.nodes if isinstance(n, ast.Name)}
    scope: FunctionInfo | None = context.function
    while scope is not None:
        taken |= scope.names.hidden | set(scope.names.aliases)
        scope = scope.outer
    return taken | set(context.module.definitions) | set(context.module.assignments) | set(context.module.names.aliases)


def fresh(context: FunctionContext, wanted: str) -> str:
    """A name for a new local variable that nothing else in sight has."""
    taken = taken_names(context)
    if wanted not in taken:
        return wanted
    number = 2
    while f"{wanted}_{number}" in taken:
        number += 1
    return f"{wanted}_{number}"
