"""Python code in the terminal's own colors."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Token
from rich.text import Text

from ..visible import visible

_STYLES = {
    Comment: "italic bright_black", Keyword: "magenta", Keyword.Constant: "blue", Operator.Word: "magenta",
    String: "cyan", String.Doc: "italic cyan", Number: "blue", Name.Function: "bold", Name.Class: "bold",
    Name.Decorator: "yellow", Name.Builtin: "blue", Name.Builtin.Pseudo: "italic",
}  # fmt: skip
_LEXER = PythonLexer(stripnl=False, ensurenl=False)


@lru_cache(maxsize=256)
def highlighted(lines: tuple[str, ...]) -> tuple[Text, ...]:
    """The lines of one piece of code, each as long as it was, control characters left as they are."""
    texts = [Text() for _ in lines]
    number = 0
    for kind, value in _LEXER.get_tokens("\n".join(lines)):
        style = _style(kind)
        for n, part in enumerate(value.split("\n")):
            number += bool(n)
            if part and number < len(texts):
                texts[number].append(part, style)
    return tuple(texts)


def tidy(text: Text, marked: tuple[tuple[int, int], ...], style: str) -> Text:
    """The line with its `marked` parts in `style`, tabs as spaces, and nothing that a terminal would obey."""
    text = text.copy()
    for start, end in marked:
        text.stylize(style, start, end)
    text.expand_tabs(4)
    if visible(text.plain) == text.plain:
        return text
    safe = Text()
    for start, character in enumerate(text.plain):
        safe.append_text(Text(visible(character), text[start].spans[-1].style if text[start].spans else ""))
    return safe


def _style(kind: Any) -> str:
    while kind is not Token and kind is not None:
        if kind in _STYLES:
            return _STYLES[kind]
        kind = kind.parent
    return ""
