"""Functions whose arguments have another form today; how the arguments of a call are told apart."""

from __future__ import annotations

import ast

# Keywords that went with the form: the rule that knows the form answers for them.
RESHAPED = frozenset(
    {("mindspore.ops.split", "output_num"), ("mindspore.ops.split", "input_x"), ("mindspore.ops.pad", "paddings")}
)


def argument(call: ast.Call, position: int, *keywords: str) -> ast.expr | None:
    """The argument at a position, or under one of the keywords."""
    if position < len(call.args):
        found = call.args[position]
        return None if isinstance(found, ast.Starred) else found
    return next((k.value for k in call.keywords if k.arg in keywords), None)


def plain(call: ast.Call) -> bool:
    """Whether the call spells out all its arguments: neither `*args` nor `**kwargs`."""
    return not any(isinstance(a, ast.Starred) for a in call.args) and all(k.arg for k in call.keywords)
