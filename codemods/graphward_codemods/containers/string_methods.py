"""GW425: methods of strings."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.knowledge.renames import numbers
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._python import is_builtin, is_message, is_string

# `lower`, `upper` and `format` have graph forms.
_STRINGS_ONLY = frozenset(
    {"startswith", "endswith", "isdigit", "isalpha", "isnumeric", "isalnum", "isdecimal", "isidentifier", "islower",
     "isupper", "isspace", "istitle", "lstrip", "rstrip", "rsplit", "splitlines", "rpartition", "zfill", "casefold",
     "capitalize", "swapcase", "removeprefix", "removesuffix", "ljust", "rjust", "expandtabs", "rfind", "rindex"}
)  # fmt: skip
_SHARED = frozenset({"strip", "replace", "find", "split", "count", "index", "join", "partition", "title", "center"})

_KNOWS_BYTES = (2, 10)  # the first version that compiles a constant of bytes


class StringMethods(Rule):
    """Most methods of strings are left to the Python interpreter.

    ## What it finds

    `name.startswith(...)`, `split`, `strip`, `replace`, `join` and the others in a graph region, unless they only make
    text for people: in `raise`, `assert`, `print`, logs and warnings. `lower`, `upper`, `format`, `in`, slices and `+`
    compile, and are left alone. `len` and loops over a string too.

    ## Why

    With `fullgraph=True` (MindSpore 2.7 to 2.10):

        AttributeError: In JIT strict mode, cannot get attributes startswith or the String object has no attribute

    The function of the class is called while the graph is compiled, at both syntax levels.

    ## Example

        if self.act.startswith("relu"):
        parts = "b h w".split()

    becomes

        if str.startswith(self.act, "relu"):
        parts = str.split("b h w")

    ## What the rewrite assumes

    Nothing, where the value is known to be a string.

    ## When it is unsafe

    When it is not known whether the value is a string. For bytes and MindSpore before 2.10 there is no rewrite: they do
    not compile.

    ## References

    Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW425"
    name = "string-methods"
    consequence = Consequence.FALLBACK
    triggers = (*(f".{name}(".encode() for name in sorted(_STRINGS_ONLY | _SHARED)), b"len(")
    nodes = (ast.Call,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if isinstance(node.func, ast.Name):
            yield from self._length(node, node.func, context)
            return
        if not isinstance(node.func, ast.Attribute):
            return
        method, holder = node.func.attr, node.func.value
        if method not in _STRINGS_ONLY and method not in _SHARED:
            return
        if context.resolve(node.func) is not None or (isinstance(holder, ast.Name) and holder.id == "str"):
            return
        kind = context.kind(holder)
        known = is_string(kind, holder)
        unknown = kind.tag is Tag.UNKNOWN and not kind.variable
        if not (known or (unknown and method in _STRINGS_ONLY)) or is_message(node, context):
            return
        message = f"{method}() of a string has no graph form"
        fix = _fix(node, holder, known, context)
        yield context.finding(self, node, message, evidence=(kind.evidence,), fixes=(fix,))

    def _length(self, node: ast.Call, func: ast.Name, context: FunctionContext) -> Iterable[Finding]:
        """`len` of a string."""
        if func.id != "len" or len(node.args) != 1 or not is_builtin(func, context):
            return
        value = context.kind(node.args[0]).value
        if not isinstance(value, (str, bytes)) or is_message(node, context):
            return
        rewrite = context.rewrite()
        if isinstance(value, bytes):
            if isinstance(node.args[0], ast.Name) and numbers(context.options.target_version) < _KNOWS_BYTES:
                # What the name was given is what does not compile.
                title = "Keep bytes out of the graph: count them in `__init__`"
                fix = rewrite.manual(title, "MindSpore before 2.10 compiles no bytes")
                yield context.finding(self, node, "bytes do not compile before MindSpore 2.10", fixes=(fix,))
                return
            # The compiler turns bytes into a string.
            rewrite.replace(node, str(len(value)), context.parent(node))
            fix = rewrite.unsafe("Write the number", "the bytes may change without it")
        else:
            rewrite.replace(node, f"str.__len__({context.text(node.args[0])})", context.parent(node))
            fix = rewrite.safe("Call str.__len__")
        yield context.finding(self, node, "len() of a string has no graph form", fixes=(fix,))


def _fix(node: ast.Call, holder: ast.expr, known: bool, context: FunctionContext) -> Fix:
    rewrite = context.rewrite()
    assert isinstance(node.func, ast.Attribute)
    arguments = [context.text(holder), *(context.text(a) for a in node.args)]
    if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
        inner = context.text(node.args[0])
        arguments[1] = f"[{inner[1:-1] if inner.startswith('(') else inner}]"
    arguments += (context.text(k) for k in node.keywords)
    if not is_builtin(ast.Name("str", ast.Load()), context):
        return rewrite.manual("Compute it in __init__", "the name str means something else here")
    rewrite.replace(node, f"str.{node.func.attr}({', '.join(arguments)})", context.parent(node))
    title = "Call the function of str"
    return rewrite.safe(title) if known else rewrite.unsafe(title, "the value is taken for a string")
