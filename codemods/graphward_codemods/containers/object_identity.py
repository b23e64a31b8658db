"""GW420: `is` between objects that the compiler has no identity for."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import ClassInfo
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

_ENUMS = frozenset({"enum.Enum", "enum.Flag"})
_NUMBERS = frozenset({"enum.IntEnum", "enum.IntFlag", "enum.StrEnum", "int", "str"})
_SPELLED = {ast.Is: "is", ast.IsNot: "is not"}


class ObjectIdentity(Rule):
    """`is` does not compile with an Enum member, a class or a function on its right.

    ## What it finds

    `a is Mode.A` and `a is not Mode.A` in a graph region where `Mode` is an Enum, and `a is f` where `f` is a function
    of MindSpore. Identity with None, numbers, strings, dtypes and members of an IntEnum compiles, and is left alone.

    ## Why

    MindSpore 2.7 to 2.10:

        RuntimeError: For syntax like 'a is b', b supports Int, Bool, String, None and Type, but got PythonObject

    ## Example

        if self.mode is Mode.TRAIN:

    becomes

        if self.mode == Mode.TRAIN:

    ## What the rewrite assumes

    Nothing for Enums: a member is equal to itself only.

    ## When it is unsafe

    When the Enum defines `__eq__`.

    ## References

    `enum.Enum`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW420"
    name = "object-identity"
    consequence = Consequence.ERROR
    triggers = (b" is ",)
    nodes = (ast.Compare,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Compare)
        if len(node.ops) != 1 or type(node.ops[0]) not in _SPELLED:
            return
        other = node.comparators[0]
        if not isinstance(other, (ast.Attribute, ast.Name)):
            return
        what, safe = _object(other, context)
        if not what:
            return
        operator = "==" if isinstance(node.ops[0], ast.Is) else "!="
        rewrite = context.rewrite()
        text = f"{context.text(node.left)} {operator} {context.text(other)}"
        rewrite.replace(node, text, context.parent(node))
        title = f"Use {operator}"
        fix = rewrite.safe(title) if safe else rewrite.unsafe(title, "equality is taken for identity")
        yield context.finding(self, node, f"identity with {what} does not compile", fixes=(fix,))


def _object(node: ast.Attribute | ast.Name, context: FunctionContext) -> tuple[str, bool]:
    """What a name stands for that has no identity in a graph, and whether equality is the same there; or ""."""
    name = context.resolve(node)
    if name is not None and name.startswith("mindspore.ops."):
        return "a function", False
    holder = node.value if isinstance(node, ast.Attribute) else None
    if holder is None:
        return "", False
    found = None
    if isinstance(holder, ast.Name):
        found = context.project.visible(context.function, holder.id)
    qualified = context.resolve(holder)
    if found is None and qualified is not None:
        found = context.project.definition(qualified)
    if not isinstance(found, ClassInfo):
        return "", False
    bases = {base for info in context.project.mro(found) for base in context.project.bases(info)}
    if not bases & _ENUMS or bases & _NUMBERS:
        return "", False
    return f"a member of the Enum {found.name}", not any("__eq__" in c.methods for c in context.project.mro(found))
