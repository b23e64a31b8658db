"""What code does with a list or dict, and whether a CellList, CellDict or ParameterTuple can do it too.

Measured on MindSpore 2.10, in PyNative and under STRICT: iterating, indexing by a number, `len`, `enumerate`, `zip`,
`list`, unpacking and truth tests work on a CellList; of a CellDict also `keys`, `values`, `items`, `in` and iterating.
`+` raises in both modes, `reversed` does not compile, `CellDict.get` raises in PyNative, and a slice of a CellList is a
new CellList that renames the parameters in it.
"""

from __future__ import annotations

import ast

_READERS = frozenset({"enumerate", "zip", "len", "list"})
# What fills a container before it is turned into another.
_BUILDERS = {
    "list": frozenset({"append", "extend", "insert"}), "parameters": frozenset({"append", "extend", "insert"}),
    "dict": frozenset({"update"}),
}  # fmt: skip
_DICT_VIEWS = frozenset({"keys", "values", "items"})


def unsupported(node: ast.expr, parents: dict[ast.AST, ast.AST], kind: str, building: bool) -> str:
    """Why the use of container `node` would break; empty when it would not. `kind` is "list", "dict" or "parameters",
    `building` whether the use stands where the Cell is built."""
    parent = parents.get(node)
    if isinstance(parent, (ast.For, ast.comprehension)) and node is parent.iter:
        return ""
    if isinstance(parent, ast.Subscript) and node is parent.value:
        if isinstance(parent.slice, ast.Slice):
            return "" if kind == "parameters" else "it is sliced, which renames parameters"
        if isinstance(parent.ctx, ast.Load) or (building and kind != "parameters"):
            return ""
        return "an element is replaced"
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in _READERS:
        return ""
    if isinstance(parent, ast.Attribute):
        call = parents.get(parent)
        called = isinstance(call, ast.Call) and call.func is parent
        if called and kind == "dict" and parent.attr in _DICT_VIEWS:
            return ""
        if called and building and parent.attr in _BUILDERS[kind]:
            return ""
        return f".{parent.attr} is used on it"
    if isinstance(parent, ast.Compare):
        if all(isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops):
            return ""
        if (
            kind == "dict"
            and node in parent.comparators
            and all(isinstance(op, (ast.In, ast.NotIn)) for op in parent.ops)
        ):
            return ""
        return "it is compared"
    if isinstance(parent, (ast.If, ast.While, ast.IfExp)) and node is parent.test:
        return ""
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
        return ""
    if isinstance(parent, ast.Assign) and node is parent.value:
        if all(isinstance(t, (ast.Tuple, ast.List)) for t in parent.targets):
            return ""
        return "it gets a second name"
    if isinstance(parent, ast.AugAssign) and building and kind != "dict":
        return ""
    if isinstance(parent, ast.Starred):
        return "" if building else "it is unpacked into a call"
    if isinstance(parent, (ast.Call, ast.keyword)):
        return "it is handed to a function"
    if isinstance(parent, ast.BinOp):
        return "it is joined to another list"
    return "it is used in a way that was not measured"
