"""GW420: `is` between objects that the compiler has no identity for."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

_ENUMS = frozenset({"enum.Enum", "enum.Flag"})
_NUMBERS = frozenset({"enum.IntEnum", "enum.IntFlag", "enum.StrEnum", "int", "str"})
_FUNCTIONS = ("mindspore.ops.", "mindspore.nn.", "mindspore.mint.")
_SPELLED = {ast.Is: "is", ast.IsNot: "is not"}


class ObjectIdentity(Rule):
    """`is` does not compile with an Enum member, a class or a function on its right.

    ## What it finds

    `a is Mode.A` and `a is not Mode.A` in a graph region where `Mode` is an Enum, and `a is f` where `f` is a function
    of the project or of MindSpore, or a class of MindSpore's such as `nn.ReLU`. Identity with classes of the project,
    None, numbers, strings, dtypes and members of an IntEnum compiles, and is left alone.

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
        if safe is None:
            fix = context.rewrite().manual("Compare in __init__", "keep whether it is that class in an attribute, and "
                                           "ask the attribute in the graph")  # fmt: skip
        else:
            fix = rewrite.safe(title) if safe else rewrite.unsafe(title, "equality is taken for identity")
        yield context.finding(self, node, f"identity with {what} does not compile", fixes=(fix,))


def _is_own_function(node: ast.Attribute | ast.Name, context: FunctionContext) -> bool:
    """Whether a bare name is a function of the project; these are equal to themselves only."""
    if not isinstance(node, ast.Name) or context.function.names.is_local(node.id):
        return False
    found: object = context.project.visible(context.function, node.id)
    if found is None:
        qualified = context.resolve(node)
        found = context.project.definition(qualified) if qualified is not None else None
    return isinstance(found, FunctionInfo)


def _object(node: ast.Attribute | ast.Name, context: FunctionContext) -> tuple[str, bool | None]:
    """What a name stands for that has no identity in a graph, or ""; and whether equality is the same there, None where
    that does not compile either."""
    name = context.resolve(node)
    if name is not None and name.startswith(_FUNCTIONS):
        if name.rpartition(".")[2][0].isupper():
            # Equality with a class of MindSpore's does not compile either.
            return "a class of MindSpore's", None
        return "a function", False
    holder = node.value if isinstance(node, ast.Attribute) else None
    if holder is None:
        return ("a function", True) if _is_own_function(node, context) else ("", False)
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
