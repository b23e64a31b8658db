"""Numbers at module level, or in a dict or class there, that graph code reads and writes."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from graphward.analysis.inference import Inference
from graphward.analysis.kinds import literal
from graphward.analysis.module import FunctionInfo, Module
from graphward.rules.context import FunctionContext

from .._blocks import CannotRewrite
from .._python import literal_number
from ._carried import Place
from ._state import number_dtype


def declared_globals(function: FunctionInfo) -> set[str]:
    """The names that a function declares `global`."""
    if b"global " not in function.module.source.utf8:
        return set()
    return {name for node in function.nodes if isinstance(node, ast.Global) for name in node.names}


def rebound_globals(function: FunctionInfo) -> dict[str, list[ast.stmt]]:
    """The statements of a function that rebind a global, by name."""
    names = declared_globals(function)
    found: dict[str, list[ast.stmt]] = {}
    for node in function.nodes if names else ():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names:
            statement: ast.AST = node
            while not isinstance(statement, ast.stmt):
                statement = function.parents[statement]
            found.setdefault(node.id, []).append(statement)
    return found


def global_place(context: FunctionContext, name: str) -> Place:
    """A global number as `construct` uses it. Raises CannotRewrite for anything else than a number."""
    start = context.module.assignments.get(name)
    if literal_number(start) is None:
        raise CannotRewrite(f"{name} does not start as a number in this file")
    nodes = [n for n in context.function.nodes if isinstance(n, ast.Name) and n.id == name]
    reads: list[ast.expr] = [n for n in nodes if isinstance(n.ctx, ast.Load)]
    writes = _writes(context, [n for n in nodes if isinstance(n.ctx, ast.Store)])
    return Place(name, name, _dtype(context, start, writes, name), reads, writes, name)


def item_place(context: FunctionContext, target: ast.Subscript | ast.Attribute, start: ast.expr | None) -> Place:
    """A number in a global dict or list, or on a class, that `target` names. Raises CannotRewrite likewise."""
    text = context.text(target)
    if literal_number(start) is None:
        raise CannotRewrite(f"{text} does not start as a number in this file")
    alike = [
        n for n in context.function.nodes
        if isinstance(n, type(target)) and ast.dump(_plain(n)) == ast.dump(_plain(target))
    ]  # fmt: skip
    reads: list[ast.expr] = [n for n in alike if isinstance(n.ctx, ast.Load)]
    writes = _writes(context, [n for n in alike if isinstance(n.ctx, ast.Store)])
    wanted = "_".join(p for p in _words(target) if p)
    return Place(text, wanted, _dtype(context, start, writes, text), reads, writes)


def _plain(node: ast.expr) -> ast.expr:
    """The same expression as a load, for comparison."""
    return ast.parse(ast.unparse(node), mode="eval").body


def _words(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        return [*_words(node.value), node.attr]
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else ""
        return [*_words(node.value), str(key) if str(key).isidentifier() or isinstance(key, int) else ""]
    return []


def _writes(context: FunctionContext, stores: Sequence[ast.expr]) -> list[ast.Assign | ast.AugAssign]:
    found: list[ast.Assign | ast.AugAssign] = []
    for node in stores:
        statement = context.parent(node)
        if not isinstance(statement, (ast.Assign, ast.AugAssign)) or len(getattr(statement, "targets", (0,))) != 1:
            raise CannotRewrite("it is written by unpacking, or in a loop's head")
        found.append(statement)
    return found


def _dtype(
    context: FunctionContext, start: ast.expr | None, writes: list[ast.Assign | ast.AugAssign], text: str
) -> str:
    inference = context.inference
    kinds = [literal(literal_number(start))]
    for write in writes:
        if isinstance(write, ast.AugAssign) and isinstance(write.op, ast.Div):
            return "float32"
        numbers = [n for n in ast.walk(write.value) if isinstance(n, ast.Constant)]
        kinds += [inference.kind(context.function, n) for n in numbers if isinstance(n.value, (int, float))]
        if any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div) for n in ast.walk(write.value)):
            return "float32"
    dtype = number_dtype(kinds)
    if dtype is None:
        raise CannotRewrite(f"{text} is not known to be a number")
    return dtype


def written_elsewhere(inference: Inference, module: Module, name: str) -> FunctionInfo | None:
    """A function of the module, outside of every graph, that rebinds a global."""
    for function in module.functions:
        if function not in inference.reached and name in rebound_globals(function):
            return function
    return None
