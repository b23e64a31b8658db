"""New code laid out as the file around it is."""

from __future__ import annotations

import ast
import io
import tokenize

from graphward.analysis.module import Module

_MAX_LINE = 120


def indented(module: Module, call: ast.Call, text: str, indent: str) -> str:
    """A call over several lines, moved to another depth."""
    old = module.source.indent(call.lineno)
    if "\n" not in text or old == indent:
        return text
    if any(t.type == tokenize.STRING and "\n" in t.string for t in tokens(f"({text})")):
        return text
    first, *rest = text.split("\n")
    return "\n".join([first, *((indent + line[len(old) :]) if line.startswith(old) else line for line in rest)])


def one_line(text: str) -> str:
    """A call over several lines as one line, where no comment and no string stands in the way."""
    if "\n" not in text or any(
        t.type == tokenize.COMMENT or (t.type == tokenize.STRING and "\n" in t.string) for t in tokens(f"({text})")
    ):
        return text
    joined = ""
    for line in map(str.strip, text.splitlines()):
        close = joined.endswith(("(", "[", "{")) or line.startswith((")", "]", "}")) or not joined
        joined += line if close else f" {line}"
    return f"{joined[:-2]})" if joined.endswith(",)") else joined


def statement_lines(head: str, pieces: list[str], indent: str, step: str) -> list[str]:
    """`head` and the pieces of a value as the lines of a statement that stands at `indent`; `step` is one level."""
    if len(pieces) == 1 or len(indent.expandtabs(4)) + len(head) + len(_flat(pieces)) <= _MAX_LINE:
        return [head + _flat(pieces)]
    inner = _flat(pieces[1:-1])
    if len((indent + step).expandtabs(4)) + len(inner) <= _MAX_LINE:
        return [head + pieces[0], step + inner, ")"]
    lines, depth = [], 0
    for piece in pieces:
        depth -= piece in ("]", ")")
        lines.append(step * depth + piece)
        depth += piece.endswith(("(", "["))
    return [head + lines[0], *lines[1:]]


def _flat(pieces: list[str]) -> str:
    return "".join(f" {piece}" if piece.startswith("for ") else piece for piece in pieces)


def tokens(text: str) -> list[tokenize.TokenInfo]:
    """The tokens of a piece of code, none where it does not tokenize."""
    try:
        return list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return []
