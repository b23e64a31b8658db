"""New code in the layout of the old: only tokens that differ are replaced, so comments and line breaks stay."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from difflib import SequenceMatcher

from .edits import Edit

_LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.COMMENT}


def token_edits(old: str, new: str, offset: int) -> tuple[list[Edit], list[str]]:
    """The edits that turn expression `old`, whose first byte stands at `offset`, into `new`, token by token; and the
    comments of `old` that stood amid what was replaced and are lost by them.

    Raises tokenize.TokenError or SyntaxError when either is no run of tokens.
    """
    before, comments = _tokens(old)
    after, _ = _tokens(new)
    edits: list[Edit] = []
    lost: list[str] = []
    for i1, i2, j1, j2 in _changes([t for t, _, _ in before], [t for t, _, _ in after]):
        text = new.encode()[after[j1][1] : after[j2 - 1][2]].decode() if j2 > j1 else ""
        if i2 > i1:
            start, end = before[i1][1], before[i2 - 1][2]
        else:
            # An insertion sits at the token before it, so that no comment can come between.
            start = end = before[i1 - 1][2] if i1 else 0
        text = _spaced(text, i1, i2, new, after, j1, j2)
        text = _apart(text, old.encode(), start, end)
        lost += [c for c, at in comments if start <= at < end]
        edits.append(Edit(offset + start, offset + end, text))
    return edits, lost


def _changes(before: list[str], after: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Runs `before[i1:i2]` that become `after[j1:j2]`. What both end with stays first of all: else a bracket inside
    could be taken for the last one, and the layout between them be lost."""
    tail = 0
    while tail < min(len(before), len(after)) and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    matcher = SequenceMatcher(None, before[: len(before) - tail], after[: len(after) - tail], autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            yield i1, i2, j1, j2


def _spaced(text: str, i1: int, i2: int, new: str, after: list[tuple[str, int, int]], j1: int, j2: int) -> str:
    """`text` with the space that it had in `new` towards the tokens that stay."""
    if i2 > i1 or not text:
        return text
    data = new.encode()
    if i1 and j1:
        text = data[after[j1 - 1][2] : after[j1][1]].decode() + text
    elif j2 < len(after):
        text += data[after[j2 - 1][2] : after[j2][1]].decode()
    return text


def _apart(text: str, old: bytes, start: int, end: int) -> str:
    """`text` with a space towards a word of `old` that it would grow together with: `a,b` to `a and b`."""
    if text and start and (old[start - 1 : start] + text[0].encode()).replace(b"_", b"a").isalnum():
        text = f" {text}"
    if text and (text[-1].encode() + old[end : end + 1]).replace(b"_", b"a").isalnum() and end < len(old):
        text = f"{text} "
    return text


def _tokens(text: str) -> tuple[list[tuple[str, int, int]], list[tuple[str, int]]]:
    """`(string, start, end)` of each token in bytes, and `(comment, start)`; parentheses make line breaks free."""
    wrapped = f"({text}\n)"
    starts = [0]
    for line in io.StringIO(wrapped, newline=""):
        starts.append(starts[-1] + len(line))
    tokens, comments = [], []
    for token in tokenize.generate_tokens(io.StringIO(wrapped, newline="").readline):
        start = starts[token.start[0] - 1] + token.start[1] - 1
        end = starts[token.end[0] - 1] + token.end[1] - 1
        if token.type == tokenize.COMMENT:
            comments.append((token.string, _bytes(text, start)))
        elif token.type not in _LAYOUT and 0 <= start < len(text):
            tokens.append((token.string, _bytes(text, start), _bytes(text, end)))
    return tokens, comments


def _bytes(text: str, characters: int) -> int:
    return len(text[:characters].encode())
