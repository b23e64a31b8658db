"""What an `except` watches for, as a condition that holds when the body does not raise it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphward.analysis.kinds import Tag
from graphward.analysis.names import dotted
from graphward.rules.context import FunctionContext
from graphward.source.precedence import guarded

from .._blocks import own_nodes

ANY = "Exception"
_BROAD = frozenset({"Exception", "BaseException"})
_LOOKUP = frozenset({"LookupError"})


def exceptions(handler: ast.ExceptHandler) -> frozenset[str]:
    """The last names of the exception classes that a handler catches; a bare one catches `Exception`."""
    if handler.type is None:
        return frozenset({ANY})
    nodes = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {(dotted(n) or "?").rpartition(".")[2] for n in nodes}
    if names & _BROAD:
        names |= {ANY}
    if names & _LOOKUP:
        names |= {"KeyError", "IndexError"}
    return frozenset(names)


def test_for(body: list[ast.stmt], handler: ast.ExceptHandler, context: FunctionContext) -> str:
    """The condition under which `body` does not raise what `handler` catches; empty where none is seen."""
    caught = exceptions(handler)
    if not body:
        return ""
    tests: list[str] = []
    # Only the first statement can be tested before it runs; what the others read may be made by it.
    made: set[str] = set()
    for statement in body:
        for node in own_nodes([statement]):
            test = _test(node, caught, context)
            if test and not ({n.id for n in ast.walk(ast.parse(test)) if isinstance(n, ast.Name)} & made):
                if test not in tests:
                    tests.append(test)
        made |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return " and ".join(tests)


def _test(node: ast.AST, caught: frozenset[str], context: FunctionContext) -> str:
    found = ""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        found = _lookup(node, caught, context)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)):
        if _is_constant(node.left, context) and _is_constant(node.right, context):
            if "ZeroDivisionError" in caught or "ArithmeticError" in caught or ANY in caught:
                found = f"{guarded(context.text(node.right), node.right, _comparison())} != 0"
            if isinstance(node.right, ast.Constant):
                found = ""
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        found = _attribute(node, caught, context)
    elif isinstance(node, ast.Call):
        found = _call(node, caught, context)
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        found = _unpacking(node, caught, context)
    elif isinstance(node, ast.Assert) and ("AssertionError" in caught or ANY in caught):
        found = guarded(context.text(node.test), node.test, ast.BoolOp(op=ast.And(), values=[]))
    return "" if "\n" in found else found


def _lookup(node: ast.Subscript, caught: frozenset[str], context: FunctionContext) -> str:
    """`d["k"]` with KeyError, `items[i]` with IndexError."""
    if isinstance(node.slice, ast.Slice) or dotted(node.value) is None:
        return ""
    holder, index = context.text(node.value), context.text(node.slice)
    if not isinstance(node.slice, (ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp)):
        return ""
    kind = context.kind(node.value)
    literal = node.slice.value if isinstance(node.slice, ast.Constant) else None
    as_dict = kind.tag is Tag.DICT or isinstance(literal, str)
    if "KeyError" in caught and (as_dict or "IndexError" not in caught):
        return f"{index} in {holder}"
    if ANY in caught and as_dict:
        return f"{index} in {holder}"
    as_list = kind.tag in (Tag.SEQUENCE, Tag.SHAPE, Tag.CELLS)
    if "IndexError" in caught or (ANY in caught and as_list):
        if isinstance(node.slice, ast.UnaryOp):
            operand = node.slice.operand
            return f"len({holder}) >= {context.text(operand)}" if isinstance(operand, ast.Constant) else ""
        return f"{index} < len({holder})"
    return ""


def _attribute(node: ast.Attribute, caught: frozenset[str], context: FunctionContext) -> str:
    if dotted(node.value) is None or context.resolve(node) is not None:
        return ""
    test = f'hasattr({context.text(node.value)}, "{node.attr}")'
    if "AttributeError" in caught:
        return test if not _is_known(node, context) else ""
    if ANY in caught and isinstance(node.value, ast.Name) and node.value.id == context.function.receiver:
        return test if context.cell is not None and not _is_known(node, context) else ""
    return ""


def _is_known(node: ast.Attribute, context: FunctionContext) -> bool:
    """Whether an attribute is there in any case: one of self that the class sets, one of a Tensor."""
    if isinstance(node.value, ast.Name) and node.value.id == context.function.receiver and context.cell is not None:
        project = context.project
        if project.method(context.cell, node.attr) is not None or node.attr in ("training", "cls_name"):
            return True
        return node.attr in project.attribute_values(context.cell)
    return False


def _call(node: ast.Call, caught: frozenset[str], context: FunctionContext) -> str:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name == "len" and len(node.args) == 1 and ("TypeError" in caught or ANY in caught):
        if context.kind(node.args[0]).tag in (Tag.CONSTANT, Tag.UNKNOWN) and dotted(node.args[0]) is not None:
            return f'hasattr({context.text(node.args[0])}, "__len__")'
    if isinstance(node.func, ast.Attribute) and node.func.attr == "index" and len(node.args) == 1:
        if ("ValueError" in caught or ANY in caught) and dotted(node.func.value) is not None:
            if context.kind(node.func.value).tag in (Tag.SEQUENCE, Tag.SHAPE):
                return f"{context.text(node.args[0])} in {context.text(node.func.value)}"
    if isinstance(node.func, ast.Attribute) and node.func.attr == "pop" and len(node.args) == 1:
        if "KeyError" in caught and dotted(node.func.value) is not None:
            return f"{context.text(node.args[0])} in {context.text(node.func.value)}"
    return ""


def _unpacking(node: ast.Assign, caught: frozenset[str], context: FunctionContext) -> str:
    """`a, b = x.shape` with ValueError."""
    target = node.targets[0]
    if not isinstance(target, (ast.Tuple, ast.List)) or not ("ValueError" in caught or ANY in caught):
        return ""
    if any(isinstance(e, ast.Starred) for e in target.elts) or dotted(node.value) is None:
        return ""
    if context.kind(node.value).tag not in (Tag.SHAPE, Tag.SEQUENCE, Tag.UNKNOWN, Tag.OBJECT):
        return ""
    return f"len({context.text(node.value)}) == {len(target.elts)}"


def _is_constant(node: ast.expr, context: FunctionContext) -> bool:
    kind = context.kind(node)
    return not kind.is_tensor or (not kind.certain and isinstance(node, ast.Name))


def _comparison() -> ast.Compare:
    return ast.Compare(left=ast.Constant(0), ops=[ast.NotEq()], comparators=[ast.Constant(0)])


def raised(body: list[ast.stmt], handler: ast.ExceptHandler) -> Iterator[tuple[int, ast.If]]:
    """`if c: raise E(...)` directly in a body, where the handler catches E: place and statement."""
    caught = exceptions(handler)
    for i, statement in enumerate(body):
        if isinstance(statement, ast.If) and not statement.orelse and len(statement.body) == 1:
            only = statement.body[0]
            if isinstance(only, ast.Raise) and only.exc is not None:
                callee = only.exc.func if isinstance(only.exc, ast.Call) else only.exc
                if (dotted(callee) or "?").rpartition(".")[2] in caught or ANY in caught:
                    yield i, statement
