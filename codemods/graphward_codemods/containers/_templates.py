"""The template of `str.format` that means what an f-string or a `%` expression means."""

from __future__ import annotations

import ast
import re

from graphward.rules.context import FunctionContext

_CONVERSIONS = {115: "!s", 114: "!r", 97: "!a"}
_PERCENT = re.compile(r"%(?P<flags>[-+ 0#]*)(?P<width>\d*)(?P<precision>\.\d+)?(?P<kind>[diouxXeEfFgGcrs%])")


def of_f_string(node: ast.JoinedStr, context: FunctionContext) -> tuple[str, list[str]]:
    """`("{:03d}-{}", ["n", "name"])` of `f"{n:03d}-{name}"`."""
    template, values = "", []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            values.append(context.text(part.value))
            spec = ""
            if isinstance(part.format_spec, ast.JoinedStr):
                inner, more = of_f_string(part.format_spec, context)
                spec = f":{inner}"
                values += more
            template += f"{{{_CONVERSIONS.get(part.conversion, '')}{spec}}}"
        elif isinstance(part, ast.Constant):
            template += str(part.value).replace("{", "{{").replace("}", "}}")
    return template, values


def of_percent(text: str) -> tuple[str, list[str]] | None:
    """`("a{:d}", ["d"])` of `"a%d"`: the template and the kind of each value; None where there is no such template."""
    template, kinds, position = "", [], 0
    for match in re.finditer(r"%", text):
        if match.start() < position:
            continue
        found = _PERCENT.match(text, match.start())
        if found is None:
            return None
        template += _escaped(text[position : match.start()])
        position = found.end()
        kind = found["kind"]
        if kind == "%":
            template += "%"
            continue
        if "#" in found["flags"] or kind in "c":
            return None
        template += f"{{{_spec(found)}}}"
        kinds.append(kind)
    return template + _escaped(text[position:]), kinds


def _spec(found: re.Match[str]) -> str:
    flags, width, precision, kind = found["flags"], found["width"], found["precision"] or "", found["kind"]
    left = "-" in flags
    sign = "+" if "+" in flags else " " if " " in flags else ""
    if kind in "rs":
        align = "" if not width else "<" if left else ">"
        spec = f"{align}{width}{precision}"
        return ("!r" if kind == "r" else "") + (f":{spec}" if spec else "")
    zero = "0" if "0" in flags and not left else ""
    align = "<" if left and width else ""
    letter = "d" if kind in "iu" else kind
    return f":{align}{sign}{zero}{width}{precision}{letter}"


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def literal(template: str) -> str:
    """A string literal in double quotes where it can be."""
    text = repr(template)
    if text.startswith("'") and '"' not in text:
        return f'"{text[1:-1]}"' if "\\'" not in text else text
    return text
