"""GW430: a list of an object that is waited for to grow."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from graphward.analysis.module import ClassInfo, FunctionInfo
from graphward.analysis.tree import preorder
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule

from .._python import self_attribute
from ._flags import opted_into

_FILLERS = frozenset({"append", "extend", "insert"})


class ListOfObject(Rule):
    """The list of an object never grows in a graph, and a loop that waits for it has no end.

    ## What it finds

    `Cache()` in a graph region, where the class is no Cell, starts with an empty list, has a method with
    `while len(self.layers) <= index: self.layers.append(...)`, and the graph calls a method of this name. One that is
    made with arguments may hold a list that is full, and is left alone.

    ## Why

    A graph reads the list as it was when the object was made; what `append` gives is lost (MindSpore 2.7 to 2.10), at
    the default syntax level too:

        RuntimeError: Exceed function call depth limit 1000, (function call depth: 1001, simulate call depth: 1000).

    ## Example

        if past_key_values is None:
            past_key_values = DynamicCache()

    has no rewrite: make the object outside of the graph, with its list filled, and hand it in:

        past_key_values = DynamicCache(layers=[DynamicLayer() for _ in range(num_layers)])

    ## What the rewrite assumes

    There is none.

    ## When it is unsafe

    There is none.

    ## References

    `mindspore.jit_class`. Measured on MindSpore 2.10.0 CPU.
    """

    code = "GW430"
    name = "list-of-object"
    consequence = Consequence.ERROR
    triggers = (b"()",)
    nodes = (ast.Call,)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, ast.Call)
        if node.args or node.keywords or not isinstance(node.func, (ast.Name, ast.Attribute)):
            return
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        if not name.lstrip("_")[:1].isupper():
            return
        found = context.project.called_class(context.function, node)
        if found is None or context.project.is_cell(found) is True:
            return
        waited = context.once((ListOfObject, found), lambda: _waited_for(found, context))
        if waited is None or opted_into(node, context) is not None:
            return
        method, attribute = waited
        asked = _only_asked(node, context)
        if asked is not None and method.name not in asked:
            return
        message = f"{method.qualname} waits for self.{attribute} to grow, which it never does in a graph"
        advice = f"make the {found.name} outside of the graph, with its {attribute} filled, and hand it in"
        fix = context.rewrite().manual("Make it outside of the graph", advice)
        yield context.finding(self, node, message, fixes=(fix,))


def _only_asked(node: ast.Call, context: FunctionContext) -> set[str] | None:
    """The attributes that are asked of an object that stays in the function; None for one that is handed on."""
    parent = context.parent(node)
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    if not isinstance(target, ast.Name):
        return {parent.attr} if isinstance(parent, ast.Attribute) else None
    holders = [context.parent(n) for n in context.function.nodes
               if isinstance(n, ast.Name) and n.id == target.id and n is not target]  # fmt: skip
    if not all(isinstance(h, ast.Attribute) for h in holders):
        return None
    return {h.attr for h in holders if isinstance(h, ast.Attribute)}


def _waited_for(info: ClassInfo, context: FunctionContext) -> tuple[FunctionInfo, str] | None:
    """A method of the class that fills a list of its object until it is long enough, and that graphs call."""
    for known in context.project.mro(info):
        for method in known.methods.values():
            for attribute in _filled_until(method):
                if _starts_empty(info, attribute, context) and _is_called(method.name, context):
                    return method, attribute
    return None


def _filled_until(method: FunctionInfo) -> Iterator[str]:
    for node in method.nodes:
        if isinstance(node, ast.While) and method.receiver is not None:
            asked = {
                name
                for call in preorder(node.test)
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "len"
                for argument in call.args
                if (name := self_attribute(argument, method.receiver))
            }
            for call in (c for s in node.body for c in preorder(s) if isinstance(c, ast.Call)):
                if isinstance(call.func, ast.Attribute) and call.func.attr in _FILLERS:
                    name = self_attribute(call.func.value, method.receiver)
                    if name in asked:
                        yield name


def _starts_empty(info: ClassInfo, attribute: str, context: FunctionContext) -> bool:
    values = [v for m, v in context.project.attribute_values(info).get(attribute, ()) if m.name == "__init__"]
    return bool(values) and all(
        any(_is_empty_list(v) for v in ((value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)))
        for value in values
    )


def _is_empty_list(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "list" and not node.args
    return isinstance(node, ast.List) and not node.elts


def _is_called(method: str, context: FunctionContext) -> bool:
    """Whether a graph calls a method of this name."""
    return method in context.once(
        (_is_called,),
        lambda: {
            call.func.attr
            for function in context.inference.reached
            for call in function.calls.values()
            if isinstance(call.func, ast.Attribute)
        },
    )
