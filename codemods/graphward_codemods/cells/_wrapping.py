"""The edits that put a plain container into a CellList, CellDict or ParameterTuple."""

from __future__ import annotations

import ast

from graphward.analysis.tree import preorder
from graphward.rules.context import CellContext
from graphward.rules.rewrite import Rewrite

from ._containers import Container


class CannotWrap(Exception):
    """Why the container stays as it is."""


def wrap(context: CellContext, container: Container, rewrite: Rewrite, target: str) -> None:
    """Make `self.<attribute>` a `target`. Raises CannotWrap."""
    if container.grown and not isinstance(container.value, ast.Name):
        _wrap_when_filled(context, container, rewrite, target)
        return
    if container.nested and isinstance(container.value, ast.Name):
        raise CannotWrap("it holds lists of Cells")
    _wrap_value(context, container, rewrite, target, container.value, container.form)


def _wrap_value(
    context: CellContext, container: Container, rewrite: Rewrite, target: str, value: ast.expr, form: str
) -> None:
    module = context.module
    spelled = rewrite.spell(target)
    start, end = module.start(value), module.end(value)
    takes_list = target.endswith("CellList")
    if isinstance(value, ast.Tuple):
        if takes_list and any(isinstance(e, ast.Starred) for e in value.elts):
            raise CannotWrap("it unpacks another container")
        parenthesised = module.source.utf8[start:end].startswith(b"(") and _closes(
            module.source.utf8[start:end].decode()
        )
        if parenthesised:
            last = module.end(value.elts[-1])
            comma = module.source.utf8[last : end - 1].strip() == b"," and len(value.elts) == 1
            rewrite.replace_span(start, start + 1, f"{spelled}([")
            rewrite.replace_span(last if comma else end - 1, end, "])")
        else:
            rewrite.insert(start, f"{spelled}([")
            rewrite.insert(end, "])")
        return
    if form == "tuple" and takes_list:
        if isinstance(value, ast.Call):
            rewrite.replace_span(start, module.end(value.func), f"{spelled}(list")
            rewrite.insert(end, ")")
        else:
            rewrite.insert(start, f"{spelled}(list(")
            rewrite.insert(end, "))")
        return
    rewrite.insert(start, f"{spelled}(")
    rewrite.insert(end, ")")
    if container.nested:
        inner = value.elts if isinstance(value, ast.List) else [value.elt] if isinstance(value, ast.ListComp) else []
        if not inner or not all(isinstance(e, (ast.List, ast.ListComp)) for e in inner):
            raise CannotWrap("it mixes Cells and lists of Cells")
        for element in inner:
            if any(isinstance(e, (ast.List, ast.ListComp)) for e in getattr(element, "elts", ())):
                raise CannotWrap("its lists are nested too deeply")
            rewrite.insert(module.start(element), f"{spelled}(")
            rewrite.insert(module.end(element), ")")


def _wrap_when_filled(context: CellContext, container: Container, rewrite: Rewrite, target: str) -> None:
    """`self.blocks = nn.CellList(self.blocks)` after the last statement that fills it."""
    if container.nested:
        raise CannotWrap("it holds lists of Cells")
    method, module = container.method, context.module
    if any(isinstance(n, ast.Return) for n in method.nodes):
        raise CannotWrap(f"{method.name} may return before it is filled")
    body = method.node.body
    last = max(container.grown, key=lambda s: s.lineno)
    top = next(s for s in body if s is last or last in preorder(s))
    if top.lineno == method.node.lineno:
        raise CannotWrap(f"{method.name} is written on one line")
    if container.statement not in body:
        raise CannotWrap("it is made under a condition or in a loop")
    source = module.source
    indent, newline = source.indent(body[0].lineno), source.newline
    inner = f"{method.receiver}.{container.attribute}"
    if container.form == "tuple" and target.endswith("CellList"):
        inner = f"list({inner})"
    text = f"{indent}{method.receiver}.{container.attribute} = {rewrite.spell(target)}({inner})"
    starts, end = source.line_starts, top.end_lineno or top.lineno
    order = module.start(container.value) + 1
    if end < len(starts) and (starts[end] < len(source.utf8) or source.utf8.endswith((b"\n", b"\r"))):
        rewrite.insert(starts[end], f"{text}{newline}", order)
    else:
        rewrite.insert(len(source.utf8), f"{newline}{text}", order)


def _closes(text: str) -> bool:
    """Whether the first parenthesis of a tuple's text is closed by its last: `(a), (b)` has none of its own."""
    try:
        ast.parse(f"f({text[1:-1]})", mode="eval")
        return True
    except SyntaxError:
        return False
