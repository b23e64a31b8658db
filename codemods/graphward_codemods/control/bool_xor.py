"""GW310: `^` between Python booleans."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.kinds import Tag
from graphward.rules.context import FunctionContext
from graphward.rules.finding import Consequence, Finding
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

_BOOLEAN_CALLS = frozenset({"isinstance", "hasattr", "callable", "issubclass"})


class BoolXor(Rule):
    """`^` between Python booleans does not compile.

    ## What it finds

    `a ^ b` and `a ^= b` in a graph region where both sides are truth values known while compiling: comparisons,
    `is None` tests, `not`, `isinstance`, and variables and attributes that hold such. Between boolean Tensors and
    between integers `^` compiles, and is left alone.

    ## Why

    The compiler has no exclusive or for two bool constants (MindSpore 2.7 to 2.10):

        TypeError: Unsupported input type. For BitXor, only integer types are supported, but got type of x:Bool

    ## Example

        if (input_ids is None) ^ (inputs_embeds is not None):
            raise ValueError("give one of the two")

    becomes

        if (input_ids is None) != (inputs_embeds is not None):
            raise ValueError("give one of the two")

    ## What the rewrite assumes

    Nothing: between two `bool` values `!=` is the exclusive or.

    ## When it is unsafe

    Never.

    ## References

    `mindspore.ops.BitwiseXor`. Measured on MindSpore 2.10.0 CPU; the pattern comes with every decoder model ported from
    Hugging Face transformers.
    """

    code = "GW310"
    name = "bool-xor"
    consequence = Consequence.ERROR
    triggers = (b"^",)
    nodes = (ast.BinOp, ast.AugAssign)

    def visit(self, node: ast.AST, context: FunctionContext) -> Iterable[Finding]:
        assert isinstance(node, (ast.BinOp, ast.AugAssign))
        if node.op.__class__ is not ast.BitXor:
            return
        left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
        if not (_is_bool(left, context) and _is_bool(right, context)):
            return
        fix = _compared(node, context) if isinstance(node, ast.BinOp) else _assigned(node, context)
        yield context.finding(self, node, "^ between two Python booleans does not compile",
                              evidence=("both sides are truth values known while compiling",),
                              fixes=(fix,))  # fmt: skip


def _compared(node: ast.BinOp, context: FunctionContext) -> Fix:
    module = context.module
    left, right = module.end(node.left), module.start(node.right)
    between = module.source.utf8[left:right].decode()
    operator = left + _operator_offset(between)
    before = module.source.utf8[module.start(node) : operator].decode()
    after = module.source.utf8[operator + 1 : module.end(node)].decode()
    rewrite = context.rewrite()
    rewrite.replace(node, f"{before}!={after}", context.parent(node))
    return rewrite.safe("Use !=")


def _assigned(node: ast.AugAssign, context: FunctionContext) -> Fix:
    """`flag ^= other` as `flag = flag != (other)`."""
    rewrite = context.rewrite()
    target, value = context.text(node.target), context.text(node.value)
    if not isinstance(node.target, ast.Name):
        return rewrite.manual("Use !=", "write it to a local variable: the graph cannot set this one to a bool")
    simple = isinstance(node.value, (ast.Name, ast.Attribute, ast.Constant)) and "\n" not in value
    span = context.span(node)
    rewrite.replace_span(span.start, span.end, f"{target} = {target} != {value if simple else f'({value})'}")
    return rewrite.safe("Use !=")


def _is_bool(node: ast.expr, context: FunctionContext) -> bool:
    """Whether an expression is a Python bool that the compiler knows."""
    kind = context.kind(node)
    if kind.is_tensor or kind.variable:
        return False
    if isinstance(node, (ast.Name, ast.Attribute)):
        return (kind.tag is Tag.CONSTANT and kind.python_type == "bool") or _bound_to_bools(node, context)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool)
    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.BoolOp):
        return all(_is_bool(value, context) for value in node.values)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _BOOLEAN_CALLS


def _bound_to_bools(node: ast.expr, context: FunctionContext) -> bool:
    """Whether all that a local variable is bound to are truth values: of a comparison the type alone is known."""
    if not isinstance(node, ast.Name) or node.id in {a.arg for a in ast.walk(context.function.node.args)
                                                     if isinstance(a, ast.arg)}:  # fmt: skip
        return False
    values: list[ast.expr] = []
    for other in context.function.nodes:
        if not (isinstance(other, ast.Name) and other.id == node.id and isinstance(other.ctx, ast.Store)):
            continue
        parent = context.parent(other)
        if isinstance(parent, ast.Assign) and parent.targets == [other]:
            values.append(parent.value)
        elif not isinstance(parent, ast.AugAssign):
            return False
    plain = (ast.Compare, ast.UnaryOp, ast.BoolOp, ast.Constant, ast.Call, ast.Attribute)
    return bool(values) and all(isinstance(v, plain) and _is_bool(v, context) for v in values)


def _operator_offset(between: str) -> int:
    """Where `^` stands in the text between its operands, comments left out; in bytes."""
    position = 0
    for line in between.splitlines(keepends=True):
        code = line.partition("#")[0]
        if "^" in code:
            return position + len(code[: code.index("^")].encode())
        position += len(line.encode())
    raise ValueError("no operator between its operands")
