"""Calls of `set_context`, and how single arguments move out of them."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence

from graphward.rules.module_context import ModuleContext, Use
from graphward.rules.rewrite import Rewrite

Key = tuple[Use, ast.Call, ast.keyword]


class CannotMove(Exception):
    """Why the argument has to be moved by hand."""


def context_keys(context: ModuleContext) -> Iterator[Key]:
    """`(use, call, keyword)` of each argument of each call of `set_context`."""
    for use in context.uses:
        if use.name == "mindspore.set_context" and use.call is not None:
            for keyword in use.call.keywords:
                if keyword.arg is not None:
                    yield use, use.call, keyword


def take_out(
    rewrite: Rewrite, context: ModuleContext, call: ast.Call, keywords: Sequence[ast.keyword], instead: Sequence[str]
) -> None:
    """Take arguments out of a call of `set_context`; the statements `instead` take its place, or follow it where other
    arguments are left. Raises CannotMove when the call is no statement on lines of its own."""
    module = context.module
    statement = context.statement(call)
    whole = len(keywords) == len(call.keywords) and not call.args
    if not isinstance(statement, ast.Expr) or statement.value is not call:
        raise CannotMove("the call is part of an expression")
    source = module.source
    start, end = module.start(statement), module.end(statement)
    last = statement.end_lineno or statement.lineno
    head = source.utf8[source.offset(statement.lineno, 0) : start]
    tail = source.utf8[end : source.offset(last, 0) + len(source.line_bytes(last))]
    if head.strip() or (tail.strip() and not tail.strip().startswith(b"#")):
        raise CannotMove("the statement shares its line")
    indent = head.decode()
    if whole:
        lost = _comments(context, start, end)
        if not (instead or lost or tail.strip() or _alone(context, statement)):
            rewrite.replace_span(source.offset(statement.lineno, 0), end + len(tail), "")
            return
        text = f"{source.newline}{indent}".join(instead) or ("pass" if _alone(context, statement) else "")
        rewrite.replace_span(start, end, text)
    else:
        spans = drop(rewrite, context, call, keywords)
        lost = [c for span in spans for c in _comments(context, *span)]
        if instead:
            following = "".join(f"{source.newline}{indent}{text}" for text in instead)
            rewrite.insert(end + len(tail.rstrip(b"\r\n")), following)
    if lost:
        above = "".join(f"{indent}{comment}{source.newline}" for comment in lost)
        rewrite.insert(source.offset(statement.lineno, 0), above)


def _comments(context: ModuleContext, start: int, end: int) -> list[str]:
    """The comments in a stretch of code that begins and ends between tokens."""
    text = context.module.source.utf8[start:end].decode()
    if "#" not in text:
        return []
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                found.append(token.string)
    except (tokenize.TokenError, IndentationError):
        pass  # the end of an unfinished bracket: all of it has been read
    return found


def prepared(context: ModuleContext, node: ast.AST) -> bool:
    """Whether a node stands in a branch for one version of MindSpore."""
    outer = (n.test for n in context.around(node) if isinstance(n, (ast.If, ast.IfExp)))
    return any(word in context.text(test) for test in outer for word in ("hasattr", "version", "VERSION"))


def decided(context: ModuleContext, node: ast.AST) -> bool:
    """Whether the code around a node chooses at run time, other than by asking whether it is the main program."""
    for outer in context.around(node):
        if isinstance(outer, (ast.IfExp, ast.BoolOp)):
            return True
        if isinstance(outer, ast.If) and not (
            isinstance(outer.test, ast.Compare) and isinstance(outer.test.left, ast.Name)
            and outer.test.left.id == "__name__"
        ):  # fmt: skip
            return True
    return False


def drop(
    rewrite: Rewrite, context: ModuleContext, call: ast.Call, keywords: Sequence[ast.keyword]
) -> list[tuple[int, int]]:
    """Take some, and not all, of the arguments of a call out, with their commas; the stretches that went."""
    module = context.module
    parts: list[ast.expr | ast.keyword] = sorted([*call.args, *call.keywords], key=module.start)
    doomed = [p for p in parts if p in keywords]
    kept = [p for p in parts if p not in keywords]
    spans = []
    for part in doomed:
        index = parts.index(part)
        if any(parts.index(k) > index for k in kept):
            spans.append((module.start(part), module.start(parts[index + 1])))
        else:
            spans.append((module.end(parts[index - 1]), module.end(part)))
    for start, end in spans:
        rewrite.replace_span(start, end, "")
    return spans


def _alone(context: ModuleContext, statement: ast.stmt) -> bool:
    """Whether a block would be empty without the statement."""
    holder = context.parent(statement)
    for name in ("body", "orelse", "finalbody"):
        if getattr(holder, name, None) == [statement]:
            return not isinstance(holder, ast.Module)
    return False
