"""The graph code's side of a move: the attribute in place of the constructor call; statements that become needless."""

from __future__ import annotations

import ast
import tokenize

from graphward.analysis.module import Module
from graphward.rules.context import FunctionContext
from graphward.rules.rewrite import Rewrite

from ._creations import Creation
from ._layout import tokens
from ._loops import LoopUse
from ._moving import CannotMove
from ._plan import Plan, list_comprehension


def use_attribute(
    context: FunctionContext, creation: Creation, uses: list[LoopUse], attribute: str, rewrite: Rewrite, *,
    movable_comment: bool,
) -> str:  # fmt: skip
    """Put the attribute in the place of the constructor call. Returns a comment that moves with the statement; without
    `movable_comment` a statement with a comment stays."""
    module, function = context.module, creation.function
    receiver = function.receiver
    new = f"{receiver}.{attribute}"
    if creation.attribute:
        return _remove(module, creation, rewrite)
    replaced: ast.expr = creation.call
    whole = list_comprehension(creation)
    if uses and whole is not None:
        replaced, uses = whole, uses[:-1]
    for use in uses:
        for start, end, text in use.edits:
            if start == end:
                rewrite.insert(start, text)
            else:
                rewrite.replace_span(start, end, text)
        new += f"[{use.index}]"
    parent = function.parents[replaced]
    variable = parent.targets[0].id if _is_plain_assignment(parent) else ""  # type: ignore[attr-defined]
    loads = _loads(creation, variable, parent) if variable and not uses else []
    if loads:
        comment = _comment(module, creation.statement)
        if comment is not None and (movable_comment or not comment):
            for load in loads:
                rewrite.replace_span(module.start(load), module.end(load), new)
            _delete_lines(module, creation.statement, rewrite)
            return comment
    rewrite.replace_span(module.start(replaced), module.end(replaced), new)
    return ""


def _is_plain_assignment(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)


def _loads(creation: Creation, variable: str, statement: ast.AST) -> list[ast.Name]:
    """All reads of a variable that only `statement` binds, or none where that is not sure."""
    function = creation.function
    found = []
    for node in function.nodes:
        if isinstance(node, (ast.Global, ast.Nonlocal)) and variable in node.names:
            return []
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            if any(a.arg == variable for a in ast.walk(node.args) if isinstance(a, ast.arg)):
                return []
        if isinstance(node, ast.Name) and node.id == variable:
            if isinstance(node.ctx, ast.Load):
                found.append(node)
            elif function.parents[node] is not statement:
                return []
    siblings = next(b for b in _bodies(function.parents[statement]) if statement in b)
    return found if len(siblings) > 1 else []


def _bodies(node: ast.AST) -> list[list[ast.AST]]:
    found = [getattr(node, name, None) or [] for name in ("body", "orelse", "finalbody")]
    return [b for b in found if isinstance(b, list)]


def check_assignment(context: FunctionContext, plan: Plan, creation: Creation) -> None:
    """Check that `self.name = ...` in graph code is the only one that counts. Raises CannotMove."""
    assert plan.cell is not None
    name = creation.attribute
    if creation.loops:
        raise CannotMove(f"the loop sets self.{name} anew each time")
    for method, value in context.project.attribute_values(plan.cell).get(name, ()):
        if value is creation.call:
            continue
        if method.name == "__init__" and isinstance(value, ast.Constant) and value.value is None:
            continue
        raise CannotMove(f"self.{name} is also set in {method.name}")
    for node, arm in creation.arms:
        if not (isinstance(node, ast.If) and arm == "body" and _is_lazy_test(node, name, creation)):
            raise CannotMove(f"self.{name} is set under a condition")


def _is_lazy_test(node: ast.If, name: str, creation: Creation) -> bool:
    """`if self.name is None:` with nothing in it but the assignment."""
    test = node.test
    if node.body != [creation.statement] or node.orelse:
        return False
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Is):
        left, right = test.left, test.comparators[0]
        return (
            isinstance(left, ast.Attribute) and left.attr == name and isinstance(left.value, ast.Name)
            and left.value.id == creation.function.receiver and isinstance(right, ast.Constant) and right.value is None
        )  # fmt: skip
    return False


def _remove(module: Module, creation: Creation, rewrite: Rewrite) -> str:
    """Delete `self.name = ...`, and the `if` around it that made it lazy."""
    statement: ast.stmt = creation.statement
    if creation.arms and isinstance(creation.arms[-1][0], ast.If):
        statement = creation.arms[-1][0]
    comment = _comment(module, creation.statement)
    siblings = next(b for b in _bodies(creation.function.parents[statement]) if statement in b)
    if (
        comment is None
        or len(siblings) == 1
        or (statement is not creation.statement and _comment(module, statement) is None)
    ):
        raise CannotMove("the statement shares its line with others")
    _delete_lines(module, statement, rewrite)
    return comment


def _comment(module: Module, statement: ast.stmt) -> str | None:
    """The comment at the end of a statement's last line, empty for none; None when its lines hold other code or
    further comments."""
    source = module.source
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    if len(source.indent(first).encode()) != statement.col_offset:
        return None
    text = b"".join(source.line_bytes(n) for n in range(first, last + 1)).decode()
    comments = [t for t in tokens(text) if t.type == tokenize.COMMENT]
    tail = source.utf8[module.end(statement) : source.offset(last, 0) + len(source.line_bytes(last))].decode().strip()
    if tail and not tail.startswith("#"):
        return None
    if len(comments) > (1 if tail else 0) and isinstance(statement, ast.If):
        return None
    return tail


def _delete_lines(module: Module, statement: ast.stmt, rewrite: Rewrite) -> None:
    source = module.source
    starts = source.line_starts
    last = statement.end_lineno or statement.lineno
    end = starts[last] if last < len(starts) else len(source.utf8)
    first = statement.lineno
    above = source.line_bytes(first - 1).strip() if first > 1 else b""
    # What opened with the statement should not open with an empty line.
    if (above.endswith(b":") or not above) and last < len(starts) and not source.line_bytes(last + 1).strip():
        end = starts[last + 1] if last + 1 < len(starts) else len(source.utf8)
    rewrite.replace_span(starts[first - 1], end, "")
