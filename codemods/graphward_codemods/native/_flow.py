"""Which statement gave a local variable the value that is read at a place, in straight-line code."""

from __future__ import annotations

import ast

from graphward.analysis.module import FunctionInfo
from graphward.analysis.tree import preorder

_BLOCKS = ("body", "orelse", "finalbody")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
           ast.GeneratorExp, ast.ClassDef)  # fmt: skip


class Flow:
    """The definitions in one function; everything that is not `name = value` in a block around the place, or above it
    in the same block, only counts as a place where the name may get another value."""

    def __init__(self, function: FunctionInfo):
        self._function = function
        self._bound: dict[ast.stmt, frozenset[str]] = {}

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement of the function itself that holds a node; None inside a nested function, lambda or
        comprehension, where names mean something else."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            if isinstance(current, _SCOPES):
                return None
            current = self._function.parents.get(current)
        found = current
        while current is not None and current is not self._function.node:
            if isinstance(current, _SCOPES):
                return None
            current = self._function.parents.get(current)
        return found

    def definition(
        self, name: str, statement: ast.stmt, without: frozenset[ast.stmt] = frozenset()
    ) -> ast.AST | None:
        """The statement whose value `name` has where `statement` starts; None for a value from outside the function.
        A compound statement stands for whatever happens in it. The statements `without` are taken as gone."""
        current: ast.AST = statement
        parents = self._function.parents
        while current is not self._function.node:
            parent = parents[current]
            for block in self._blocks(parent):
                if current in block:
                    for before in reversed(block[: block.index(current)]):
                        if before not in without and name in self.bound(before):
                            return before
            if isinstance(parent, _LOOPS) and name in self.bound(parent):
                return parent
            current = parent
        return None

    def _blocks(self, node: ast.AST) -> list[list[ast.stmt]]:
        found = [getattr(node, field, None) for field in _BLOCKS]
        return [block for block in found if isinstance(block, list)]

    def bound(self, statement: ast.stmt) -> frozenset[str]:
        """The names that a statement may give another value, or whose value it may change in place."""
        if statement not in self._bound:
            found: set[str] = set()
            for node in preorder(statement):
                if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                    found.add(node.id)
                elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
                    found |= _base(node)
                elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    found.add(node.name)
                elif isinstance(node, (ast.Import, ast.ImportFrom)):
                    found |= {item.asname or item.name.split(".")[0] for item in node.names}
                elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _in_place(node.func.attr):
                    found |= _base(node.func)
            self._bound[statement] = frozenset(found)
        return self._bound[statement]


def _base(node: ast.expr) -> set[str]:
    """The variable that `x[0].y` starts from."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _in_place(method: str) -> bool:
    """`x.add_(y)`, but not `x.__len__()`."""
    return method.endswith("_") and not method.endswith("__")


def plain_value(statement: ast.AST | None, name: str) -> ast.expr | None:
    """The value of `name = value`."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        target, value = statement.target, statement.value
    else:
        return None
    return value if isinstance(target, ast.Name) and target.id == name else None
